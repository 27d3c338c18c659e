// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property_list.h"

#include "projects/model/training_plan.h"

#include <utility>

namespace residua::app {

namespace {

using projects::AdamW;
using projects::Initialisation;
using projects::Project;
using projects::Seeds;
using projects::Sgd;
using projects::StageSchedule;
using projects::TrainingPlan;
using Text = PropertyText;

constexpr double kSeedMaximum = 9.0e15; // whole numbers up to here survive a double

void addLength(PropertyList<TrainingPlan>& list, const Project& project)
{
    list.group(Text::tr("Length and batches"));
    list.add("steps", Text::tr("Steps"), [](auto& p) -> auto& { return p.steps; },
             {.unit = Text::tr("steps"), .help = Text::tr("Optimiser steps of the whole run."), .minimum = 1});
    list.add("batching", Text::tr("Batches"), [](auto& p) -> auto& { return p.batching; },
             {.help = Text::tr("Random draws, or the full training set at every step."),
              .paper = Text::tr("full batch in ANCRe §3"),
              .choices = {Text::tr("Random"), Text::tr("Full set")}});
    list.add("batch", Text::tr("Batch"), [](auto& p) -> auto& { return p.batch; },
             {.unit = isLanguage(project.data) ? Text::tr("sequences") : Text::tr("samples"),
              .help = Text::tr("Examples per micro-batch."),
              .paper = Text::tr("512 (LLaMA runs of ANCRe)"),
              .minimum = 1});
    list.add("accumulate", Text::tr("Accumulate"), [](auto& p) -> auto& { return p.accumulate; },
             {.unit = Text::tr("micro-batches"),
              .help = Text::tr("Micro-batches whose gradients make one step."),
              .minimum = 1});
    if (isLanguage(project.data)) {
        list.add("sequence", Text::tr("Sequence length"), [](auto& p) -> auto& { return p.sequenceLength; },
                 {.unit = Text::tr("tokens"),
                  .help = Text::tr("Tokens per example."),
                  .paper = Text::tr("256 (LLaMA runs of ANCRe)"),
                  .minimum = 1});
    }
}

void addOptimiser(PropertyList<TrainingPlan>& list)
{
    list.group(Text::tr("Optimiser"));
    list.addChoice("optimiser", Text::tr("Optimiser"), static_cast<int>(list.current().optimiser.index()), 0,
                   {.help = Text::tr("AdamW with decoupled weight decay, or stochastic gradient descent."),
                    .choices = {QStringLiteral("AdamW"), QStringLiteral("SGD")}},
                   [](TrainingPlan& plan, int kind) {
                       if (kind == 0) {
                           alternative<AdamW>(plan.optimiser);
                       } else {
                           alternative<Sgd>(plan.optimiser);
                       }
                   });
    if (std::holds_alternative<AdamW>(list.current().optimiser)) {
        list.add("adamw.beta1", Text::tr("β₁"), [](auto& p) -> auto& { return alternative<AdamW>(p.optimiser).beta1; },
                 {.help = Text::tr("Decay of the first moment."), .paper = QStringLiteral("0.9"), .maximum = 1});
        list.add("adamw.beta2", Text::tr("β₂"), [](auto& p) -> auto& { return alternative<AdamW>(p.optimiser).beta2; },
                 {.help = Text::tr("Decay of the second moment."), .paper = QStringLiteral("0.98"), .maximum = 1});
        list.add("adamw.epsilon", Text::tr("ε"),
                 [](auto& p) -> auto& { return alternative<AdamW>(p.optimiser).epsilon; },
                 {.help = Text::tr("Added to the denominator."), .maximum = 1});
        list.add("adamw.decay", Text::tr("Weight decay"),
                 [](auto& p) -> auto& { return alternative<AdamW>(p.optimiser).weightDecay; },
                 {.help = Text::tr("Decoupled; mixing weights are left out unless the topology says otherwise."),
                  .paper = QStringLiteral("0.1"),
                  .maximum = 1e3});
    } else {
        list.add(
            "sgd.momentum", Text::tr("Momentum"),
            [](auto& p) -> auto& { return alternative<Sgd>(p.optimiser).momentum; },
            {.help = Text::tr("Share of the last step that is kept."), .paper = QStringLiteral("0.9"), .maximum = 1});
        list.add("sgd.decay", Text::tr("Weight decay"),
                 [](auto& p) -> auto& { return alternative<Sgd>(p.optimiser).weightDecay; }, {.maximum = 1e3});
    }
    list.add("clip", Text::tr("Clip gradient norm"), [](auto& p) -> auto& { return p.clipNorm; },
             {.help = Text::tr("Global norm above which gradients are scaled down; 0 turns it off."), .maximum = 1e9});
}

void addRate(PropertyList<TrainingPlan>& list)
{
    list.group(Text::tr("Learning rate"));
    list.add("rate.peak", Text::tr("Peak"), [](auto& p) -> auto& { return p.rate.peak; },
             {.help = Text::tr("Rate at the end of the warm-up."),
              .paper = Text::tr("1.6e-3 (language), 1e-4 (BERT, DiT)"),
              .maximum = 1e6});
    list.add("rate.warmup", Text::tr("Warm-up"), [](auto& p) -> auto& { return p.rate.warmupSteps; },
             {.unit = Text::tr("steps"),
              .help = Text::tr("Steps of the linear rise to the peak."),
              .paper = Text::tr("1000 steps")});
    list.add(
        "rate.curve", Text::tr("Curve"), [](auto& p) -> auto& { return p.rate.curve; },
        {.help = Text::tr("How the rate falls after the warm-up."),
         .paper = Text::tr("inverse square root, cosine (LLaMA)"),
         .choices = {Text::tr("Constant"), Text::tr("Linear"), Text::tr("Cosine"), Text::tr("Inverse square root")}});
    list.add("rate.final", Text::tr("Final share"), [](auto& p) -> auto& { return p.rate.finalFraction; },
             {.help = Text::tr("Rate at the end as a share of the peak (linear and cosine)."), .maximum = 1});
}

void addArithmetic(PropertyList<TrainingPlan>& list)
{
    list.group(Text::tr("Arithmetic"));
    list.add("precision", Text::tr("Precision"), [](auto& p) -> auto& { return p.precision; },
             {.help = Text::tr("Number format of the forward and backward pass."),
              .paper = Text::tr("bf16 (LLaMA runs)"),
              .choices = {QStringLiteral("fp32"), QStringLiteral("bf16"), QStringLiteral("fp64")}});
    list.add("determinism", Text::tr("Repeatability"), [](auto& p) -> auto& { return p.determinism; },
             {.help = Text::tr("Deterministic runs give the same bits again; fast ones may not."),
              .choices = {Text::tr("Fast"), Text::tr("Deterministic")}});
    list.add("activations", Text::tr("Activations"), [](auto& p) -> auto& { return p.activations; },
             {.help = Text::tr("Kept for the backward pass, or computed again in it: a third more arithmetic, and of "
                               "each layer only the output is kept. The results are the same."),
              .choices = {Text::tr("Keep"), Text::tr("Compute again")}});
}

void addRecord(PropertyList<TrainingPlan>& list)
{
    list.group(Text::tr("Record"));
    list.add("validate", Text::tr("Validate every"), [](auto& p) -> auto& { return p.validateEvery; },
             {.unit = Text::tr("steps"), .help = Text::tr("0: never.")});
    list.add("validation.batches", Text::tr("Validation batches"), [](auto& p) -> auto& { return p.validationBatches; },
             {.unit = Text::tr("batches"), .minimum = 1});
    list.add("checkpoint", Text::tr("Checkpoint every"), [](auto& p) -> auto& { return p.checkpointEvery; },
             {.unit = Text::tr("steps"), .help = Text::tr("0: only at the end and on stop.")});
    list.add("keep", Text::tr("Keep checkpoints"), [](auto& p) -> auto& { return p.keepCheckpoints; },
             {.help = Text::tr("The newest so many stay; 0 keeps all.")});
    list.add("keep.every", Text::tr("Keep every"), [](auto& p) -> auto& { return p.keepEvery; },
             {.unit = Text::tr("steps"), .help = Text::tr("Checkpoints of every so many steps stay too; 0: none.")});
    list.add("keep.best", Text::tr("Keep best"), [](auto& p) -> auto& { return p.keepBest; },
             {.help = Text::tr("So many of the least validation loss stay too; 0: none.")});
    list.add("observe", Text::tr("Coefficients every"), [](auto& p) -> auto& { return p.observeEvery; },
             {.unit = Text::tr("steps"),
              .help = Text::tr("Steps between two recorded coefficient matrices."),
              .minimum = 1});
}

} // namespace

std::vector<Property> trainingProperties(const Project& project)
{
    TrainingPlan defaults;
    if (project.training.optimiser.index() == 1) {
        defaults.optimiser = Sgd{};
    }
    PropertyList<TrainingPlan> list(
        project, defaults, [](const Project& p) { return p.training; },
        [](const Project&, TrainingPlan plan) { return projects::SetTraining{std::move(plan)}; });
    addLength(list, project);
    addOptimiser(list);
    addRate(list);
    addArithmetic(list);
    addRecord(list);
    return list.take();
}

std::vector<Property> stagesProperties(const Project& project)
{
    StageSchedule defaults;
    defaults.stages = project.stages.stages; // a stage has no default
    PropertyList<StageSchedule> list(
        project, std::move(defaults), [](const Project& p) { return p.stages; },
        [](const Project&, StageSchedule stages) { return projects::SetStages{std::move(stages)}; });
    list.group(Text::tr("Subnetworks"));
    list.add("axis", Text::tr("Drop"), [](auto& s) -> auto& { return s.axis; },
             {.help = Text::tr("What is left out of a step."),
              .paper = Text::tr("layers (RaPTr §4)"),
              .choices = {Text::tr("Layers"), Text::tr("Attention heads"), Text::tr("MLP parts")}});
    list.add("sampling", Text::tr("Sampling"), [](auto& s) -> auto& { return s.sampling; },
             {.help = Text::tr("Each layer by itself, or always the same number."),
              .paper = Text::tr("Bernoulli (RaPTr §2)"),
              .choices = {Text::tr("Bernoulli"), Text::tr("Fixed size")}});
    list.add("scaling", Text::tr("Branch scaling"), [](auto& s) -> auto& { return s.scaling; },
             {.help = Text::tr("How the kept branches make up for the missing ones."),
              .paper = Text::tr("square root (RaPTr, appendix J)"),
              .choices = {Text::tr("Square root"), Text::tr("Linear"), Text::tr("None")}});
    list.add("full", Text::tr("Full model first"), [](auto& s) -> auto& { return s.fullModelSteps; },
             {.unit = Text::tr("steps"), .help = Text::tr("Steps with every layer before the first stage.")});
    for (std::size_t i = 0; i < project.stages.stages.size(); ++i) {
        list.group(Text::tr("Stage %1").arg(i + 1));
        const std::string key = "stage" + std::to_string(i);
        list.add(key + ".start", Text::tr("Start"), [i](auto& s) -> auto& { return s.stages.at(i).start; },
                 {.unit = Text::tr("steps")});
        list.add(key + ".length",
                 Text::tr("Average length"), [i](auto& s) -> auto& { return s.stages.at(i).averageLength; },
                 {.unit = Text::tr("layers"), .maximum = static_cast<double>(project.network.depth())});
    }
    return list.take();
}

std::vector<Property> initialisationProperties(const Project& project)
{
    PropertyList<Initialisation> list(
        project, {}, [](const Project& p) { return p.initialisation; },
        [](const Project&, Initialisation value) { return projects::SetInitialisation{value}; });
    list.add("law", Text::tr("Law"), [](auto& v) -> auto& { return v.law; },
             {.help = Text::tr("The distribution that weights are drawn from."),
              .choices = {Text::tr("Normal"), Text::tr("Xavier uniform"), Text::tr("Kaiming normal"),
                          Text::tr("Orthogonal"), Text::tr("Identity")}});
    list.add("scale", Text::tr("Scale"), [](auto& v) -> auto& { return v.scale; },
             {.help = Text::tr("Standard deviation (normal), or gain."),
              .paper = Text::tr("0.02 (GPT-2 style)"),
              .maximum = 1e6});
    list.add("depth", Text::tr("Scale by depth"), [](auto& v) -> auto& { return v.scaleResidualByDepth; },
             {.help = Text::tr("What writes to the residual starts at scale/√(2L).")});
    list.add("lowrank", Text::tr("Low-rank factors"), [](auto& v) -> auto& { return v.lowRank; },
             {.help = Text::tr("How U and V of a low-rank layer are found."),
              .paper = Text::tr("LFAI-WS (NLRA)"),
              .choices = {Text::tr("As any weight"), Text::tr("Spectral"), QStringLiteral("LFAI"),
                          QStringLiteral("LFAI-WS"), QStringLiteral("ReLU-SVD"), Text::tr("NLRA, exact gradient")}});
    return list.take();
}

std::vector<Property> seedsProperties(const Project& project)
{
    PropertyList<Seeds> list(
        project, {}, [](const Project& p) { return p.seeds; },
        [](const Project&, Seeds value) { return projects::SetSeeds{value}; });
    list.add("data", Text::tr("Data"), [](auto& s) -> auto& { return s.data; },
             {.help = Text::tr("Seed of generated data and of the split."), .maximum = kSeedMaximum});
    list.add("init", Text::tr("Initial weights"), [](auto& s) -> auto& { return s.init; }, {.maximum = kSeedMaximum});
    list.add("order", Text::tr("Order of batches"), [](auto& s) -> auto& { return s.order; },
             {.maximum = kSeedMaximum});
    list.add("stages", Text::tr("Subnetworks"), [](auto& s) -> auto& { return s.stages; },
             {.help = Text::tr("Seed of subnetworks and dropout."), .maximum = kSeedMaximum});
    return list.take();
}

} // namespace residua::app
