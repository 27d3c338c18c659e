// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

struct Network;

/// i:j: stack entry i, which layer i makes, reaches layer j. 0 is the stack's input;
/// 0 ≤ i < j ≤ L + 1, where L + 1 is the final output. Ordered by target, then source.
struct Shortcut {
    std::int64_t source = 0;
    std::int64_t target = 1;

    friend std::strong_ordering operator<=>(const Shortcut& a, const Shortcut& b)
    {
        if (const auto byTarget = a.target <=> b.target; byTarget != 0) {
            return byTarget;
        }
        return a.source <=> b.source;
    }
    bool operator==(const Shortcut&) const = default;
};

/// What layer i leaves as its stack entry.
enum class StackEntry {
    Branch, ///< f_i, the branch output: "delta stacks" (DCA, GRN, plain residual)
    Full,   ///< x_i, the layer's full output (ANCRe, DenseFormer, MUDD)
};

/// Which readers have a mix of their own.
enum class MixPorts {
    Input,       ///< one mix
    Qkv,         ///< three (DCA §3.2, figure 4); a residual port reads q's
    QkvResidual, ///< four (MUDD)
};

/// What the mix is used for.
enum class MixFeeds {
    /// The layer reads the mix m_j. Its entry is f_j(m_j), or for full outputs m_j + f_j(m_j) (DCA §3.1, DenseFormer).
    LayerInput,
    /// The layer reads x_{j-1} and the mix is added to its branch: x_j = f_j(x_{j-1}) + Σ w_ij e_i, where
    /// e_i is x_i or, for branch entries, f_i (ANCRe eq. 5).
    ResidualBesideBranch,
};

/// Where inside a transformer block a wiring acts, and what it counts as modules 1..K (in a mix i and j of i:j). ANCRe
/// bridges them (its table 1); most others act at both, where their papers say "layer" for either half of a block.
enum class MixSites {
    Mhsa, ///< inputs of the attentions, K = L: 0 is the input of layer 1, j the output of layer j
    Ffn,  ///< inputs of the FFNs, K = L: 0 is the input of layer 1's FFN, j that of layer j + 1's; L is the output
    Both, ///< all of them, K = 2L: 2j is the output of layer j, 2j − 1 the input of its FFN
};

/// Which sites shortcuts beside the branches join where both are bridged.
enum class SitePairs {
    Alike, ///< FFN inputs to FFN inputs, attention inputs to attention inputs (ANCRe §4.2): j − i is even. What arrives
           ///< beside them is all that the modules since the last such site have put out
    Any, ///< all of them in one family: beside them the module's branch alone
};

struct AllSources {
    bool operator==(const AllSources&) const = default;
};
/// The model input, the sum of the middle outputs and the last k (DCA §3.1).
struct FirstAndLast {
    std::int64_t k = 2;
    bool operator==(const FirstAndLast&) const = default;
};
/// Who weighs dilated sources of full outputs.
enum class DilatedReaders {
    OnPeriod, ///< those after every period-th layer; the others read the newest entry as it is (DenseFormer's code)
    All,      ///< those before every period-th layer and the final output; the others weigh the newest entry alone
};
/// Every `dilation`-th source counted back from the target, at every `period`-th target (DenseFormer).
struct Dilated {
    std::int64_t dilation = 1;
    std::int64_t period = 1;
    DilatedReaders readers = DilatedReaders::OnPeriod;
    bool operator==(const Dilated&) const = default;
};
/// Just these, kept sorted. `none` is the empty list; cascaded is every (j−1):j.
struct ExplicitSources {
    std::vector<Shortcut> shortcuts;
    bool operator==(const ExplicitSources&) const = default;
};
using SourceSet = std::variant<AllSources, FirstAndLast, Dilated, ExplicitSources>;

enum class WeightKind {
    Fixed,          ///< the initial value, never trained
    Scalar,         ///< one learned number per shortcut (GRN-v1, ANCRe)
    PerFeature,     ///< one per shortcut and feature (GRN-v2, GRN-v3)
    DepthAttention, ///< softmax over depth of a learned query with the entries (Attention Residuals)
    PerToken,       ///< by a small MLP of the current layer's input (MUDD)
};

/// The input-dependent part of GRN-v3 (DCA §3.1).
enum class GateKind {
    None,
    Outside, ///< b + ReLU(wᵀG): the paper's equation
    Inside,  ///< ReLU(b + wᵀG): what its appendix H describes
};
enum class GateInput { Raw, Normalised };
enum class ReluGradAtZero {
    One,  ///< lets a gate that starts at w = 0 learn (the default)
    Zero, ///< the frameworks' default: the literal form, whose gate never learns
};
enum class GateVectors {
    PerMix,   ///< w for each mix, which all of its entries share: the paper's equation
    PerEntry, ///< w for each entry of each mix: what the paper's parameter counts fit (tables 5 and 7)
};
struct Gate {
    GateKind kind = GateKind::None;
    GateInput input = GateInput::Raw;
    ReluGradAtZero reluGradAtZero = ReluGradAtZero::One;
    GateVectors vectors = GateVectors::PerMix;
    bool operator==(const Gate&) const = default;
};

enum class NormaliseOver {
    None,
    Sources, ///< softmax over i for each j: ANCRe "ingoing", eq. 7 and 8
    Targets, ///< softmax over j for each i: ANCRe "outgoing", eq. 6
};

enum class MixInit {
    Ones,       ///< every weight 1: over branches, the plain residual sum
    Zero,       ///< coefficients 0: under a softmax, "uniform" (ANCRe default)
    Cascaded,   ///< c_{j-1,j} = 1, others 0 (one-hot on the last)
    Reciprocal, ///< p_ij = 1/j (ANCRe's fixed ablation)
};

/// A single coefficient that is not as its neighbours.
enum class ShortcutState {
    Frozen,
    Pruned,
    Learned, ///< where the wiring's weights are fixed: a scalar of its own, which starts as the fixed weight
};

/// Tsallis-entropy regulariser on the normalised coefficients (ANCRe §4).
struct Tsallis {
    double q = 2.0;
    double weight = 0.0; ///< 0: off
    bool operator==(const Tsallis&) const = default;
};

/// The algebra of depth: nearly every published way of wiring it is one value of this.
struct DepthMix {
    StackEntry entry = StackEntry::Branch;
    MixPorts ports = MixPorts::Input;
    MixFeeds feeds = MixFeeds::LayerInput;
    MixSites sites = MixSites::Mhsa;
    SitePairs sitePairs = SitePairs::Alike;
    SourceSet sources = AllSources{};
    WeightKind weight = WeightKind::Fixed;
    Gate gate;
    NormaliseOver normalise = NormaliseOver::None;
    double temperature = 1.0; ///< τ of the softmax; > 0. Under attention over depth the logits' scale is 1/τ.
    MixInit init = MixInit::Ones;
    std::map<Shortcut, ShortcutState> states;
    Tsallis tsallis;
    /// Width of the small networks that make weights per token: rounded up to a multiple of the first, and for the
    /// final output larger by the second (perTokenHidden).
    std::int64_t hiddenMultiple = 64;
    double finalHidden = 4;
    bool weightDecay = false;   ///< mixing weights are kept out of weight decay unless asked
    bool separateNorms = false; ///< a norm of its own per port (DCA option)
    /// The final output reads a mix of its own over all L + 1 entries; else it is x_L, layer L's full output.
    bool finalMix = true;
    /// Beside the branches: layer L's output has learned shortcuts as the others have; else x_L = f_L + x_{L−1}, which
    /// leaves the L(L − 1)/2 that ANCRe counts.
    bool lastMix = true;
    /// Modules that share one stack entry: entry b is the sum over the b-th so many, as far as they have run (Attention
    /// Residuals, block variant).
    std::int64_t blockLayers = 1;

    bool operator==(const DepthMix&) const = default;
};
/// Whether a weight is made for each token by what the network computes, and is no learned number of its own.
[[nodiscard]] constexpr bool isMadePerToken(WeightKind kind)
{
    return kind == WeightKind::DepthAttention || kind == WeightKind::PerToken;
}
/// True if the stack's entries stay in the parameters' precision whatever the residual's is: attention over the depth,
/// as in the authors' model of Attention Residuals.
[[nodiscard]] constexpr bool keepsFullEntries(const DepthMix& mix)
{
    return mix.weight == WeightKind::DepthAttention;
}
/// Whether a gate may add to the weights.
[[nodiscard]] constexpr bool takesGate(const DepthMix& mix)
{
    return !isMadePerToken(mix.weight);
}
/// Whether there are learned, normalised coefficients, whose Tsallis entropy can be a regulariser.
[[nodiscard]] constexpr bool hasEntropy(const DepthMix& mix)
{
    return mix.normalise != NormaliseOver::None && mix.weight != WeightKind::Fixed && !isMadePerToken(mix.weight);
}

enum class StreamWeights { Static, Dynamic };
enum class StreamConstraint { None, DoublyStochastic };
/// What the dynamic weights of Hyper-Connections are made from: each stream less its mean over the features and over
/// its deviation, or over its root mean square. Both have a gain and no bias.
enum class StreamNorm { Layer, Rms };
/// Where the logits of mHC's read and mixing matrix start (projects/depth/stream_start.h).
enum class StreamStartLaw {
    Exact,      ///< the matrix from 8·I, the read from its row: on equal streams the plain network
    AppendixA6, ///< the matrix from 6·I − 3, the read from 3 on the home stream and −3 beside it
};
/// Hyper-Connections and mHC: n residual streams.
struct MultiStream {
    std::int64_t streams = 4;
    StreamWeights weights = StreamWeights::Static;
    StreamConstraint constraint = StreamConstraint::None;
    std::int64_t sinkhornIterations = 20;
    double dynamicScale = 0.01;
    MixSites sites = MixSites::Both;
    StreamNorm norm = StreamNorm::Layer;
    bool scaleOutputs = true; ///< what blocks write to the residual starts √streams times as large
    StreamStartLaw start = StreamStartLaw::Exact; ///< of a constrained mixing matrix
    bool operator==(const MultiStream&) const = default;
};

enum class BranchGateKind {
    Highway,
    ReZero,
    LaurelRw,
    LaurelLr,
    LaurelPa,
    ValueResidual,
    LaurelRwLr,
    LaurelRwLrPa,
};
/// Whether it is LAuReL-RW, alone or with others.
[[nodiscard]] constexpr bool hasResidualWeights(BranchGateKind kind)
{
    return kind == BranchGateKind::LaurelRw || kind == BranchGateKind::LaurelRwLr ||
           kind == BranchGateKind::LaurelRwLrPa;
}
/// Whether it is LAuReL-PA, which mixes previous activations, alone or with others.
[[nodiscard]] constexpr bool mixesPrevious(BranchGateKind kind)
{
    return kind == BranchGateKind::LaurelPa || kind == BranchGateKind::LaurelRwLrPa;
}
/// Whether it has the maps of low rank of LAuReL-LR and -PA.
[[nodiscard]] constexpr bool hasLowRankMaps(BranchGateKind kind)
{
    return mixesPrevious(kind) || kind == BranchGateKind::LaurelLr || kind == BranchGateKind::LaurelRwLr;
}
/// How the factors α and β of LAuReL-RW are kept within 0 and 1; both start from a logit of 0 then.
enum class LaurelBound {
    None,    ///< free numbers, from 1
    Sigmoid, ///< each by itself
    Softmax, ///< α + β = 1
};
/// A gate on the residual or the branch of each layer.
struct BranchGate {
    BranchGateKind gate = BranchGateKind::ReZero;
    std::int64_t rank = 16;  ///< LAuReL-LR and -PA
    std::int64_t window = 3; ///< LAuReL-PA: previous activations mixed in
    double bias = -2.0;      ///< Highway: where the gate starts, before its sigmoid; below 0 it carries its input
    LaurelBound bound = LaurelBound::Sigmoid; ///< LAuReL with RW
    MixSites sites = MixSites::Both;          ///< of no meaning to a value residual, which is between whole layers
    bool operator==(const BranchGate&) const = default;
};

/// DenseNet: all earlier outputs concatenated and projected back to the width.
struct Concatenation {
    bool operator==(const Concatenation&) const = default;
};

using Wiring = std::variant<DepthMix, MultiStream, BranchGate, Concatenation>;

/// The preset of the running sum: what a topology is called that is wired as no other.
inline constexpr const char* kPlainPreset = "plain";

/// How depth is wired. `preset` names where the wiring came from; where the two differ the
/// views say "custom, from <preset>".
struct Topology {
    std::string preset = kPlainPreset; ///< TopologyPreset::name
    Wiring wiring = DepthMix{};

    bool operator==(const Topology&) const = default;
};

/// K, how many modules i:j number in a stack of `layers`: L, or 2L where both sites of a layer are bridged. It is the
/// `depth` of the functions below.
[[nodiscard]] std::int64_t mixedModules(const DepthMix& mix, std::int64_t layers);
/// The same of any wiring.
[[nodiscard]] std::int64_t modulesIn(const Wiring& wiring, std::int64_t layers);
/// Where it acts; Mhsa where sites mean nothing to it: the running sum, DenseNet, value residual.
[[nodiscard]] MixSites sitesOf(const DepthMix& mix);
[[nodiscard]] MixSites sitesOf(const Wiring& wiring);
/// Whether the layers run as their two halves, cut at the FFN's input (ffn_site.h).
[[nodiscard]] bool splitsLayers(const DepthMix& mix);
[[nodiscard]] bool splitsLayers(const Wiring& wiring);
/// Whether shortcuts join like sites alone: of two families, attentions' and FFNs'.
[[nodiscard]] bool hasTwoFamilies(const DepthMix& mix);
/// Whether a step may run without this layer (from 1): a value residual has layer 1's values in all others.
[[nodiscard]] bool mayBeLeftOut(const Wiring& wiring, std::int64_t layer);

/// Whether every mix is the plain residual sum, which is kept running: one addition a layer, and no stack. It is drawn
/// as a stream. Its only weights are those of learned shortcuts, i:j: the reader j gets (w − 1)·e_i beside the sum.
[[nodiscard]] bool isRunningSum(const DepthMix& mix);
/// Whether it is the plain residual network: the running sum with nothing learned beside it.
[[nodiscard]] bool isPlainResidual(const DepthMix& mix);
[[nodiscard]] bool isPlainResidual(const Wiring& wiring);

/// The stack entry that module `module` is put into; 0 for the stack's input. Its own, or where modules share entries
/// (blockLayers) one of several.
[[nodiscard]] std::int64_t entryOf(const DepthMix& mix, std::int64_t module);
/// The newest entry that stands before reader `target` ≥ 1: it may read the entries 0 to this one.
[[nodiscard]] std::int64_t newestEntryBefore(const DepthMix& mix, std::int64_t target);
/// The last module that is in the shortcut's source when its target reads it; 0 for the stack's input. Precondition:
/// the source is no newer than newestEntryBefore the target.
[[nodiscard]] std::int64_t lastModuleIn(const DepthMix& mix, const Shortcut& shortcut);

/// The last reader: module K = `depth`, or the final output K + 1 where it has a mix.
[[nodiscard]] std::int64_t lastReader(const DepthMix& mix, std::int64_t depth);

/// What becomes of pruned shortcuts where sources are listed.
enum class Pruned {
    LeftOut,
    Counted, ///< as if they were not pruned
};

/// The sources that reader `target` (1..depth, depth + 1 for the final output) may read, in ascending
/// order. FirstAndLast lists what is read as an entry of its own; the
/// summed middle is what lies between. Empty for the final output where there is no final mix, and for a reader that
/// weighs nothing (passesNewest).
[[nodiscard]] std::vector<std::int64_t> sourcesOf(const DepthMix& mix, std::int64_t target, std::int64_t depth,
                                                  Pruned pruned = Pruned::LeftOut);
/// The sources that reader `target` could have, whatever the document lists and prunes.
[[nodiscard]] std::vector<std::int64_t> possibleSources(const DepthMix& mix, std::int64_t target, std::int64_t depth);

/// Whether reader `target` takes the newest entry as it is, with no weight: of full outputs a layer that reads no
/// source, and beside the branches what has no shortcuts by lastMix, or by the families none that it could have.
[[nodiscard]] bool passesNewest(const DepthMix& mix, std::int64_t target, std::int64_t depth);
/// Whether a shortcut with 0 ≤ i < j ≤ K + 1 could be read, whatever the sources say: its source is there when its
/// target reads, and is of the target's family.
[[nodiscard]] bool isReadable(const DepthMix& mix, const Shortcut& shortcut, std::int64_t depth);

/// Entries first..last, read as one: the middle that FirstAndLast sums.
struct EntryRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool operator==(const EntryRange&) const = default;
};
/// nullopt where `target` reads no sum.
[[nodiscard]] std::optional<EntryRange> summedMiddleOf(const DepthMix& mix, std::int64_t target, std::int64_t depth);

/// What a theorem on the least expected loss takes a wiring for (DeepCrossAttention, theorem 4.2).
enum class RiskModel { ResNet, GrnV1, GrnV2, GrnV3 };

/// A wiring that people know by name; under some names it goes with a schedule.
struct TopologyPreset {
    std::string name;    ///< stable key, e.g. "ancre"
    std::string title;   ///< e.g. "ANCRe, ingoing"
    std::string summary; ///< one line
    std::string source;  ///< paper and section
    Wiring wiring;
    std::string schedule = {};               ///< the SchedulePreset that choosing it sets too; empty: none
    std::optional<RiskModel> riskModel = {}; ///< which of the theorem's models the wiring is
};

/// All presets in display order. Explicit presets (cascaded, none) are made for `depth` layers.
[[nodiscard]] std::vector<TopologyPreset> topologyPresets(std::int64_t depth);
/// The same for the layers of a network: where one of its blocks has no feed-forward half, they act once a layer.
[[nodiscard]] std::vector<TopologyPreset> topologyPresets(const Network& network);

} // namespace residua::projects
