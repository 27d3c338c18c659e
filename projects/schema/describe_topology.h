// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct EnumNames<StackEntry> {
    static constexpr NameList<2> names{"branch", "full"};
};
template <>
struct EnumNames<MixPorts> {
    static constexpr NameList<3> names{"input", "qkv", "qkv_residual"};
};
template <>
struct EnumNames<MixFeeds> {
    static constexpr NameList<2> names{"layer_input", "residual_beside_branch"};
};
template <>
struct EnumNames<MixSites> {
    static constexpr NameList<3> names{"mhsa", "ffn", "both"};
};
template <>
struct EnumNames<WeightKind> {
    static constexpr NameList<5> names{"fixed", "scalar", "per_feature", "depth_attention", "per_token"};
};
template <>
struct EnumNames<GateKind> {
    static constexpr NameList<3> names{"none", "outside", "inside"};
};
template <>
struct EnumNames<GateInput> {
    static constexpr NameList<2> names{"raw", "normalised"};
};
template <>
struct EnumNames<ReluGradAtZero> {
    static constexpr NameList<2> names{"one", "zero"};
};
template <>
struct EnumNames<NormaliseOver> {
    static constexpr NameList<3> names{"none", "sources", "targets"};
};
template <>
struct EnumNames<MixInit> {
    static constexpr NameList<4> names{"ones", "zero", "cascaded", "reciprocal"};
};
template <>
struct EnumNames<ShortcutState> {
    static constexpr NameList<2> names{"frozen", "pruned"};
};
template <>
struct EnumNames<StreamWeights> {
    static constexpr NameList<2> names{"static", "dynamic"};
};
template <>
struct EnumNames<StreamConstraint> {
    static constexpr NameList<2> names{"none", "doubly_stochastic"};
};
template <>
struct EnumNames<BranchGateKind> {
    static constexpr NameList<7> names{"highway",   "rezero",           "laurel_rw",     "laurel_lr",
                                       "laurel_pa", "stochastic_depth", "value_residual"};
};

template <>
inline constexpr bool kInline<AllSources> = true;
template <>
struct Fields<AllSources> {
    static constexpr void visit(auto&&) {}
};
template <>
inline constexpr bool kInline<FirstAndLast> = true;
template <>
struct Fields<FirstAndLast> {
    static constexpr void visit(auto&& v) { v("k", &FirstAndLast::k); }
};
template <>
inline constexpr bool kInline<Dilated> = true;
template <>
struct Fields<Dilated> {
    static constexpr void visit(auto&& v)
    {
        v("dilation", &Dilated::dilation);
        v("period", &Dilated::period);
    }
};
template <>
struct Fields<ExplicitSources> {
    static constexpr void visit(auto&& v) { v("shortcuts", &ExplicitSources::shortcuts); }
};
template <>
struct Alternatives<SourceSet> {
    static constexpr NameList<4> names{"all", "first_and_last", "dilated", "explicit"};
};
template <>
struct Fields<Gate> {
    static constexpr void visit(auto&& v)
    {
        v("kind", &Gate::kind);
        v("input", &Gate::input);
        v("relu_grad_at_zero", &Gate::reluGradAtZero);
    }
};
template <>
struct Fields<Tsallis> {
    static constexpr void visit(auto&& v)
    {
        v("q", &Tsallis::q);
        v("weight", &Tsallis::weight);
    }
};
template <>
struct Fields<DepthMix> {
    static constexpr void visit(auto&& v)
    {
        v("entry", &DepthMix::entry);
        v("ports", &DepthMix::ports);
        v("feeds", &DepthMix::feeds);
        v("sites", &DepthMix::sites);
        v("sources", &DepthMix::sources);
        v("weight", &DepthMix::weight);
        v("gate", &DepthMix::gate);
        v("normalise", &DepthMix::normalise);
        v("temperature", &DepthMix::temperature);
        v("init", &DepthMix::init);
        v("states", &DepthMix::states);
        v("tsallis", &DepthMix::tsallis);
        v("weight_decay", &DepthMix::weightDecay);
        v("separate_norms", &DepthMix::separateNorms);
        v("final_mix", &DepthMix::finalMix);
        v("block_layers", &DepthMix::blockLayers);
    }
};
template <>
struct Fields<MultiStream> {
    static constexpr void visit(auto&& v)
    {
        v("streams", &MultiStream::streams);
        v("weights", &MultiStream::weights);
        v("constraint", &MultiStream::constraint);
        v("sinkhorn_iterations", &MultiStream::sinkhornIterations);
        v("dynamic_scale", &MultiStream::dynamicScale);
    }
};
template <>
struct Fields<BranchGate> {
    static constexpr void visit(auto&& v)
    {
        v("gate", &BranchGate::kind);
        v("rank", &BranchGate::rank);
        v("window", &BranchGate::window);
        v("keep_probability", &BranchGate::keepProbability);
        v("bias", &BranchGate::bias);
    }
};
template <>
struct Fields<Concatenation> {
    static constexpr void visit(auto&&) {}
};
template <>
struct Alternatives<Wiring> {
    static constexpr NameList<4> names{"depth_mix", "multi_stream", "branch_gate", "concatenation"};
};
template <>
struct Fields<Topology> {
    static constexpr void visit(auto&& v)
    {
        v("preset", &Topology::preset);
        v("wiring", &Topology::wiring);
    }
};

} // namespace residua::projects
