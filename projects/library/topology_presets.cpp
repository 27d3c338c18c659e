// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/topology.h"

#include "projects/model/graph.h"
#include "projects/model/project.h"
#include "projects/nodes/ffn_site.h"

#include <algorithm>

namespace residua::projects {
namespace {

constexpr const char* kDca = "DeepCrossAttention, section 3.1";
constexpr const char* kDcaTables = "DeepCrossAttention, tables 5 and 7";
constexpr double kTemperature = 0.1;          ///< ANCRe's τ
constexpr double kLanguageTemperature = 0.01; ///< for ANCRe's language models (appendix C)

/// GRN over branches as stack entries. With all weights 1, it is exactly the plain residual network.
DepthMix grn(WeightKind weight, GateKind gate = GateKind::None)
{
    DepthMix mix;
    mix.weight = weight;
    mix.gate.kind = gate;
    return mix;
}

DepthMix dca(SourceSet sources)
{
    DepthMix mix = grn(WeightKind::PerFeature, GateKind::Outside);
    mix.ports = MixPorts::Qkv;
    mix.sources = std::move(sources);
    return mix;
}

/// x_j = F_j(x_{j-1}) + Σ p_ij x_i (ANCRe eq. 5). The output is x_K.
DepthMix besideBranch(WeightKind weight, NormaliseOver normalise, MixInit init, SourceSet sources = AllSources{})
{
    DepthMix mix;
    mix.entry = StackEntry::Full;
    mix.feeds = MixFeeds::ResidualBesideBranch;
    mix.sources = std::move(sources);
    mix.weight = weight;
    mix.normalise = normalise;
    mix.temperature = normalise == NormaliseOver::None ? 1.0 : kTemperature;
    mix.init = init;
    mix.finalMix = false;
    return mix;
}

/// True if the shortcuts have a softmax as in ANCRe.
bool isAncre(const DepthMix& mix)
{
    return mix.feeds == MixFeeds::ResidualBesideBranch && mix.normalise != NormaliseOver::None;
}

/// Layers read mixes of full outputs. Initially each mix is the newest output.
DepthMix denseFormer(SourceSet sources)
{
    DepthMix mix;
    mix.entry = StackEntry::Full;
    mix.sources = std::move(sources);
    mix.weight = WeightKind::Scalar;
    mix.init = MixInit::Cascaded;
    return mix;
}

DepthMix mudd()
{
    DepthMix mix = denseFormer(Dilated{1, 1});
    mix.ports = MixPorts::QkvResidual;
    mix.weight = WeightKind::PerToken;
    mix.separateNorms = true;
    return mix;
}

/// The mix with one gate vector per entry, which fits the counts in tables 5 and 7 of DeepCrossAttention.
DepthMix gatedPerEntry(DepthMix mix)
{
    mix.gate.vectors = GateVectors::PerEntry;
    return mix;
}

/// GRN-v2 without the final mix, which the count in table 7 omits.
DepthMix grnWithoutFinal()
{
    DepthMix mix = grn(WeightKind::PerFeature);
    mix.finalMix = false;
    return mix;
}

/// The gate with a framework's ReLU. It starts at 0, where the ReLU has no slope, so it never learns.
DepthMix grnLiteral()
{
    DepthMix mix = grn(WeightKind::PerFeature, GateKind::Outside);
    mix.gate.reluGradAtZero = ReluGradAtZero::Zero;
    return mix;
}

DepthMix attentionResiduals(std::int64_t blockLayers)
{
    DepthMix mix;
    mix.sites = MixSites::Both;
    mix.weight = WeightKind::DepthAttention;
    mix.normalise = NormaliseOver::Sources;
    mix.init = MixInit::Zero;
    mix.blockLayers = blockLayers;
    return mix;
}

/// GRN-v3 over `k` entries, and what `earlier` says of those before them.
DepthMix grnOfLast(std::int64_t k, EarlierEntries earlier)
{
    DepthMix mix = grn(WeightKind::PerFeature, GateKind::Outside);
    mix.sources = FirstAndLast{k, earlier};
    return mix;
}

MultiStream streams(StreamWeights weights, StreamConstraint constraint = StreamConstraint::None)
{
    MultiStream wiring;
    wiring.weights = weights;
    wiring.constraint = constraint;
    wiring.scaleOutputs = constraint == StreamConstraint::None;
    return wiring;
}

/// Identity hyper-connections as Hy4 has them.
MultiStream identityStreams()
{
    MultiStream wiring = streams(StreamWeights::Dynamic, StreamConstraint::Identity);
    wiring.exit = StreamExit::Head;
    return wiring;
}

MultiStream fractions(StreamWeights weights)
{
    MultiStream wiring = streams(weights);
    wiring.streams = 2;
    wiring.state = StreamState::Fractions;
    return wiring;
}

BranchGate gate(BranchGateKind kind)
{
    BranchGate wiring;
    wiring.gate = kind;
    return wiring;
}

/// LAuReL once per layer, as counted in table 5 of DeepCrossAttention and as in the released code.
BranchGate laurel(BranchGateKind kind)
{
    BranchGate wiring = gate(kind);
    wiring.sites = MixSites::Mhsa;
    return wiring;
}

ExplicitSources cascade(std::int64_t depth)
{
    ExplicitSources sources;
    for (std::int64_t j = 1; j <= std::min(depth, kMaxLayers); ++j) {
        sources.shortcuts.push_back({j - 1, j});
    }
    return sources;
}

using Presets = std::vector<TopologyPreset>;

void addPlain(Presets& presets)
{
    presets.push_back({kPlainPreset,
                       "Plain residual",
                       "Each layer reads the sum of the input and every branch before it",
                       "He et al., ResNet",
                       grn(WeightKind::Fixed),
                       {},
                       RiskModel::ResNet});
    presets.push_back({"none", "No shortcuts", "Each layer reads the one before it and nothing else",
                       "ANCRe, section 3",
                       besideBranch(WeightKind::Fixed, NormaliseOver::None, MixInit::Ones, ExplicitSources{})});
}

void addDca(Presets& presets)
{
    presets.push_back({"grn-v1",
                       "GRN-v1",
                       "One learned weight for each earlier branch and reader",
                       kDca,
                       grn(WeightKind::Scalar),
                       {},
                       RiskModel::GrnV1});
    presets.push_back({"grn-v2",
                       "GRN-v2",
                       "One learned weight per feature for each earlier branch and reader",
                       kDca,
                       grn(WeightKind::PerFeature),
                       {},
                       RiskModel::GrnV2});
    presets.push_back({"grn-v3",
                       "GRN-v3",
                       "Weights per feature plus a gate that depends on the input",
                       kDca,
                       grn(WeightKind::PerFeature, GateKind::Outside),
                       {},
                       RiskModel::GrnV3});
    presets.push_back({"dca", "DeepCrossAttention", "Queries, keys and values each read a GRN-v3 mix of their own",
                       "DeepCrossAttention, section 3.2", dca(AllSources{})});
    presets.push_back({"k-dca", "k-DCA", "DeepCrossAttention over the input, the last k outputs and the sum between",
                       kDca, dca(FirstAndLast{2})});
    presets.push_back({"grn-v2-table", "GRN-v2, counted as table 7", "Without the final mix, as the paper's count fits",
                       kDcaTables, grnWithoutFinal()});
    presets.push_back({"grn-v3-table", "GRN-v3, counted as table 7",
                       "A gate vector for each entry, as the paper's count fits", kDcaTables,
                       gatedPerEntry(grn(WeightKind::PerFeature, GateKind::Outside))});
    presets.push_back({"grn-v3-literal", "GRN-v3, literal ReLU",
                       "The gate's slope at 0 is 0: it starts there and never opens", kDca, grnLiteral()});
    presets.push_back({"grn-v3-last-4", "GRN-v3, last 4 entries", "GRN-v3 without the input and the middle",
                       "DeepCrossAttention, table 9", grnOfLast(4, EarlierEntries::Nothing)});
    presets.push_back({"grn-v3-input-last-3", "GRN-v3, input and last 3", "GRN-v3 without the middle",
                       "DeepCrossAttention, table 9", grnOfLast(3, EarlierEntries::Input)});
    presets.push_back({"dca-table", "DeepCrossAttention, counted as table 5",
                       "A gate vector for each entry, as the paper's count fits", kDcaTables,
                       gatedPerEntry(dca(AllSources{}))});
}

void addAncre(Presets& presets, std::int64_t depth)
{
    presets.push_back({"ancre-ingoing", "ANCRe, ingoing", "Learned shortcuts; a softmax over the sources of each layer",
                       "ANCRe, eq. 7 and 8", besideBranch(WeightKind::Scalar, NormaliseOver::Sources, MixInit::Zero)});
    presets.push_back({"ancre-outgoing", "ANCRe, outgoing",
                       "Learned shortcuts; a softmax over the targets of each output", "ANCRe, eq. 6",
                       besideBranch(WeightKind::Scalar, NormaliseOver::Targets, MixInit::Zero)});
    presets.push_back({"ancre-none", "ANCRe, not normalised",
                       "Learned shortcuts used as they are, from the plain cascade", "ANCRe, section 5.4",
                       besideBranch(WeightKind::Scalar, NormaliseOver::None, MixInit::Cascaded)});
    presets.push_back({"ancre-fixed", "All shortcuts, fixed 1/j",
                       "Every shortcut into layer j weighs 1/j and nothing is learned", "ANCRe, section 5.4",
                       besideBranch(WeightKind::Fixed, NormaliseOver::None, MixInit::Reciprocal)});
    presets.push_back({"ancre-cascaded", "Cascaded only, learned",
                       "Shortcuts between neighbours alone, with a learned weight each", "ANCRe, section 5.4",
                       besideBranch(WeightKind::Scalar, NormaliseOver::None, MixInit::Ones, cascade(depth))});
}

void addFullStacks(Presets& presets, std::int64_t depth)
{
    presets.push_back({"denseformer", "DenseFormer", "Each block reads a learned mix of all earlier block outputs",
                       "Pagliardini et al., DenseFormer", denseFormer(Dilated{1, 1})});
    presets.push_back({"denseformer-dilated", "DenseFormer, 4×5",
                       "Every 4th earlier output, mixed before every 5th block", "Pagliardini et al., DenseFormer",
                       denseFormer(Dilated{4, 5})});
    presets.push_back({"mudd", "MUDD", "Weights made for each token, for queries, keys, values and the residual",
                       "Xiao et al., MUDDFormer", mudd()});
    presets.push_back({"attention-residuals", "Attention Residuals", "A learned query attends over the depth",
                       "Attention Residuals", attentionResiduals(1)});
    const std::int64_t halves = 2 * std::clamp<std::int64_t>(depth, 1, kMaxLayers);
    presets.push_back({"attention-residuals-block", "Attention Residuals, 8 blocks",
                       "The same over 8 sums of neighbouring halves of layers", "Attention Residuals, block variant",
                       attentionResiduals((halves + 7) / 8)});
}

void addStreams(Presets& presets)
{
    presets.push_back({"hyper-static", "Hyper-Connections, static", "4 residual streams with learned mixing",
                       "Zhu et al., Hyper-Connections", streams(StreamWeights::Static)});
    presets.push_back({"hyper-dynamic", "Hyper-Connections, dynamic",
                       "4 residual streams whose mixing depends on the input", "Zhu et al., Hyper-Connections",
                       streams(StreamWeights::Dynamic)});
    presets.push_back({"mhc", "mHC", "Hyper-Connections whose stream mixing is doubly stochastic",
                       "mHC: Manifold-Constrained Hyper-Connections",
                       streams(StreamWeights::Dynamic, StreamConstraint::DoublyStochastic)});
    presets.push_back({"ihc", "Identity hyper-connections", "4 residual streams that never mix, and a learned exit",
                       "Hy4 (Tencent)", identityStreams()});
    presets.push_back({"mhc-lite", "mHC-lite", "Hyper-Connections whose stream mixing is a mixture of permutations",
                       "mHC-lite", streams(StreamWeights::Dynamic, StreamConstraint::Permutations)});
    presets.push_back({"frac-static", "Frac-Connections, static", "The residual in 2 fractions with learned mixing",
                       "Frac-Connections", fractions(StreamWeights::Static)});
    presets.push_back({"frac-dynamic", "Frac-Connections, dynamic",
                       "The residual in 2 fractions whose mixing depends on the input", "Frac-Connections",
                       fractions(StreamWeights::Dynamic)});
}

void addGates(Presets& presets)
{
    presets.push_back({"highway", "Highway", "A learned gate trades the input for the branch",
                       "Srivastava et al., Highway Networks", gate(BranchGateKind::Highway)});
    presets.push_back({"densenet", "DenseNet", "Earlier outputs side by side, projected back to the width",
                       "Huang et al., DenseNet", Concatenation{}});
    presets.push_back({"rezero", "ReZero", "A learned factor on each branch that starts at 0",
                       "Bachlechner et al., ReZero", gate(BranchGateKind::ReZero)});
    presets.push_back({"laurel-rw", "LAuReL-RW", "Learned factors on the branch and the residual",
                       "Menghani et al., LAuReL", laurel(BranchGateKind::LaurelRw)});
    presets.push_back({"laurel-lr", "LAuReL-LR", "A low-rank map added to the residual", "Menghani et al., LAuReL",
                       laurel(BranchGateKind::LaurelLr)});
    presets.push_back({"laurel-pa", "LAuReL-PA", "A low-rank mix of the latest activations", "Menghani et al., LAuReL",
                       laurel(BranchGateKind::LaurelPa)});
    presets.push_back({"laurel-rw-lr", "LAuReL-RW+LR", "Learned factors, and a low-rank map added to the residual",
                       "Menghani et al., LAuReL", laurel(BranchGateKind::LaurelRwLr)});
    presets.push_back({"laurel-rw-lr-pa", "LAuReL-RW+LR+PA",
                       "Learned factors, and a low-rank mix of the latest activations", "Menghani et al., LAuReL",
                       laurel(BranchGateKind::LaurelRwLrPa)});
    presets.push_back({"post-norm", "Post-norm", "A norm of the sum of residual and branch, for blocks without norms",
                       "Vaswani et al., Attention Is All You Need", gate(BranchGateKind::PostNorm)});
    BranchGate deep{.gate = BranchGateKind::PostNorm, .scale = PostNormScale::DeepNorm};
    presets.push_back({"deep-norm", "DeepNorm", "A norm of branch and α times the residual, α = (2N)^1/4 for N layers",
                       "Wang et al., DeepNet", deep});
    deep.norm = NormKind::Rms;
    deep.scale = PostNormScale::DeepLoop;
    presets.push_back({"deep-loop", "DeepLoop",
                       "The same by an RMS norm with α = (2N)^1/2, for loops of N visits of layers",
                       "DeepLoop (arXiv 2607.13491)", deep});
    presets.push_back({"value-residual", "Value residual", "Attention values mix with those of the first layer",
                       "Zhou et al., Value Residual Learning", gate(BranchGateKind::ValueResidual)});
}

} // namespace

std::vector<TopologyPreset> topologyPresets(std::int64_t depth)
{
    Presets presets;
    addPlain(presets);
    addDca(presets);
    addAncre(presets, depth);
    addFullStacks(presets, depth);
    addStreams(presets);
    addGates(presets);
    return presets;
}

std::vector<TopologyPreset> topologyPresets(const Network& network)
{
    std::vector<TopologyPreset> presets = topologyPresets(network.depth());
    const bool language = traitsOf(network.objective).target == Element::Token;
    const bool split = std::ranges::all_of(network.stack().segments, [&](const StackSegment& segment) {
        const Block* const block = network.findBlock(segment.block);
        return block != nullptr && splitAtFfn(*block).ok();
    });
    for (TopologyPreset& preset : presets) {
        if (auto* const mix = std::get_if<DepthMix>(&preset.wiring); mix != nullptr && language && isAncre(*mix)) {
            mix->temperature = kLanguageTemperature;
        }
        std::visit(
            [split](auto& wiring) {
                if constexpr (requires { wiring.sites; }) {
                    wiring.sites = split ? wiring.sites : MixSites::Mhsa;
                }
            },
            preset.wiring);
    }
    return presets;
}

} // namespace residua::projects
