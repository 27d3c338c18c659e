// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace residua::projects {

/// Decoupled weight decay Adam, fused.
struct AdamW {
    double beta1 = 0.9;
    double beta2 = 0.98;
    double epsilon = 1e-8;
    double weightDecay = 0.1;
    bool operator==(const AdamW&) const = default;
};
struct Sgd {
    double momentum = 0.0;
    double weightDecay = 0.0;
    bool operator==(const Sgd&) const = default;
};
using Optimiser = std::variant<AdamW, Sgd>;

enum class RateCurve { Constant, Linear, Cosine, InverseSquareRoot };
/// From where on the curve goes down. Without stages both are the same.
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

enum class Precision { Fp32, Bf16, Fp64 };
/// In which numbers the residual is kept under bf16: what is carried from layer to layer. A wiring may ask for full
/// entries (keepsFullEntries).
enum class ResidualPrecision { Fp32, Bf16 };
enum class Determinism { Fast, Deterministic };
/// Full: every step sees the whole training set in order (ANCRe §3's full-batch gradient descent).
enum class BatchKind { Random, Full };
/// What the backward pass finds of the inside of a layer: kept, or computed again from the layer's inputs.
enum class Activations { Keep, Recompute };

/// What decays of a weight that is held as a product u·v.
enum class FactorDecay {
    Factors, ///< each factor, as any weight: the optimiser's weight decay
    Product, ///< λ/2·‖u·v‖_F² in the objective, and no decay of the factors (Frobenius decay)
};

struct TrainingPlan {
    std::int64_t steps = 1000;
    BatchKind batching = BatchKind::Random;
    std::int64_t batch = 16;           ///< sequences or vectors per micro-batch
    std::int64_t accumulate = 1;       ///< micro-batches per step
    std::int64_t sequenceLength = 128; ///< tokens; language only
    Optimiser optimiser = AdamW{};
    FactorDecay factorDecay = FactorDecay::Factors;
    double frobeniusDecay = 0.3; ///< λ of FactorDecay::Product
    LearningRate learningRate;
    double clipNorm = 1.0; ///< global gradient norm; 0: off
    Precision precision = Precision::Fp32;
    ResidualPrecision residualPrecision = ResidualPrecision::Fp32; ///< says something under bf16 alone
    Determinism determinism = Determinism::Deterministic;
    Activations activations = Activations::Keep;
    std::int64_t validateEvery = 100; ///< steps; 0: never
    std::int64_t validationBatches = 8;
    std::int64_t checkpointEvery = 500; ///< steps; 0: only at the end and on stop
    std::int64_t keepCheckpoints = 3;   ///< the newest so many stay; 0: all
    std::int64_t keepEvery = 0;         ///< those of every so many steps stay too; 0: none
    std::int64_t keepBest = 0;          ///< so many with the least validation loss stay too; 0: none
    std::int64_t observeEvery = 20;     ///< steps between recorded coefficient matrices
    std::int64_t stabilityEvery = 0;    ///< steps between measurements of what each layer does alone; 0: never
    bool operator==(const TrainingPlan&) const = default;
};

/// What a step may leave out: whole layers, attention heads, parts of the MLP (RaPTr §2, §4.3).
enum class DropAxis { Layers, Heads, Mlp, LayersAndHeads, LayersAndMlp, HeadsAndMlp, All };
/// Who of those outside the always-kept set trains in a step.
enum class DropSampling {
    Bernoulli,      ///< each by itself, with p_s
    FixedSize,      ///< always the same number, at random
    DeeperSeldomer, ///< each by itself, layer l the less often the deeper: 1 − l/L·(1 − α) (stochastic depth)
    First,          ///< the first ones: a network that grows
};
/// How the kept layers' branches make up for the missing ones.
enum class DropScaling {
    SquareRoot,         ///< √(j̄ − j), j̄ the next kept layer (RaPTr, appendix J)
    Linear,             ///< j̄ − j
    InverseProbability, ///< 1/p in training (progressive layer dropping)
    Evaluation,         ///< p in evaluation (stochastic depth)
    EvaluationInverse,  ///< 1/p in evaluation, as RaPTr's appendix J writes it
    None,
};
/// How the kept share goes on in time.
enum class DropCourse {
    Stages, ///< by the stages
    Curve,  ///< α(t) = (1 − ᾱ)·e^(−γ_f·t/T) + ᾱ over all T steps (progressive layer dropping)
};
/// What the weights of layers that begin with a stage are before their first step.
enum class GrowthSource {
    Fresh,    ///< as they are initialised
    Top,      ///< copies of the top layers, put upon them (gradual stacking; bert2BERT where the depth doubles)
    Adjacent, ///< copies of the top layers, each put right after its source (LEMON's order)
};
/// What a new layer's last matrices, which write to the residual, start with.
enum class GrowthWrites {
    Copied,
    Zero, ///< nothing is written at first: the network computes what it did before
};
/// What the optimiser holds of the weights of new layers.
enum class GrowthMoments { Copied, Empty };
/// What a step does with the weights of what it leaves out.
enum class AbsentWeights {
    ZeroGradient, ///< their moments fade and decay applies
    Untouched,
};

/// From `start` on, layers outside `always` are kept so that `averageLength` remain on average.
struct Stage {
    std::int64_t start = 0;
    double averageLength = 0;
    std::vector<std::int64_t> always; ///< I_s; layers 1..L
    bool operator==(const Stage&) const = default;
};

/// What of the network trains when: its stages or curve, and how layers and parts of them are left out of a step.
/// Without stages and curve: all of it, always.
struct StageSchedule {
    std::vector<Stage> stages;
    DropAxis axis = DropAxis::Layers;
    DropSampling sampling = DropSampling::Bernoulli;
    DropScaling scaling = DropScaling::SquareRoot;
    std::int64_t mlpParts = 4; ///< equal parts of an MLP's hidden features
    DropCourse course = DropCourse::Stages;
    double curveFloor = 0.5; ///< ᾱ
    double curveRate = 100;  ///< γ_f
    GrowthSource growth = GrowthSource::Fresh;
    std::int64_t growthWarmup = 0; ///< steps in which the branches of new layers open from 0 to 1
    GrowthWrites growthWrites = GrowthWrites::Copied;
    GrowthMoments growthMoments = GrowthMoments::Copied;
    AbsentWeights absentWeights = AbsentWeights::ZeroGradient;
    std::int64_t fullModelSteps = 0; ///< optional initial phase with every layer
    bool operator==(const StageSchedule&) const = default;
};

enum class InitLaw { Normal, XavierUniform, KaimingNormal, Orthogonal, Identity, TruncatedNormal };
/// How the two factors of a weight are found. A new one is an enumerator with its entry in kLowRankMethods, and its
/// computation in engine/lowrank.
enum class LowRankMethod { Baseline, Spectral, Lfai, LfaiWs, ReluSvd, Exact };
/// What a method is to all but its computation.
struct LowRankTraits {
    LowRankMethod method = LowRankMethod::Baseline;
    std::string_view key;            ///< in the file
    std::string_view title;          ///< as within a sentence
    bool approximates = true;        ///< the factors come from a full weight; else they are drawn, and it is forgotten
    bool looksAtWhatFollows = false; ///< the fit is of the weight with the activation or attention that follows it
};
/// In the order of the enumerators, which is that of the choices.
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
/// Over which inputs a factored layer's function is fitted to the full one's (NLRA, remark 4.1).
enum class LowRankInputs {
    Gaussian, ///< standard normal
    Data,     ///< normal with the second moments of the layer's inputs on a batch of the data
};

/// The most epochs of LFAI and LFAI-WS in the paper (NLRA, 4.1.2).
inline constexpr std::int64_t kLfaiEpochs = 6;

/// How weights start.
struct Initialisation {
    InitLaw law = InitLaw::Normal;
    double scale = 0.02;              ///< standard deviation (normal) or gain
    bool scaleResidualByDepth = true; ///< what writes to the residual starts at scale/√(2L)
    LowRankMethod lowRank = LowRankMethod::Baseline;
    LowRankInputs lowRankInputs = LowRankInputs::Gaussian;
    std::int64_t lowRankEpochs = kLfaiEpochs; ///< of LFAI and LFAI-WS, at most
    bool operator==(const Initialisation&) const = default;
};

/// Every random draw comes from one of these, so that one can be changed while the others stand.
struct Seeds {
    std::int64_t data = 1;
    std::int64_t init = 2;
    std::int64_t order = 3;  ///< the order of batches
    std::int64_t stages = 4; ///< what a step leaves out: layers, heads, dropout
    bool operator==(const Seeds&) const = default;
};

/// The learning rate at `step` in 1..plan.steps.
[[nodiscard]] double learningRateAt(const TrainingPlan& plan, const StageSchedule& schedule, std::int64_t step);

} // namespace residua::projects
