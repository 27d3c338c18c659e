// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"
#include "projects/schedule/kept_parts.h"
#include "projects/schema/describe.h"
#include "projects/schema/describe_optimiser.h"

#include <iterator>

namespace residua::projects {

template <>
struct Choices<RateCurve> {
    static constexpr Choice all[] = {{"constant", "constant"},
                                     {"linear", "linear"},
                                     {"cosine", "cosine"},
                                     {"inverse_square_root", "inverse square root"}};
};
template <>
struct Choices<RateDecay> {
    static constexpr Choice all[] = {{"after_warmup", "after the warm-up"}, {"in_last_stage", "in the last stage"}};
};
template <>
struct Choices<Precision> {
    static constexpr Choice all[] = {{"fp32", "fp32"}, {"bf16", "bf16"}, {"fp64", "fp64"}, {"fp8", "fp8"}};
};
template <>
struct Choices<ResidualPrecision> {
    static constexpr Choice all[] = {{"fp32", "fp32"}, {"bf16", "bf16"}};
};
template <>
struct Choices<EntryPrecision> {
    static constexpr Choice all[] = {{"residual", "as the residual"}, {"branch", "as the branch"}};
};
template <>
struct Choices<Determinism> {
    static constexpr Choice all[] = {{"fast", "fast"}, {"deterministic", "deterministic"}};
};
template <>
struct Choices<Activations> {
    static constexpr Choice all[] = {{"keep", "keep"}, {"recompute", "compute again"}};
};
template <>
struct Choices<RankStates> {
    static constexpr Choice all[] = {{"whole", "whole"}, {"divided", "divided among ranks"}};
};
template <>
struct Choices<ClipScope> {
    static constexpr Choice all[] = {{"step", "the step"}, {"losses", "each group of losses"}};
};
template <>
struct Choices<EvaluatedWeights> {
    static constexpr Choice all[] = {{"trained", "as trained"}, {"averaged", "their running mean"}};
};
template <>
struct Choices<BatchKind> {
    static constexpr Choice all[] = {{"random", "random"}, {"full", "full set"}};
};
template <>
struct Choices<DropAxis> {
    static constexpr Choice all[] = {{"layers", "layers"},
                                     {"heads", "attention heads"},
                                     {"mlp", "MLP parts"},
                                     {"layers_heads", "layers and heads"},
                                     {"layers_mlp", "layers and MLP parts"},
                                     {"heads_mlp", "heads and MLP parts"},
                                     {"all", "layers, heads and MLP parts"}};
};
template <>
struct Choices<DropUnit> {
    static constexpr Choice all[] = {{"layer", "layer"}, {"visit", "whole visit of a loop"}};
};
template <>
struct Choices<DropSampling> {
    static constexpr Choice all[] = {{"bernoulli", "Bernoulli"},
                                     {"fixed_size", "fixed size"},
                                     {"deeper_seldomer", "deeper layers less often"},
                                     {"first", "the first ones"}};
};
template <>
struct Choices<DropScaling> {
    static constexpr Choice all[] = {{"square_root", "square root"},
                                     {"linear", "linear"},
                                     {"inverse_probability", "1/p in training"},
                                     {"evaluation", "p in evaluation"},
                                     {"evaluation_inverse", "1/p in evaluation"},
                                     {"none", "none"}};
};
template <>
struct Choices<DropCourse> {
    static constexpr Choice all[] = {{"stages", "stages"}, {"curve", "a curve"}};
};
template <>
struct Choices<GrowthSource> {
    static constexpr Choice all[] = {
        {"fresh", "as initialised"}, {"top", "top layers, on top"}, {"adjacent", "top layers, each beside itself"}};
};
template <>
struct Choices<GrowthWrites> {
    static constexpr Choice all[] = {{"copied", "as copied"}, {"zero", "nothing"}};
};
template <>
struct Choices<GrowthMoments> {
    static constexpr Choice all[] = {{"copied", "copied"}, {"empty", "empty"}};
};
template <>
struct Choices<AbsentWeights> {
    static constexpr Choice all[] = {{"zero_gradient", "a zero gradient"}, {"untouched", "nothing"}};
};
template <>
struct Choices<InitLaw> {
    static constexpr Choice all[] = {{"normal", "normal"},
                                     {"xavier_uniform", "Xavier uniform"},
                                     {"kaiming_normal", "Kaiming normal"},
                                     {"orthogonal", "orthogonal"},
                                     {"identity", "identity"},
                                     {"truncated_normal", "truncated normal"}};
};
template <>
struct Choices<LowRankMethod> {
    static constexpr auto all = choicesByTraits<LowRankMethod, std::size(kLowRankMethods)>();
};
template <>
struct Choices<LowRankInputs> {
    static constexpr Choice all[] = {{"gaussian", "Gaussian"}, {"data", "a batch of the data"}};
};
template <>
struct Choices<FactorDecay> {
    static constexpr Choice all[] = {{"factors", "each factor"}, {"product", "their product"}};
};
template <>
struct Fields<LearningRate> {
    static bool fallsToAShare(const LearningRate& rate)
    {
        return rate.curve == RateCurve::Linear || rate.curve == RateCurve::Cosine;
    }

    static constexpr void visit(auto&& v)
    {
        v({"peak",
           "peak",
           "Rate at the end of the warm-up.",
           {.range = Range::moreThan(0), .paper = "1.6e-3 (language), 1e-4 (BERT, DiT)"}},
          &LearningRate::peak);
        v({"warmup_steps",
           "warm-up",
           "Steps of the linear rise to the peak.",
           {.unit = "steps", .range = Range::atLeast(0), .paper = "1000 steps"}},
          &LearningRate::warmupSteps);
        v({"curve", "curve", "How the rate falls after the warm-up.", {.paper = "inverse square root, cosine (LLaMA)"}},
          &LearningRate::curve);
        v({"final_fraction",
           "final share",
           "Rate at the end as a share of the peak (linear and cosine).",
           {.range = Range::within(0, 1), .where = when<fallsToAShare>}},
          &LearningRate::finalFraction);
        v({"decay",
           "falls",
           "Where the fall begins; in the last stage, the rate is constant until then.",
           {.paper = "in the last stage (RaPTr §4)"}},
          &LearningRate::decay);
    }
};
/// The largest number of steps of a run. More would never end, and numbers of this size do not overflow.
inline constexpr double kMostTrainingSteps = 1e12;
inline constexpr double kMostKeptCheckpoints = 1e6;

template <>
struct Fields<TrainingPlan> {
    static bool hasSequences(const Project& project);
    static bool productsDecay(const TrainingPlan& plan) { return plan.factorDecay == FactorDecay::Product; }
    static bool clips(const TrainingPlan& plan) { return plan.clipNorm > 0; }
    static bool averages(const TrainingPlan& plan) { return plan.weightAverage > 0; }
    static bool isBf16(const TrainingPlan& plan) { return roundsToBf16(plan.precision); }
    static bool hasResidualFp32(const TrainingPlan& plan)
    {
        return isBf16(plan) && plan.residualPrecision == ResidualPrecision::Fp32;
    }

    static constexpr void visit(auto&& v)
    {
        v({"steps",
           "steps",
           "Optimiser steps of the whole run.",
           {.unit = "steps", .range = Range::within(1, kMostTrainingSteps), .group = "length and batches"}},
          &TrainingPlan::steps);
        v({"batching",
           "batching",
           "Random draws, or the full training set at every step.",
           {.paper = "full batch in ANCRe §3"}},
          &TrainingPlan::batching);
        v({"batch",
           "batch",
           "Sequences of tokens, or vectors, in a micro-batch.",
           {.unit = "examples", .range = Range::within(1, 10'000'000), .paper = "512 (LLaMA runs of ANCRe)"}},
          &TrainingPlan::batch);
        v({"accumulate",
           "accumulate",
           "Micro-batches whose gradients make one step.",
           {.unit = "micro-batches", .range = Range::within(1, 1'000'000)}},
          &TrainingPlan::accumulate);
        v({"sequence_length",
           "sequence length",
           "Tokens of an example; language only.",
           {.unit = "tokens",
            .range = Range::within(1, 10'000'000),
            .paper = "256 (LLaMA runs of ANCRe)",
            .where = when<hasSequences>}},
          &TrainingPlan::sequenceLength);
        v({"optimiser", "optimiser", "The algorithm of all parameters that are in no group.", {.group = "optimiser"}},
          &TrainingPlan::optimiser);
        v({"groups",
           "groups",
           "Parameters with another algorithm, rate or decay; the first group that has a parameter counts.",
           {.item = "parameter group"}},
          &TrainingPlan::groups);
        v({"factor_decay",
           "decay of factored weights",
           "Weight decay of each factor, or λ/2·‖u·v‖² of their product in the objective and no decay of the factors.",
           {.paper = "either (NLRA, section 4.1)"}},
          &TrainingPlan::factorDecay);
        v({"frobenius_decay",
           "Frobenius decay",
           "λ of the products' decay, where that is chosen.",
           {.range = Range::atLeast(0), .paper = "0.3 (NLRA, ResNet-50)", .where = when<productsDecay>}},
          &TrainingPlan::frobeniusDecay);
        v({"learning_rate", "learning rate", "The rate against the step.", {.group = "learning rate"}},
          &TrainingPlan::learningRate);
        v({"clip_norm",
           "clip norm",
           "Global norm above which gradients are scaled down; 0 turns it off.",
           {.range = Range::atLeast(0), .group = "arithmetic"}},
          &TrainingPlan::clipNorm);
        v({"clip_scope",
           "clipped",
           "The gradients of the whole step, or those of each group of losses that train the same towers by their own "
           "norm before they are added.",
           {.inFiles = InFiles::IfSet, .where = when<clips>}},
          &TrainingPlan::clipScope);
        v({"weight_average",
           "running mean of weights",
           "Share of the old mean that each step keeps; 0 keeps no mean of the weights.",
           {.range = Range::halfOpen(0, 1), .paper = "0.9999 (DiT)", .inFiles = InFiles::IfSet}},
          &TrainingPlan::weightAverage);
        v({"evaluated_weights",
           "evaluated weights",
           "The weights that validation, samples, measurements and exports use: as trained, or their running mean.",
           {.inFiles = InFiles::IfSet, .where = when<averages>}},
          &TrainingPlan::evaluatedWeights);
        v({"precision",
           "precision",
           "Number format of the forward and backward pass; fp8 is bf16 whose linear layers multiply in 8 bits.",
           {.paper = "bf16 (LLaMA runs)"}},
          &TrainingPlan::precision);
        v({"residual_precision",
           "residual under bf16",
           "Numbers of the sums, stack entries and streams between layers where the precision is bf16, for every "
           "wiring but Attention Residuals, whose entries stay in fp32; fp32 takes twice their memory and rounds "
           "nothing from layer to layer.",
           {.where = when<isBf16>}},
          &TrainingPlan::residualPrecision);
        v({"entry_precision",
           "entries of branches under bf16",
           "Numbers of mixes and stack entries where layers read mixes of branches (DCA, GRN) and the residual is in "
           "fp32: fp32 as the residual, or bf16 as the branches, which halves their memory.",
           {.where = when<hasResidualFp32>}},
          &TrainingPlan::entryPrecision);
        v({"determinism", "determinism",
           "Deterministic runs give the same bits again, fast ones on a GPU may not; without cuDNN's attention a "
           "deterministic step took 1.02 times as long on an H200 at 256 tokens a sequence, and 1.06 times at 1,024."},
          &TrainingPlan::determinism);
        v({"activations", "activations",
           "Kept for the backward pass, or computed again in it: a third more arithmetic, and of each layer only the "
           "output is kept; the results are the same."},
          &TrainingPlan::activations);
        v({"rank_states", "optimiser states",
           "Whole on each of several ranks, or divided: each keeps those of its share of the parameters, updates them "
           "and sends the values to the others."},
          &TrainingPlan::rankStates);
        v({"validate_every",
           "validate every",
           "Steps between two validations; 0: never.",
           {.unit = "steps", .range = Range::atLeast(0), .group = "record"}},
          &TrainingPlan::validateEvery);
        v({"validation_batches",
           "validation batches",
           "Batches whose mean loss is a validation.",
           {.unit = "batches", .range = Range::atLeast(1)}},
          &TrainingPlan::validationBatches);
        v({"judged_by",
           "judged by",
           "The tower whose objective is the run's loss, which validations, best checkpoints and sweeps compare; "
           "empty: the first one.",
           {.inFiles = InFiles::IfSet}},
          &TrainingPlan::judgedBy);
        v({"checkpoint_every",
           "checkpoint every",
           "Steps between two checkpoints; 0: only at the end and on stop.",
           {.unit = "steps", .range = Range::atLeast(0)}},
          &TrainingPlan::checkpointEvery);
        v({"keep_checkpoints",
           "keep checkpoints",
           "The newest so many stay; 0 keeps all.",
           {.unit = "checkpoints", .range = Range::within(0, kMostKeptCheckpoints)}},
          &TrainingPlan::keepCheckpoints);
        v({"keep_every",
           "keep every",
           "Checkpoints of every so many steps stay too; 0: none.",
           {.unit = "steps", .range = Range::within(0, kMostTrainingSteps)}},
          &TrainingPlan::keepEvery);
        v({"keep_best",
           "keep best",
           "So many of the least validation loss stay too; 0: none.",
           {.unit = "checkpoints", .range = Range::within(0, kMostKeptCheckpoints)}},
          &TrainingPlan::keepBest);
        v({"observe_every",
           "observe every",
           "Steps between two recorded coefficient matrices.",
           {.unit = "steps", .range = Range::atLeast(1)}},
          &TrainingPlan::observeEvery);
        v({"stability_every",
           "stability every",
           "Steps between two measurements of the network without each of its layers in turn (Ψ), each at L + 1 times "
           "the "
           "cost of a validation of the same batches; 0: never.",
           {.unit = "steps", .range = Range::atLeast(0)}},
          &TrainingPlan::stabilityEvery);
    }
};
template <>
inline constexpr std::size_t kMostOf<Stage> = 1024;

template <>
inline constexpr bool kInline<Stage> = true;
template <>
struct Fields<Stage> {
    static constexpr void visit(auto&& v)
    {
        v({"start", "start", "The step from which it holds.", {.unit = "steps", .range = Range::atLeast(0)}},
          &Stage::start);
        v({"average_length",
           "average length",
           "Layers that train in a step, on average.",
           {.unit = "layers", .range = Range::within(0, kMaxLayers)}},
          &Stage::averageLength);
        v({"always", "always", "Layers that train in every step, from 1."}, &Stage::always);
    }
};
template <>
struct Fields<StageSchedule> {
    static bool cutsMlps(const StageSchedule& schedule) { return leavesOutMlp(schedule.axis); }
    static bool cutsLayers(const StageSchedule& schedule) { return leavesOutLayers(schedule.axis); }
    static bool isCurve(const StageSchedule& schedule) { return schedule.course == DropCourse::Curve; }
    /// New layers are made only in a network that trains the first layers.
    static bool makesLayers(const StageSchedule& schedule) { return schedule.sampling == DropSampling::First; }

    static constexpr void visit(auto&& v)
    {
        v({"stages",
           "stages",
           "From which step on how many layers train; none: all of them, always.",
           {.item = "stage"}},
          &StageSchedule::stages);
        v({"axis", "axis", "What is left out of a step.", {.paper = "layers (RaPTr §4)", .group = "subnetworks"}},
          &StageSchedule::axis);
        v({"unit",
           "unit",
           "Layers are left out one by one, or the layers of a loop by whole visits, of which one is always kept.",
           {.paper = "layer (RaPTr §2)", .inFiles = InFiles::IfSet, .where = when<cutsLayers>}},
          &StageSchedule::unit);
        v({"sampling",
           "sampling",
           "Each layer by itself, always the same number, or the first ones alone: a network that grows.",
           {.paper = "Bernoulli (RaPTr §2)"}},
          &StageSchedule::sampling);
        v({"scaling",
           "branch scaling",
           "How the kept layers' branches make up for the missing ones; p in evaluation is Huang et al.'s, 1/p what "
           "RaPTr's appendix J says without scaling, and 1/p in training is PLD's, of attention and FFN each.",
           {.paper = "square root (RaPTr, appendix J)"}},
          &StageSchedule::scaling);
        v({"mlp_parts",
           "MLP parts",
           "Equal parts of each MLP's hidden features that are kept or left out.",
           {.range = Range::within(1, 4096), .paper = "4 (RaPTr §4.3)", .where = when<cutsMlps>}},
          &StageSchedule::mlpParts);
        v({"course", "course", "The kept share by the stages, or by a curve that falls from 1 to ᾱ."},
          &StageSchedule::course);
        v({"curve_floor",
           "ᾱ",
           "Where the curve ends: the share that the last layer keeps.",
           {.range = Range::halfOpenLow(0, 1), .paper = "0.5 (PLD)", .where = when<isCurve>}},
          &StageSchedule::curveFloor);
        v({"curve_rate",
           "γ_f",
           "How fast the curve falls: α(t) = (1 − ᾱ)·exp(−γ_f·t/T) + ᾱ, T the steps that the run began with.",
           {.range = Range::moreThan(0), .paper = "100 (PLD)", .where = when<isCurve>}},
          &StageSchedule::curveRate);
        v({"absent_weights",
           "absent weights get",
           "A zero gradient lets the moments of layers, heads and MLP parts that are left out fade, and their decay go "
           "on.",
           {.paper = "a zero gradient"}},
          &StageSchedule::absentWeights);
        v({"growth",
           "new layers",
           "What layers that begin with a stage are made of, where the first ones train.",
           {.paper = "top layers, on top (gradual stacking)", .group = "growth", .where = when<makesLayers>}},
          &StageSchedule::growth);
        v({"growth_writes",
           "new layers write",
           "Nothing keeps what the network computes: their last matrices start with zeros.",
           {.paper = "nothing (LEMON)", .where = when<makesLayers>}},
          &StageSchedule::growthWrites);
        v({"growth_warmup",
           "opened within",
           "Steps in which the branches of new layers open from 0 to 1; 0: at once.",
           {.unit = "steps", .range = Range::atLeast(0), .paper = "a short warm-up (MSG)", .where = when<makesLayers>}},
          &StageSchedule::growthWarmup);
        v({"growth_moments",
           "new moments",
           "What the optimiser holds of the weights of new layers.",
           {.where = when<makesLayers>}},
          &StageSchedule::growthMoments);
        v({"full_model_steps",
           "full model steps",
           "Steps with every layer before the first stage.",
           {.unit = "steps", .range = Range::atLeast(0)}},
          &StageSchedule::fullModelSteps);
    }
};
template <>
struct Fields<Initialisation> {
    static constexpr void visit(auto&& v)
    {
        v({"law", "law", "The distribution that weights are drawn from."}, &Initialisation::law);
        v({"scale",
           "scale",
           "Standard deviation (normal), or gain.",
           {.range = Range::within(0, 1000), .paper = "0.02 (GPT-2 style)"}},
          &Initialisation::scale);
        v({"scale_residual_by_depth", "scale by depth", "What blocks write to the residual starts at scale/√(2L)."},
          &Initialisation::scaleResidualByDepth);
        v({"low_rank",
           "factored weights",
           "How the two factors of a weight below full rank are found; all but the first approximate the full weight.",
           {.paper = "LFAI-WS (NLRA)"}},
          &Initialisation::lowRank);
        v({"low_rank_inputs",
           "inputs of the fit",
           "Over which inputs a factored layer is fitted to the full one.",
           {.paper = "Gaussian (NLRA, remark 4.1)"}},
          &Initialisation::lowRankInputs);
        v({"low_rank_epochs",
           "epochs of the fit",
           "Of LFAI and LFAI-WS, at most; a fit that ends early and is worse than the spectral start is replaced by "
           "it.",
           {.range = Range::within(0, 1000), .paper = "6 (NLRA, 4.1.2)"}},
          &Initialisation::lowRankEpochs);
    }
};
template <>
struct Fields<Seeds> {
    static constexpr void visit(auto&& v)
    {
        v({"data", "data", "Seed of generated data and of the split.", {.range = Range::atLeast(0)}}, &Seeds::data);
        v({"init", "initial weights", "Seed of the initial weights.", {.range = Range::atLeast(0)}}, &Seeds::init);
        v({"order", "order of batches", "Seed of the order in which examples are seen.", {.range = Range::atLeast(0)}},
          &Seeds::order);
        v({"stages", "stages", "Seed of what a step leaves out: layers, heads, dropout.", {.range = Range::atLeast(0)}},
          &Seeds::stages);
    }
};

} // namespace residua::projects
