// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/topology.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct Choices<StackEntry> {
    static constexpr Choice all[] = {{"branch", "branch"}, {"full", "full output"}};
};
template <>
struct Choices<MixPorts> {
    static constexpr Choice all[] = {{"input", "input"}, {"qkv", "q, k, v"}, {"qkv_residual", "q, k, v, residual"}};
};
template <>
struct Choices<MixFeeds> {
    static constexpr Choice all[] = {{"layer_input", "layer input"}, {"residual_beside_branch", "residual"}};
};
template <>
struct Choices<MixSites> {
    static constexpr Choice all[] = {{"mhsa", "MHSA"}, {"ffn", "FFN"}, {"both", "both"}};
};
template <>
struct Choices<WeightKind> {
    static constexpr auto all = choicesByTraits<WeightKind>();
};
template <>
struct Choices<SitePairs> {
    static constexpr Choice all[] = {{"alike", "alike"}, {"any", "any"}};
};
template <>
struct Choices<GateVectors> {
    static constexpr Choice all[] = {{"per_mix", "one a mix"}, {"per_entry", "one an entry"}};
};
template <>
struct Choices<LaurelBound> {
    static constexpr Choice all[] = {{"none", "none"}, {"sigmoid", "sigmoid"}, {"softmax", "softmax"}};
};
template <>
struct Choices<PostNormScale> {
    static constexpr Choice all[] = {{"one", "1"}, {"deep_norm", "DeepNorm"}, {"deep_loop", "DeepLoop"}};
};
template <>
struct Choices<GateKind> {
    static constexpr Choice all[] = {{"none", "none"}, {"outside", "outside"}, {"inside", "inside"}};
};
template <>
struct Choices<GateInput> {
    static constexpr Choice all[] = {{"raw", "raw entries"}, {"normalised", "normalised entries"}};
};
template <>
struct Choices<ReluGradAtZero> {
    static constexpr Choice all[] = {{"one", "1"}, {"zero", "0"}};
};
template <>
struct Choices<NormaliseOver> {
    static constexpr Choice all[] = {{"none", "no"}, {"sources", "over sources"}, {"targets", "over targets"}};
};
template <>
struct Choices<MixInit> {
    static constexpr Choice all[] = {
        {"ones", "ones"}, {"zero", "zero (uniform)"}, {"cascaded", "cascaded"}, {"reciprocal", "1/j"}};
};
template <>
struct Choices<ShortcutState::Kind> {
    static constexpr Choice all[] = {{"frozen", "frozen"}, {"pruned", "pruned"}, {"learned", "learned"}};
};
template <>
struct Choices<StreamWeights> {
    static constexpr Choice all[] = {{"static", "static"}, {"dynamic", "dynamic"}};
};
template <>
struct Choices<StreamConstraint> {
    static constexpr Choice all[] = {{"none", "free"},
                                     {"doubly_stochastic", "doubly stochastic"},
                                     {"identity", "identity"},
                                     {"permutations", "mixture of permutations"}};
};
template <>
struct Choices<StreamState> {
    static constexpr Choice all[] = {{"copies", "copies"}, {"fractions", "fractions"}};
};
template <>
struct Choices<StreamExit> {
    static constexpr Choice all[] = {{"sum", "sum"}, {"mean", "mean"}, {"head", "learned head"}};
};
template <>
struct Choices<NormKind> {
    static constexpr Choice all[] = {{"layer", "layer norm"}, {"rms", "RMS norm"}};
};
template <>
struct Choices<StreamStartLaw> {
    static constexpr Choice all[] = {{"exact", "exact read"}, {"appendix_a6", "appendix A.6"}};
};
template <>
struct Choices<BranchGateKind> {
    static constexpr auto all = choicesByTraits<BranchGateKind>();
};
template <>
inline constexpr bool kInline<AllSources> = true;
template <>
struct Fields<AllSources> {
    static constexpr void visit(auto&&) {}
};
template <>
struct Choices<EarlierEntries> {
    static constexpr Choice all[] = {{"input_and_sum", "input and sum"}, {"input", "input"}, {"nothing", "nothing"}};
};
template <>
inline constexpr bool kInline<FirstAndLast> = true;
template <>
struct Fields<FirstAndLast> {
    static constexpr void visit(auto&& v)
    {
        v({"k",
           "last k",
           "The newest entries, which are read singly.",
           {.unit = "entries", .range = Range::atLeast(1), .paper = "2 (k-DCA)"}},
          &FirstAndLast::k);
        v({"earlier",
           "earlier entries",
           "The sources among the entries before the last k: the input and the sum of the outputs between, the input "
           "alone, or nothing, where the input is an entry like any other.",
           {.paper = "input and sum (k-DCA); input, nothing (DeepCrossAttention, table 9)"}},
          &FirstAndLast::earlier);
    }
};
template <>
struct Choices<DilatedReaders> {
    static constexpr Choice all[] = {{"on_period", "on the period"}, {"all", "all"}};
};
template <>
inline constexpr bool kInline<Dilated> = true;
template <>
struct Fields<Dilated> {
    static constexpr void visit(auto&& v)
    {
        v({"dilation",
           "dilation",
           "Every so many-th entry is read, counted back from the reader.",
           {.range = Range::atLeast(1), .paper = "4 (DenseFormer)"}},
          &Dilated::dilation);
        v({"period",
           "period",
           "Every so many-th layer mixes; the others read the last entry.",
           {.range = Range::atLeast(1), .paper = "5 (DenseFormer)"}},
          &Dilated::period);
        v({"readers",
           "weights",
           "Who has weights over full outputs: what follows every period-th layer, or every layer (off the period one "
           "weight, on the last entry) and the final output.",
           {.paper = "on the period (DenseFormer's code)"}},
          &Dilated::readers);
    }
};
template <>
struct Fields<ExplicitSources> {
    static constexpr void visit(auto&& v)
    {
        v({"shortcuts", "shortcuts", "The shortcuts i:j that there are."}, &ExplicitSources::shortcuts);
    }
};
template <>
struct Choices<SourceSet> {
    static constexpr Choice all[] = {
        {"all", "all"}, {"first_and_last", "first and last k"}, {"dilated", "dilated"}, {"explicit", "chosen i:j"}};
};
template <>
struct Fields<Gate> {
    static bool isThere(const Gate& gate) { return gate.kind != GateKind::None; }

    static constexpr void visit(auto&& v)
    {
        v({"kind",
           "kind",
           "An input-dependent part of the weight: outside b + ReLU(wᵀG), inside ReLU(b + wᵀG).",
           {.paper = "outside (GRN-v3, §3.1)"}},
          &Gate::kind);
        v({"input", "reads", "What the gate reads of an entry.", {.paper = "raw", .where = when<isThere>}},
          &Gate::input);
        v({"relu_grad_at_zero",
           "ReLU slope at 0",
           "With 0, a gate that starts at w = 0 never learns.",
           {.where = when<isThere>}},
          &Gate::reluGradAtZero);
        v({"vectors",
           "gate vectors",
           "One for each mix, which its entries share (the equation), or one for each entry (what tables 5 and 7 "
           "count).",
           {.paper = "one a mix (§3.1)", .where = when<isThere>}},
          &Gate::vectors);
    }
};
template <>
struct Fields<Tsallis> {
    static constexpr void visit(auto&& v)
    {
        v({"q", "q", "The order of the entropy.", {.range = Range::moreThan(0)}}, &Tsallis::q);
        v({"weight", "weight", "Weight of the regulariser; 0 turns it off.", {.range = Range::atLeast(0)}},
          &Tsallis::weight);
    }
};
template <>
struct Fields<DepthMix> {
    static bool isBeside(const DepthMix& mix) { return mix.feeds == MixFeeds::ResidualBesideBranch; }
    static bool joinsSites(const DepthMix& mix) { return isBeside(mix) && mix.sites == MixSites::Both; }
    static bool hasPorts(const DepthMix& mix) { return mix.ports != MixPorts::Input; }
    static bool isPerToken(const DepthMix& mix) { return mix.weight == WeightKind::PerToken; }
    static bool hasSoftmax(const DepthMix& mix)
    {
        return mix.normalise != NormaliseOver::None || traitsOf(mix.weight).attends;
    }

    static constexpr void visit(auto&& v)
    {
        v({"entry",
           "entry",
           "What a layer leaves as its stack entry: its branch f(x) alone, or its full output.",
           {.paper = "branch: GRN, DCA; full output: ANCRe, DenseFormer, MUDD", .group = "what is read"}},
          &DepthMix::entry);
        v({"ports",
           "ports",
           "Which ports of a layer have a mix of their own.",
           {.paper = "q, k, v: DCA; with residual: MUDD"}},
          &DepthMix::ports);
        v({"feeds",
           "mix feeds",
           "The layer's input, or the residual beside its branch.",
           {.paper = "beside the branch: ANCRe eq. 5"}},
          &DepthMix::feeds);
        v({"sites",
           "sites",
           "Where inside a transformer block the mix acts: at the inputs of the attentions (once a layer), of the "
           "FFNs, or "
           "of both.",
           {.paper = "MHSA (ANCRe, table 1); both (Attention Residuals)"}},
          &DepthMix::sites);
        v({"site_pairs",
           "joins sites",
           "With both sites bridged beside the branches: shortcuts join like sites (FFN to FFN, attention to "
           "attention), "
           "or any.",
           {.paper = "alike (ANCRe §4.2)", .where = when<joinsSites>}},
          &DepthMix::sitePairs);
        v({"sources", "sources", "Which earlier entries a layer may read."}, &DepthMix::sources);
        v({"weight",
           "weight",
           "What is learned for each shortcut.",
           {.paper = "one number: GRN-v1, ANCRe; per feature: GRN-v2, -v3; per token: MUDD",
            .group = "how it is weighed"}},
          &DepthMix::weight);
        v({"gate",
           "gate",
           "The part of a weight that depends on the input.",
           {.group = "gate", .where = when<takesGate>}},
          &DepthMix::gate);
        v({"normalise",
           "normalise",
           "A softmax over the sources of a target, or over the targets of a source.",
           {.paper = "over sources: ANCRe ingoing, eq. 7", .group = "how it is weighed"}},
          &DepthMix::normalise);
        v({"temperature",
           "temperature",
           "τ of the softmax; small values choose sharply.",
           {.range = Range::moreThan(0), .paper = "0.1; 0.01 (LLaMA)", .where = when<hasSoftmax>}},
          &DepthMix::temperature);
        v({"init",
           "start",
           "Initial weights; zero under a softmax is uniform.",
           {.paper = "ones: GRN; uniform: ANCRe"}},
          &DepthMix::init);
        v({"states", "states",
           "Shortcuts that are pruned (not read), learned where the others are fixed (a weight of its own, from that "
           "of "
           "the others), or frozen: the applied weight does not move, and no gate acts on it; under a softmax the "
           "coefficient before it is held, and the weight follows the others' share; {\"frozen\": 0.25} holds that "
           "value, {\"frozen\": \"learned\"} the checkpoint's in a fork or retrofit, and \"frozen\" the value that "
           "training begins with."},
          &DepthMix::states);
        v({"tsallis",
           "Tsallis entropy",
           "A regulariser on the normalised coefficients (ANCRe §4).",
           {.group = "Tsallis entropy", .where = when<hasEntropy>}},
          &DepthMix::tsallis);
        v({"hidden_multiple",
           "hidden multiple",
           "Hidden features that make weights per token are rounded up to the next multiple of it; 1 leaves them as "
           "many "
           "as the weights.",
           {.range = Range::within(1, 1'000'000), .paper = "64 (MUDD's released models)", .where = when<isPerToken>}},
          &DepthMix::hiddenMultiple);
        v({"final_hidden",
           "hidden at the output",
           "Times as many hidden features make the final output's weights per token.",
           {.range = Range::within(0.001, 1000), .paper = "4 (MUDD)", .where = when<isPerToken>}},
          &DepthMix::finalHidden);
        v({"weight_decay",
           "weight decay",
           "Whether mixing weights decay like any other.",
           {.group = "how it is weighed"}},
          &DepthMix::weightDecay);
        v({"separate_norms", "separate norms", "A norm of its own for each of q, k and v.", {.where = when<hasPorts>}},
          &DepthMix::separateNorms);
        v({"final_mix",
           "final mix",
           "The final output reads a mix of its own over all entries; else it is the last layer's.",
           {.group = "what is read"}},
          &DepthMix::finalMix);
        v({"last_mix",
           "last mix",
           "Beside the branches: the last layer's output has learned shortcuts too (L(L+1)/2 in all); without them it "
           "is "
           "its branch and the layer before (L(L−1)/2).",
           {.paper = "on: figure 6 of ANCRe; off: its count", .where = when<isBeside>}},
          &DepthMix::lastMix);
        v({"block_layers",
           "layers per entry",
           "Neighbouring layers, or halves of layers where the sites are both, that share one stack entry.",
           {.unit = "layers", .range = Range::atLeast(1)}},
          &DepthMix::blockLayers);
    }
};
template <>
struct Fields<MultiStream> {
    static bool isSinkhorn(const MultiStream& streams)
    {
        return streams.constraint == StreamConstraint::DoublyStochastic;
    }
    static bool isDynamic(const MultiStream& streams) { return streams.weights == StreamWeights::Dynamic; }
    static bool isCopied(const MultiStream& streams) { return streams.state == StreamState::Copies; }
    static bool hasFactor(const MultiStream& streams) { return isDynamic(streams) || streams.exit == StreamExit::Head; }

    static constexpr void visit(auto&& v)
    {
        v({"streams",
           "streams",
           "Residual states that are kept side by side, or fractions of one.",
           {.range = Range::within(1, 64), .paper = "4 (Hyper-Connections)"}},
          &MultiStream::streams);
        v({"weights", "weights", "Learned numbers alone, or with a part that depends on the input."},
          &MultiStream::weights);
        v({"constraint",
           "mixing matrix",
           "How streams mix: freely, by a doubly stochastic matrix, not at all, or by a mixture of all n! permutations "
           "(at most 4 streams).",
           {.paper = "doubly stochastic: mHC; identity: iHC; permutations: mHC-lite"}},
          &MultiStream::constraint);
        v({"sinkhorn_iterations",
           "Sinkhorn steps",
           "Rounds that make the mixing matrix doubly stochastic.",
           {.range = Range::within(1, 10'000), .paper = "20 (mHC)", .where = when<isSinkhorn>}},
          &MultiStream::sinkhornIterations);
        v({"dynamic_scale",
           "dynamic scale",
           "Where the factor of the input-dependent part starts.",
           {.range = Range::within(0, 1000), .paper = "0.01", .where = when<hasFactor>}},
          &MultiStream::dynamicScale);
        v({"sites",
           "sites",
           "Where the streams are read and written: at attention and FFN both, or once a layer at the one or the "
           "other.",
           {.paper = "both (Hyper-Connections, mHC)"}},
          &MultiStream::sites);
        v({"norm",
           "norm",
           "Of the streams that free dynamic weights are made from.",
           {.paper = "layer norm (Hyper-Connections)", .where = when<isDynamic>}},
          &MultiStream::norm);
        v({"scale_outputs",
           "scale outputs",
           "What blocks write to the residual starts √streams times as large.",
           {.paper = "on (Hyper-Connections)", .where = when<isCopied>}},
          &MultiStream::scaleOutputs);
        v({"start",
           "start",
           "Where the logits of a doubly stochastic mixing matrix and its read start: 8 on the diagonal with a read "
           "that sums to 1, or 6·I − 3 with reads of 3 on the home stream and −3 beside it.",
           {.paper = "a second account of appendix A.6 (mHC)", .where = when<isSinkhorn>}},
          &MultiStream::start);
        v({"state",
           "state",
           "Copies of the residual, or fractions of its features: n fractions of width d/n, which the layer reads and "
           "writes side by side.",
           {.paper = "fractions (Frac-Connections)"}},
          &MultiStream::state);
        v({"exit",
           "exit",
           "What leaves the last layer's streams: their sum, their mean, or a sum whose weights a learned head makes "
           "for each token.",
           {.paper = "sum (Hyper-Connections); learned head (Hy4)", .where = when<isCopied>}},
          &MultiStream::exit);
    }
};
template <>
struct Fields<BranchGate> {
    static bool readsActivations(const BranchGate& gate) { return traitsOf(gate.gate).maps == LaurelMaps::Previous; }
    static bool hasMaps(const BranchGate& gate) { return traitsOf(gate.gate).maps != LaurelMaps::None; }
    static bool isHighway(const BranchGate& gate) { return gate.gate == BranchGateKind::Highway; }
    static bool hasFactors(const BranchGate& gate) { return traitsOf(gate.gate).factors == 2; }
    static bool hasNorms(const BranchGate& gate) { return gate.gate == BranchGateKind::PostNorm; }
    static bool hasSites(const BranchGate& gate) { return gate.gate != BranchGateKind::ValueResidual; }

    static constexpr void visit(auto&& v)
    {
        v({"gate", "gate", "How the residual and the branch of each layer are joined."}, &BranchGate::gate);
        v({"rank",
           "rank",
           "Inner width of the low-rank maps of LAuReL-LR and -PA.",
           {.range = Range::within(1, 1'000'000), .where = when<hasMaps>}},
          &BranchGate::rank);
        v({"window",
           "window",
           "Earlier activations that LAuReL-PA mixes in.",
           {.unit = "layers", .range = Range::within(1, kMaxLayers), .where = when<readsActivations>}},
          &BranchGate::window);
        v({"bias",
           "gate bias",
           "Where Highway's gate starts, before its sigmoid; below 0 it carries its input.",
           {.range = Range::within(-100, 100), .paper = "−2 (Highway)", .where = when<isHighway>}},
          &BranchGate::bias);
        v({"bound",
           "bound",
           "What keeps the factors of LAuReL-RW within 0 and 1; bounded, both start at a half, free at 1.",
           {.paper = "sigmoid or softmax (LAuReL)", .where = when<hasFactors>}},
          &BranchGate::bound);
        v({"sites",
           "sites",
           "Where the gate acts: at attention and FFN both, or once a layer at the one or the other (a value residual "
           "knows layers alone).",
           {.paper = "both (ReZero, post-norm); once a layer (LAuReL)", .where = when<hasSites>}},
          &BranchGate::sites);
        v({"norm",
           "norm",
           "The norm of the sum of residual and branch.",
           {.paper = "layer norm (Transformer, BERT)", .where = when<hasNorms>}},
          &BranchGate::norm);
        v({"epsilon",
           "epsilon",
           "Added under the root of the norm.",
           {.range = Range::within(0, 1), .paper = "1e-12 (BERT)", .where = when<hasNorms>}},
          &BranchGate::epsilon);
        v({"scale",
           "residual factor",
           "Factor α of the residual under the norm, and β of the start of the layers' matrices without queries and "
           "keys, from the number N of executed layers.",
           {.paper = "(2N)^1/4 and (8N)^-1/4 (DeepNorm), (2N)^1/2 and (8N)^-1/2 (DeepLoop)", .where = when<hasNorms>}},
          &BranchGate::scale);
    }
};
template <>
struct Fields<Concatenation> {
    static constexpr void visit(auto&&) {}
};
template <>
struct Choices<Wiring> {
    static constexpr Choice all[] = {{"depth_mix", "depth mix"},
                                     {"multi_stream", "several streams"},
                                     {"branch_gate", "branch gate"},
                                     {"concatenation", "concatenation"}};
};
template <>
struct Fields<Topology> {
    static constexpr void visit(auto&& v)
    {
        v({"preset",
           "preset",
           "The wiring that people know by name from which this one came.",
           {.decides = Decides::Nothing}},
          &Topology::preset);
        v({"wiring", "wiring", "The family of wirings that it is of.", {.inPlaces = InPlaces::LeftOut}},
          &Topology::wiring);
    }
};

} // namespace residua::projects
