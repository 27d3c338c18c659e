// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/optimiser.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

enum class RateCurve { Constant, Linear, Cosine, InverseSquareRoot };
/// The step from which the curve decays. Without stages both values mean the same.
enum class RateDecay { AfterWarmup, InLastStage };

/// Learning rate against step: linear warm-up to `peak`, then the curve down to `peak · finalFraction`
/// (inverse square root has no end value: peak · √(warmup/step)).
struct LearningRate {
    double peak = 1e-3;
    std::int64_t warmupSteps = 100;
    RateCurve curve = RateCurve::Cosine;
    double finalFraction = 0.1;
    RateDecay decay = RateDecay::AfterWarmup; ///< in the last stage: constant until it begins (RaPTr, appendix D)
    bool operator==(const LearningRate&) const = default;
};

/// Fp8: as Bf16, and linear layers multiply in 8 bits, except for the gradients of their weights.
enum class Precision { Fp32, Bf16, Fp64, Fp8 };
/// True if the values between nodes are in bf16.
[[nodiscard]] constexpr bool roundsToBf16(Precision precision)
{
    return precision == Precision::Bf16 || precision == Precision::Fp8;
}
/// The precision of the residual, which is carried from layer to layer, under bf16 and fp8.
enum class ResidualPrecision { Fp32, Bf16 };
/// The precision of mixes of branches and of their stack entries, under bf16 with a residual in fp32. Branch: bf16, as
/// the branches leave their layers.
enum class EntryPrecision { Residual, Branch };
enum class Determinism { Fast, Deterministic };
/// Full: every step uses the whole training set in order (full-batch gradient descent of ANCRe §3).
enum class BatchKind { Random, Full };
/// Keep: the forward pass keeps the activations inside a layer. Recompute: the backward pass computes them again from
/// the layer's inputs.
enum class Activations { Keep, Recompute };
/// The optimiser's states if several ranks train a run. Divided: each rank keeps those of its share of the parameters,
/// and updates them (ZeRO-1).
enum class RankStates { Whole, Divided };

/// The target of weight decay for a weight that is stored as a product u·v.
enum class FactorDecay {
    Factors, ///< each factor, like any weight, by the optimiser's weight decay
    Product, ///< λ/2·‖u·v‖_F² in the objective, without decay of the factors (Frobenius decay)
};

/// The gradients whose norm is compared with the clip norm.
enum class ClipScope {
    Step,   ///< those of the step: the sum over all losses
    Losses, ///< those of each group of losses that train the same towers, before they are added
};
/// The weights that validation, sampling, measurements and exports of a run use.
enum class EvaluatedWeights {
    Trained,
    Averaged, ///< their running mean (TrainingPlan::weightAverage)
};

struct TrainingPlan {
    std::int64_t steps = 1000;
    BatchKind batching = BatchKind::Random;
    std::int64_t batch = 16;           ///< sequences or vectors per micro-batch
    std::int64_t accumulate = 1;       ///< micro-batches per step
    std::int64_t sequenceLength = 128; ///< tokens; language only
    Optimiser optimiser = AdamW{};
    std::vector<ParameterGroup> groups; ///< parameters that another optimiser trains; each is in the first that has it
    FactorDecay factorDecay = FactorDecay::Factors;
    double frobeniusDecay = 0.3; ///< λ of FactorDecay::Product
    LearningRate learningRate;
    double clipNorm = 1.0; ///< global gradient norm; 0: off
    ClipScope clipScope = ClipScope::Step;
    /// The decay β of the running mean m ← β·m + (1 − β)·w of all weights, after each step; 0: none is kept.
    double weightAverage = 0;
    EvaluatedWeights evaluatedWeights = EvaluatedWeights::Trained; ///< used only with a running mean
    Precision precision = Precision::Fp32;
    ResidualPrecision residualPrecision = ResidualPrecision::Fp32; ///< used only under bf16 and fp8
    EntryPrecision entryPrecision = EntryPrecision::Residual;      ///< see carriedPrecision()
    Determinism determinism = Determinism::Deterministic;
    Activations activations = Activations::Keep;
    RankStates rankStates = RankStates::Whole;
    std::int64_t validateEvery = 100; ///< steps; 0: never
    std::int64_t validationBatches = 8;
    std::string judgedBy;               ///< the tower whose objective judges the run; empty: the first one
    std::int64_t checkpointEvery = 500; ///< steps; 0: only at the end and on stop
    std::int64_t keepCheckpoints = 3;   ///< number of newest checkpoints to keep; 0: all
    std::int64_t keepEvery = 0;         ///< also keeps the checkpoints at multiples of this many steps; 0: none
    std::int64_t keepBest = 0;          ///< also keeps this many with the least validation loss; 0: none
    std::int64_t observeEvery = 20;     ///< steps between recorded coefficient matrices
    std::int64_t stabilityEvery = 0;    ///< steps between measurements of each layer's effect alone; 0: never
    bool operator==(const TrainingPlan&) const = default;
};

/// The units that a step may leave out: whole layers, attention heads, parts of the MLP (RaPTr §2, §4.3).
enum class DropAxis { Layers, Heads, Mlp, LayersAndHeads, LayersAndMlp, HeadsAndMlp, All };
/// The layers that a step keeps or leaves out together. Used only if the axis has layers.
enum class DropUnit {
    Layer,
    /// A whole visit of a loop. Every step keeps at least one visit of each loop, and all layers outside loops. A visit
    /// is always kept if one of its layers is.
    Visit,
};
/// The choice of the layers outside the always-kept set that train in a step.
enum class DropSampling {
    Bernoulli,      ///< each independently, with probability p_s
    FixedSize,      ///< a fixed number at random
    DeeperSeldomer, ///< each independently; layer l with probability 1 − l/L·(1 − α) (stochastic depth)
    First,          ///< the first layers: a growing network
};
/// The scaling of the kept layers' branches that compensates for the missing layers. If the unit is
/// a visit, j is the number of the visit, and SquareRoot scales as Linear, because the visits of a layer write alike.
enum class DropScaling {
    SquareRoot,         ///< √(j̄ − j), j̄ the next kept layer (RaPTr, appendix J)
    Linear,             ///< j̄ − j
    InverseProbability, ///< 1/p in training (progressive layer dropping)
    Evaluation,         ///< p in evaluation (stochastic depth)
    EvaluationInverse,  ///< 1/p in evaluation, as written in RaPTr's appendix J
    None,
};
/// The change of the kept share over time.
enum class DropCourse {
    Stages, ///< by the stages
    Curve,  ///< α(t) = (1 − ᾱ)·e^(−γ_f·t/T) + ᾱ over all T steps (progressive layer dropping)
};
/// The weights of layers that are added by a stage, before their first step.
enum class GrowthSource {
    Fresh,    ///< as they are initialised
    Top,      ///< copies of the top layers, placed on top of them (gradual stacking; bert2BERT if the depth doubles)
    Adjacent, ///< copies of the top layers, each placed right after its source (LEMON's order)
};
/// The initial value of a new layer's last matrices, which write to the residual.
enum class GrowthWrites {
    Copied,
    Zero, ///< no output at first, so that the network computes the same function as before
};
/// The optimiser state of new layers' weights.
enum class GrowthMoments { Copied, Empty };
/// The treatment of weights that a step leaves out.
enum class AbsentWeights {
    ZeroGradient, ///< moments decay and weight decay applies
    Untouched,
};

/// From step `start` on, layers outside `always` are kept so that `averageLength` layers remain on average.
struct Stage {
    std::int64_t start = 0;
    double averageLength = 0;
    std::vector<std::int64_t> always; ///< I_s; layers 1..L
    bool operator==(const Stage&) const = default;
};

/// The parts of the network that train at each time: stages or a curve, and the way that layers and their parts are
/// left out of a step. Without stages and curve, the whole network always trains.
struct StageSchedule {
    std::vector<Stage> stages;
    DropAxis axis = DropAxis::Layers;
    DropUnit unit = DropUnit::Layer;
    DropSampling sampling = DropSampling::Bernoulli;
    DropScaling scaling = DropScaling::SquareRoot;
    std::int64_t mlpParts = 4; ///< equal parts of an MLP's hidden features
    DropCourse course = DropCourse::Stages;
    double curveFloor = 0.5; ///< ᾱ
    double curveRate = 100;  ///< γ_f
    GrowthSource growth = GrowthSource::Fresh;
    std::int64_t growthWarmup = 0; ///< steps in which the branches of new layers are scaled from 0 to 1
    GrowthWrites growthWrites = GrowthWrites::Copied;
    GrowthMoments growthMoments = GrowthMoments::Copied;
    AbsentWeights absentWeights = AbsentWeights::ZeroGradient;
    std::int64_t fullModelSteps = 0; ///< optional initial phase with every layer
    bool operator==(const StageSchedule&) const = default;
};

enum class InitLaw { Normal, XavierUniform, KaimingNormal, Orthogonal, Identity, TruncatedNormal };
/// The computation of the two factors of a weight. To add one, add an enumerator, its entry in kLowRankMethods, and its
/// computation in engine/maths/lowrank.
enum class LowRankMethod { Baseline, Spectral, Lfai, LfaiWs, ReluSvd, Exact };
/// The properties of a method for all code except its computation.
struct LowRankTraits {
    LowRankMethod method = LowRankMethod::Baseline;
    std::string_view key;            ///< name in the file
    std::string_view title;          ///< name within a sentence
    bool approximates = true;        ///< true if the factors approximate a full weight; else they are drawn
    bool looksAtWhatFollows = false; ///< true if the fit includes the activation or attention that follows the weight
};
/// Ordered as the enumerators, which is the order of the choices.
inline constexpr LowRankTraits kLowRankMethods[] = {
    {.method = LowRankMethod::Baseline, .key = "baseline", .title = "baseline", .approximates = false},
    {.method = LowRankMethod::Spectral, .key = "spectral", .title = "spectral"},
    {.method = LowRankMethod::Lfai, .key = "lfai", .title = "LFAI", .looksAtWhatFollows = true},
    {.method = LowRankMethod::LfaiWs, .key = "lfai_ws", .title = "LFAI-WS", .looksAtWhatFollows = true},
    {.method = LowRankMethod::ReluSvd, .key = "relu_svd", .title = "ReLU-SVD"},
    {.method = LowRankMethod::Exact, .key = "exact", .title = "exact gradient", .looksAtWhatFollows = true},
};
static_assert([] {
    for (std::size_t i = 0; i < std::size(kLowRankMethods); ++i) {
        if (kLowRankMethods[i].method != static_cast<LowRankMethod>(i)) {
            return false;
        }
    }
    return std::size(kLowRankMethods) == static_cast<std::size_t>(LowRankMethod::Exact) + 1;
}());
[[nodiscard]] constexpr const LowRankTraits& traitsOf(LowRankMethod method)
{
    return kLowRankMethods[static_cast<std::size_t>(method)];
}
/// The inputs on which a factored layer is fitted to the full one (NLRA, remark 4.1).
enum class LowRankInputs {
    Gaussian, ///< standard normal
    Data,     ///< normal with the second moments of the layer's inputs on a batch of the data
};

/// The most epochs of LFAI and LFAI-WS in the paper (NLRA, 4.1.2).
inline constexpr std::int64_t kLfaiEpochs = 6;

/// The initialisation of weights.
struct Initialisation {
    InitLaw law = InitLaw::Normal;
    double scale = 0.02;              ///< standard deviation (normal) or gain
    bool scaleResidualByDepth = true; ///< weights that write to the residual start at scale/√(2L)
    LowRankMethod lowRank = LowRankMethod::Baseline;
    LowRankInputs lowRankInputs = LowRankInputs::Gaussian;
    std::int64_t lowRankEpochs = kLfaiEpochs; ///< maximum for LFAI and LFAI-WS
    bool operator==(const Initialisation&) const = default;
};

/// The seeds of all random draws. Each can be changed independently of the others.
struct Seeds {
    std::int64_t data = 1;
    std::int64_t init = 2;
    std::int64_t order = 3;  ///< the order of batches
    std::int64_t stages = 4; ///< parts that a step leaves out: layers, heads, dropout
    bool operator==(const Seeds&) const = default;
};

/// Returns the learning rate at `step` in 1..plan.steps.
[[nodiscard]] double learningRateAt(const TrainingPlan& plan, const StageSchedule& schedule, std::int64_t step);

} // namespace residua::projects
