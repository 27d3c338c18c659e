// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/wiring_kinds.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

struct Network;

/// The shortcut i:j connects stack entry i, which layer i produces, to layer j. Entry 0 is the stack's input. 0 ≤ i < j
/// ≤ L + 1, where L + 1 is the final output. Ordered by target, then source.
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

/// The output of layer i that becomes its stack entry.
enum class StackEntry {
    Branch, ///< f_i, the branch output: "delta stacks" (DCA, GRN, plain residual)
    Full,   ///< x_i, the layer's full output (ANCRe, DenseFormer, MUDD)
};

/// The ports of a layer that have separate mixes.
enum class MixPorts {
    Input,       ///< one mix
    Qkv,         ///< three (DCA §3.2, figure 4); a residual port uses q's mix
    QkvResidual, ///< four (MUDD)
};

/// The use of the mix.
enum class MixFeeds {
    /// The layer reads the mix m_j. Its entry is f_j(m_j), or for full outputs m_j + f_j(m_j) (DCA §3.1, DenseFormer).
    LayerInput,
    /// The layer reads x_{j-1} and the mix is added to its branch: x_j = f_j(x_{j-1}) + Σ w_ij e_i, where
    /// e_i is x_i or, for branch entries, f_i (ANCRe eq. 5).
    ResidualBesideBranch,
};

/// The positions inside a transformer block at which a wiring acts, and its modules 1..K (i and j of a shortcut i:j in
/// a mix). ANCRe bridges these positions (its table 1). Most other wirings act at both: their papers call either half
/// of a block a layer.
enum class MixSites {
    Mhsa, ///< inputs of the attentions, K = L: 0 is the input of layer 1, j the output of layer j
    Ffn,  ///< inputs of the FFNs, K = L: 0 is the input of layer 1's FFN, j that of layer j + 1's; L is the output
    Both, ///< all of them, K = 2L: 2j is the output of layer j, 2j − 1 the input of its FFN
};

/// The pairs of sites that shortcuts beside the branches join, if MixSites is Both.
enum class SitePairs {
    Alike, ///< FFN inputs to FFN inputs, attention inputs to attention inputs (ANCRe §4.2): j − i is even. The
           ///< shortcuts are added to the outputs of all modules since the last such site
    Any,   ///< all of them in one family; the shortcuts are added to the module's branch alone
};

struct AllSources {
    bool operator==(const AllSources&) const = default;
};
/// The sources of a reader of the last k entries among the earlier entries.
enum class EarlierEntries {
    InputAndSum, ///< the model input, and the sum of the middle outputs (k-DCA, §3.1)
    Input,       ///< the model input only (DCA, table 9: inputs and last 3)
    Nothing,     ///< none: the model input is an ordinary entry of the last k (table 9: last 4)
};
/// The last k entries, and those earlier ones that `earlier` names (DCA §3.1).
struct FirstAndLast {
    std::int64_t k = 2;
    EarlierEntries earlier = EarlierEntries::InputAndSum;
    bool operator==(const FirstAndLast&) const = default;
};
/// The readers that have weights for dilated sources, if entries are full outputs.
enum class DilatedReaders {
    OnPeriod, ///< those after every period-th layer; the others pass the newest entry through (DenseFormer's code)
    All,      ///< those before every period-th layer and the final output; the others have a weight for the newest
              ///< entry only
};
/// Every `dilation`-th source, counted back from the target, at every `period`-th target (DenseFormer).
struct Dilated {
    std::int64_t dilation = 1;
    std::int64_t period = 1;
    DilatedReaders readers = DilatedReaders::OnPeriod;
    bool operator==(const Dilated&) const = default;
};
/// Exactly these shortcuts, sorted. `none` is the empty list; cascaded is every (j−1):j.
struct ExplicitSources {
    std::vector<Shortcut> shortcuts;
    bool operator==(const ExplicitSources&) const = default;
};
using SourceSet = std::variant<AllSources, FirstAndLast, Dilated, ExplicitSources>;

/// The input-dependent part of the weights in GRN-v3 (DCA §3.1).
enum class GateKind {
    None,
    Outside, ///< b + ReLU(wᵀG): the paper's equation
    Inside,  ///< ReLU(b + wᵀG): as the paper's appendix H describes it
};
enum class GateInput { Raw, Normalised };
enum class ReluGradAtZero {
    One,  ///< a gate that starts at w = 0 can learn (the default)
    Zero, ///< the default of the frameworks, as the equation is written; a gate that starts at w = 0 never learns
};
enum class GateVectors {
    PerMix,   ///< one w per mix, shared by all its entries: the paper's equation
    PerEntry, ///< one w per entry of each mix, which fits the paper's parameter counts (tables 5 and 7)
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
    Ones,       ///< every weight 1; over branches, the plain residual sum
    Zero,       ///< coefficients 0: under a softmax, "uniform" (ANCRe default)
    Cascaded,   ///< c_{j-1,j} = 1, others 0 (one-hot on the last)
    Reciprocal, ///< p_ij = 1/j (ANCRe's fixed ablation)
};

/// A deviation of one coefficient from the wiring.
struct ShortcutState {
    enum Kind {
        Frozen, ///< the coefficient keeps its value
        Pruned,
        Learned, ///< a learned scalar of its own where the wiring's weights are fixed; it starts at the fixed weight
    };
    /// The value of a frozen coefficient, which is the one before a softmax.
    enum class Hold {
        Beginning, ///< the value that training begins with: the start's in a new run, the checkpoint's in a branch
        Number,    ///< `number`, for each feature
        Learned,   ///< the checkpoint's, so that a new run is refused: the document has no numbers for it
    };

    constexpr ShortcutState(Kind of = Frozen) : kind(of) {} // implicit: most states are their kind
    [[nodiscard]] static constexpr ShortcutState frozenAt(double number)
    {
        ShortcutState state(Frozen);
        state.hold = Hold::Number;
        state.number = number;
        return state;
    }
    [[nodiscard]] static constexpr ShortcutState frozenAsLearned()
    {
        ShortcutState state(Frozen);
        state.hold = Hold::Learned;
        return state;
    }
    /// True if the shortcut has a parameter even where the wiring's weights are fixed.
    [[nodiscard]] constexpr bool hasOwnWeight() const
    {
        return kind == Learned || (kind == Frozen && hold != Hold::Beginning);
    }

    Kind kind = Frozen;
    Hold hold = Hold::Beginning; ///< Beginning unless frozen
    double number = 0;           ///< finite; 0 unless Hold::Number

    bool operator==(const ShortcutState&) const = default;
    friend constexpr bool operator==(const ShortcutState& state, Kind kind) { return state.kind == kind; }
};

/// Tsallis-entropy regulariser on the normalised coefficients (ANCRe §4).
struct Tsallis {
    double q = 2.0;
    double weight = 0.0; ///< 0: off
    bool operator==(const Tsallis&) const = default;
};

/// The general form of depth wiring. Nearly every published wiring is a value of it.
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
    double temperature = 1.0; ///< τ of the softmax, > 0. With attention over depth, the scale of the logits is 1/τ.
    MixInit init = MixInit::Ones;
    std::map<Shortcut, ShortcutState> states;
    Tsallis tsallis;
    /// Width of the small networks that compute weights per token: multiplied by finalHidden for the final output, then
    /// rounded up to a multiple of hiddenMultiple (perTokenHidden).
    std::int64_t hiddenMultiple = 64;
    double finalHidden = 4;
    bool weightDecay = false;   ///< if false, mixing weights have no weight decay
    bool separateNorms = false; ///< if true, each port has a norm of its own (DCA option)
    /// If true, the final output has a mix over all L + 1 entries; else it is x_L, layer L's full output.
    bool finalMix = true;
    /// Beside the branches: if true, layer L's output has learned shortcuts like the others. If false, x_L = f_L +
    /// x_{L−1}, which leaves the L(L − 1)/2 shortcuts that ANCRe counts.
    bool lastMix = true;
    /// Number of modules that share one stack entry. Entry b is the sum of the b-th group of modules that have run
    /// (Attention Residuals, block variant).
    std::int64_t blockLayers = 1;

    bool operator==(const DepthMix&) const = default;
};
/// True if a gate may add to the weights.
[[nodiscard]] constexpr bool takesGate(const DepthMix& mix)
{
    return !traitsOf(mix.weight).isPerToken;
}
/// True if the weight of each shortcut is a learned number or vector, which no input changes.
[[nodiscard]] constexpr bool hasCoefficients(const DepthMix& mix)
{
    return traitsOf(mix.weight).isLearned && !traitsOf(mix.weight).isPerToken;
}
/// True if there are learned, normalised coefficients, so that their Tsallis entropy can be a regulariser.
[[nodiscard]] constexpr bool hasEntropy(const DepthMix& mix)
{
    return mix.normalise != NormaliseOver::None && hasCoefficients(mix);
}

enum class StreamWeights { Static, Dynamic };
/// The matrix that mixes the streams between modules.
enum class StreamConstraint {
    None,             ///< none (Hyper-Connections)
    DoublyStochastic, ///< Sinkhorn's iterations (mHC)
    Identity,         ///< I; streams do not mix (identity hyper-connections)
    Permutations,     ///< Σ softmax(c)_r·P_r over all n! permutation matrices P_r (mHC-lite)
};
/// The content of the streams.
enum class StreamState {
    Copies,    ///< n residuals of the network's width
    Fractions, ///< one residual, cut into n fractions of its features (Frac-Connections)
};
/// The output of the streams after the last module. Fractions are concatenated instead.
enum class StreamExit {
    Sum,
    Mean,
    Head, ///< Σ_s (σ(a·y_s + b_s) + ε)·H_s with y as in mHC, but its own φ (Hy4, DeepSeek-V4)
};
/// A norm over the features with a gain. Layer: subtracts the mean and divides by the standard deviation. Rms: divides
/// by the root mean square.
enum class NormKind { Layer, Rms };
/// The initial logits of mHC's read weights and mixing matrix (projects/depth/stream_start.h).
enum class StreamStartLaw {
    Exact,      ///< matrix from 8·I, read from its row; the plain network if the streams are equal
    AppendixA6, ///< matrix from 6·I − 3; read from 3 on the home stream and −3 elsewhere
};
/// Hyper-Connections and related wirings: n residual streams.
struct MultiStream {
    std::int64_t streams = 4;
    StreamWeights weights = StreamWeights::Static;
    StreamConstraint constraint = StreamConstraint::None;
    std::int64_t sinkhornIterations = 20;
    double dynamicScale = 0.01;
    MixSites sites = MixSites::Both;
    NormKind norm = NormKind::Layer; ///< of the streams that dynamic weights are computed from; has no bias
    bool scaleOutputs = true;        ///< if true, the blocks' writes to the residual start √streams times as large
    StreamStartLaw start = StreamStartLaw::Exact; ///< of a doubly stochastic mixing matrix
    StreamState state = StreamState::Copies;
    StreamExit exit = StreamExit::Sum;
    bool operator==(const MultiStream&) const = default;
};

/// The bound that keeps the factors α and β of LAuReL-RW within 0 and 1. With a bound, both start at a logit of 0.
enum class LaurelBound {
    None,    ///< unbounded; start at 1
    Sigmoid, ///< each factor separately
    Softmax, ///< α + β = 1
};
/// The factor α of the residual in a post-norm, x ← norm(α·x + f), and β of the start of the layers' matrices but
/// those of queries and keys. N is the number of executed layers that have a gradient (postNormFactors).
enum class PostNormScale {
    One,      ///< α = β = 1 (Transformer)
    DeepNorm, ///< α = (2N)^¼, β = (8N)^−¼
    DeepLoop, ///< α = (2N)^½, β = (8N)^−½: for layers that are visited several times
};
/// A gate on the residual or the branch of each layer, or a norm of their sum.
struct BranchGate {
    BranchGateKind gate = BranchGateKind::ReZero;
    std::int64_t rank = 16;  ///< LAuReL-LR and -PA
    std::int64_t window = 3; ///< LAuReL-PA: previous activations mixed in
    double bias = -2.0;      ///< Highway: the gate's initial value before its sigmoid; below 0 it carries its input
    LaurelBound bound = LaurelBound::Sigmoid; ///< LAuReL with RW
    MixSites sites = MixSites::Both;          ///< not used by a value residual, which connects whole layers
    NormKind norm = NormKind::Layer;          ///< post-norm; a layer norm has a bias
    double epsilon = 1e-5;                    ///< post-norm: added under the root
    PostNormScale scale = PostNormScale::One; ///< post-norm
    bool operator==(const BranchGate&) const = default;
};

/// True if the factors of LAuReL-RW start below 1.
[[nodiscard]] constexpr bool hasBoundedFactors(const BranchGate& gate)
{
    return traitsOf(gate.gate).factors == 2 && gate.bound != LaurelBound::None;
}

/// DenseNet: all earlier outputs concatenated and projected back to the width.
struct Concatenation {
    bool operator==(const Concatenation&) const = default;
};

using Wiring = std::variant<DepthMix, MultiStream, BranchGate, Concatenation>;

/// The preset of the running sum. It is the name of a topology that matches no other preset.
inline constexpr const char* kPlainPreset = "plain";

/// The wiring of depth. `preset` names the preset that it came from; if the wiring differs from it, views show "custom,
/// from <preset>".
struct Topology {
    std::string preset = kPlainPreset; ///< TopologyPreset::name
    Wiring wiring = DepthMix{};

    bool operator==(const Topology&) const = default;
};

/// Returns K, the number of modules that i:j counts in a stack of `layers`: L, or 2L if both sites of a layer are
/// bridged. K is the `depth` argument of the functions below.
[[nodiscard]] std::int64_t mixedModules(const DepthMix& mix, std::int64_t layers);
/// Returns the number of modules of any wiring.
[[nodiscard]] std::int64_t modulesIn(const Wiring& wiring, std::int64_t layers);
/// Returns the sites where the wiring acts. Returns Mhsa for wirings without sites: the running sum, DenseNet and value
/// residuals.
[[nodiscard]] MixSites sitesOf(const DepthMix& mix);
[[nodiscard]] MixSites sitesOf(const Wiring& wiring);
/// True if layers run as two halves, split at the FFN's input (ffn_site.h).
[[nodiscard]] bool splitsLayers(const DepthMix& mix);
[[nodiscard]] bool splitsLayers(const Wiring& wiring);
/// True if shortcuts join only sites of the same kind, which gives two families: attentions and FFNs.
[[nodiscard]] bool hasTwoFamilies(const DepthMix& mix);
/// True if a step may run without this layer (counted from 1). A value residual needs layer 1, whose values all other
/// layers use.
[[nodiscard]] bool mayBeLeftOut(const Wiring& wiring, std::int64_t layer);

/// True if every mix is the plain residual sum, which is kept as a running sum: one addition per layer and no stack. It
/// is drawn as a stream. Its only weights are those of learned shortcuts i:j: reader j gets (w − 1)·e_i added to the
/// sum.
[[nodiscard]] bool isRunningSum(const DepthMix& mix);
/// True if layers read mixes of branches. Each mix is then a new sum, and no sum grows from layer to layer.
[[nodiscard]] bool readsBranches(const DepthMix& mix);
/// True for the plain residual network: the running sum without learned shortcuts.
[[nodiscard]] bool isPlainResidual(const DepthMix& mix);
[[nodiscard]] bool isPlainResidual(const Wiring& wiring);

/// Returns the stack entry that contains module `module`, or 0 for the stack's input. Several modules share an entry if
/// blockLayers > 1.
[[nodiscard]] std::int64_t stackEntryOf(const DepthMix& mix, std::int64_t module);
/// Returns the newest entry before reader `target` ≥ 1. The reader may read the entries from 0 to this one.
[[nodiscard]] std::int64_t newestEntryBefore(const DepthMix& mix, std::int64_t target);
/// Returns the last module in the shortcut's source at the time its target reads it, or 0 for the stack's input.
/// Precondition: the source is not newer than newestEntryBefore() the target.
[[nodiscard]] std::int64_t lastModuleIn(const DepthMix& mix, const Shortcut& shortcut);

/// Returns the last reader: module K = `depth`, or the final output K + 1 if it has a mix.
[[nodiscard]] std::int64_t lastReader(const DepthMix& mix, std::int64_t depth);

/// The treatment of pruned shortcuts in a list of sources.
enum class Pruned {
    LeftOut,
    Counted, ///< listed like other shortcuts
};

/// Returns the sources that reader `target` (1..depth, or depth + 1 for the final output) may read, in ascending order.
/// For FirstAndLast, only the entries that are read separately; the summed middle is between them. Empty for the final
/// output without a final mix, and for a reader without weights (passesNewest).
[[nodiscard]] std::vector<std::int64_t> sourcesOf(const DepthMix& mix, std::int64_t target, std::int64_t depth,
                                                  Pruned pruned = Pruned::LeftOut);
/// Returns the sources that reader `target` could have, whatever the document lists and prunes.
[[nodiscard]] std::vector<std::int64_t> possibleSources(const DepthMix& mix, std::int64_t target, std::int64_t depth);

/// True if reader `target` passes the newest entry through without a weight. That is the case for a layer with no
/// sources if entries are full outputs. Beside the branches, it is the case for a reader that has no shortcuts because
/// of lastMix, or no readable source in its family.
[[nodiscard]] bool passesNewest(const DepthMix& mix, std::int64_t target, std::int64_t depth);
/// True if a shortcut with 0 ≤ i < j ≤ K + 1 could be read, whatever the sources are: its source exists when its target
/// reads, and both are in the same family.
[[nodiscard]] bool isReadable(const DepthMix& mix, const Shortcut& shortcut, std::int64_t depth);

/// Entries first..last that are read as one sum: the middle of FirstAndLast.
struct EntryRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool operator==(const EntryRange&) const = default;
};
/// Returns nullopt if `target` reads no sum.
[[nodiscard]] std::optional<EntryRange> summedMiddleOf(const DepthMix& mix, std::int64_t target, std::int64_t depth);

/// The model of a theorem on the least expected loss that a wiring corresponds to (DeepCrossAttention, theorem 4.2).
enum class RiskModel { ResNet, GrnV1, GrnV2, GrnV3 };

/// A published wiring. Some presets also select a schedule.
struct TopologyPreset {
    std::string name;    ///< stable key, e.g. "ancre"
    std::string title;   ///< e.g. "ANCRe, ingoing"
    std::string summary; ///< one line
    std::string source;  ///< paper and section
    Wiring wiring;
    std::string schedule = {};               ///< the SchedulePreset that this preset also selects; empty if none
    std::optional<RiskModel> riskModel = {}; ///< the theorem's model that the wiring corresponds to
};

/// Returns all presets in display order. Presets with explicit sources (cascaded, none) are made for `depth` layers.
[[nodiscard]] std::vector<TopologyPreset> topologyPresets(std::int64_t depth);
/// Returns the presets for a network's stack. If one of its blocks has no feed-forward half, they act once per layer.
[[nodiscard]] std::vector<TopologyPreset> topologyPresets(const Network& network);

} // namespace residua::projects
