// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
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

/// Learning rate against step: linear warm-up to `peak`, then the curve down to `peak · finalFraction`
/// (inverse square root has no end value: peak · √(warmup/step)).
struct LearningRate {
    double peak = 1e-3;
    std::int64_t warmupSteps = 100;
    RateCurve curve = RateCurve::Cosine;
    double finalFraction = 0.1;
    bool operator==(const LearningRate&) const = default;
};

enum class Precision { Fp32, Bf16, Fp64 };
/// In which numbers the residual is kept under bf16: what is carried from layer to layer, whatever the wiring.
enum class ResidualPrecision { Fp32, Bf16 };
enum class Determinism { Fast, Deterministic };
/// Full: every step sees the whole training set in order (ANCRe §3's full-batch gradient descent).
enum class BatchKind { Random, Full };
/// What the backward pass finds of the inside of a layer: kept, or computed again from the layer's inputs.
enum class Activations { Keep, Recompute };

struct TrainingPlan {
    std::int64_t steps = 1000;
    BatchKind batching = BatchKind::Random;
    std::int64_t batch = 16;           ///< sequences or vectors per micro-batch
    std::int64_t accumulate = 1;       ///< micro-batches per step
    std::int64_t sequenceLength = 128; ///< tokens; language only
    Optimiser optimiser = AdamW{};
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
    bool operator==(const TrainingPlan&) const = default;
};

/// What is dropped for a step (RaPTr §2, appendix).
enum class DropAxis { Layers, Heads, Mlp };
enum class DropSampling { Bernoulli, FixedSize };
enum class DropScaling { SquareRoot, Linear, None };

/// From `start` on, layers outside `always` are kept so that `averageLength` remain on average.
struct Stage {
    std::int64_t start = 0;
    double averageLength = 0;
    std::vector<std::int64_t> always; ///< I_s; layers 1..L
    bool operator==(const Stage&) const = default;
};

/// Which layers train when. Empty: all of them, always.
struct StageSchedule {
    std::vector<Stage> stages;
    DropAxis axis = DropAxis::Layers;
    DropSampling sampling = DropSampling::Bernoulli;
    DropScaling scaling = DropScaling::SquareRoot;
    std::int64_t fullModelSteps = 0; ///< optional initial phase with every layer
    bool operator==(const StageSchedule&) const = default;
};

enum class InitLaw { Normal, XavierUniform, KaimingNormal, Orthogonal, Identity };
enum class LowRankMethod { Baseline, Spectral, Lfai, LfaiWs, ReluSvd, NlraExact };

/// How weights start.
struct Initialisation {
    InitLaw law = InitLaw::Normal;
    double scale = 0.02;              ///< standard deviation (normal) or gain
    bool scaleResidualByDepth = true; ///< what writes to the residual starts at scale/√(2L)
    LowRankMethod lowRank = LowRankMethod::Baseline;
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
[[nodiscard]] double learningRateAt(const TrainingPlan& plan, std::int64_t step);

} // namespace residua::projects
