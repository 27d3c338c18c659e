// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct EnumNames<RateCurve> {
    static constexpr NameList<4> names{"constant", "linear", "cosine", "inverse_square_root"};
};
template <>
struct EnumNames<Precision> {
    static constexpr NameList<3> names{"fp32", "bf16", "fp64"};
};
template <>
struct EnumNames<Determinism> {
    static constexpr NameList<2> names{"fast", "deterministic"};
};
template <>
struct EnumNames<Activations> {
    static constexpr NameList<2> names{"keep", "recompute"};
};
template <>
struct EnumNames<BatchKind> {
    static constexpr NameList<2> names{"random", "full"};
};
template <>
struct EnumNames<DropAxis> {
    static constexpr NameList<3> names{"layers", "heads", "mlp"};
};
template <>
struct EnumNames<DropSampling> {
    static constexpr NameList<2> names{"bernoulli", "fixed_size"};
};
template <>
struct EnumNames<DropScaling> {
    static constexpr NameList<3> names{"square_root", "linear", "none"};
};
template <>
struct EnumNames<InitLaw> {
    static constexpr NameList<5> names{"normal", "xavier_uniform", "kaiming_normal", "orthogonal", "identity"};
};
template <>
struct EnumNames<LowRankMethod> {
    static constexpr NameList<6> names{"baseline", "spectral", "lfai", "lfai_ws", "relu_svd", "nlra_exact"};
};

template <>
struct Fields<AdamW> {
    static constexpr void visit(auto&& v)
    {
        v("beta1", &AdamW::beta1);
        v("beta2", &AdamW::beta2);
        v("epsilon", &AdamW::epsilon);
        v("weight_decay", &AdamW::weightDecay);
    }
};
template <>
struct Fields<Sgd> {
    static constexpr void visit(auto&& v)
    {
        v("momentum", &Sgd::momentum);
        v("weight_decay", &Sgd::weightDecay);
    }
};
template <>
struct Alternatives<Optimiser> {
    static constexpr NameList<2> names{"adamw", "sgd"};
};
template <>
struct Fields<LearningRate> {
    static constexpr void visit(auto&& v)
    {
        v("peak", &LearningRate::peak);
        v({"warmup_steps", "steps"}, &LearningRate::warmupSteps);
        v("curve", &LearningRate::curve);
        v("final_fraction", &LearningRate::finalFraction);
    }
};
template <>
struct Fields<TrainingPlan> {
    static constexpr void visit(auto&& v)
    {
        v({"steps", "steps"}, &TrainingPlan::steps);
        v("batching", &TrainingPlan::batching);
        v({"batch", "examples"}, &TrainingPlan::batch);
        v({"accumulate", "micro-batches"}, &TrainingPlan::accumulate);
        v({"sequence_length", "tokens"}, &TrainingPlan::sequenceLength);
        v("optimiser", &TrainingPlan::optimiser);
        v("learning_rate", &TrainingPlan::rate);
        v("clip_norm", &TrainingPlan::clipNorm);
        v("precision", &TrainingPlan::precision);
        v("determinism", &TrainingPlan::determinism);
        v("activations", &TrainingPlan::activations);
        v({"validate_every", "steps"}, &TrainingPlan::validateEvery);
        v({"validation_batches", "batches"}, &TrainingPlan::validationBatches);
        v({"checkpoint_every", "steps"}, &TrainingPlan::checkpointEvery);
        v({"keep_checkpoints", "checkpoints"}, &TrainingPlan::keepCheckpoints);
        v({"keep_every", "steps"}, &TrainingPlan::keepEvery);
        v({"keep_best", "checkpoints"}, &TrainingPlan::keepBest);
        v({"observe_every", "steps"}, &TrainingPlan::observeEvery);
    }
};
template <>
inline constexpr bool kInline<Stage> = true;
template <>
inline constexpr std::size_t kMostOf<Stage> = 1024;
template <>
struct Fields<Stage> {
    static constexpr void visit(auto&& v)
    {
        v("start", &Stage::start);
        v({"average_length", "layers"}, &Stage::averageLength);
        v("always", &Stage::always);
    }
};
template <>
struct Fields<StageSchedule> {
    static constexpr void visit(auto&& v)
    {
        v("stages", &StageSchedule::stages);
        v("axis", &StageSchedule::axis);
        v("sampling", &StageSchedule::sampling);
        v("scaling", &StageSchedule::scaling);
        v({"full_model_steps", "steps"}, &StageSchedule::fullModelSteps);
    }
};
template <>
struct Fields<Initialisation> {
    static constexpr void visit(auto&& v)
    {
        v("law", &Initialisation::law);
        v("scale", &Initialisation::scale);
        v("scale_residual_by_depth", &Initialisation::scaleResidualByDepth);
        v("low_rank", &Initialisation::lowRank);
    }
};
template <>
struct Fields<Seeds> {
    static constexpr void visit(auto&& v)
    {
        v("data", &Seeds::data);
        v("init", &Seeds::init);
        v("order", &Seeds::order);
        v("stages", &Seeds::stages);
    }
};

} // namespace residua::projects
