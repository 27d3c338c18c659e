// SPDX-License-Identifier: GPL-3.0-or-later
// The diffusion transformers of ANCRe (section 4.2): those of Peebles and Xie (2023) on latents of ImageNet.
#include "projects/library/presets.h"
#include "projects/shipped/recipes.h"

#include <string>
#include <utility>

namespace residua::projects {
namespace {

struct DitSize {
    const char* letters = "";
    std::int64_t depth = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    const char* of = ""; ///< of ANCRe
};

Recipe dit(const DitSize& size)
{
    constexpr std::int64_t kPatch = 2;
    Project project = sized("gpt", size.depth, size.width, size.heads);
    const LatentData latents{.path = {}, .validationPath = {}};
    const ImageSize image{latents.channels, latents.height, latents.width};
    Network& network = project.network;
    project.data.source = latents;
    project.data.validationFraction = 0.01;
    network.objective = Objective::Diffusion;
    network.stem = ditStem(image, kPatch);
    network.blocks = {{"dit", "", ditBlock(size.heads)}};
    network.stack().segments = {{"dit", size.depth}};
    network.head = ditHead(image, kPatch, project.data.diffusion.learnsVariance);
    project.initialisation = {.law = InitLaw::XavierUniform, .scale = 1, .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    plan.sequenceLength = 1;
    plan.batch = 256;
    plan.steps = 400'000;
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weightDecay = 0};
    plan.learningRate = {.peak = 1e-4, .warmupSteps = 0, .curve = RateCurve::Constant};
    plan.clipNorm = 0;
    plan.weightAverage = 0.9999;
    plan.evaluatedWeights = EvaluatedWeights::Averaged;
    std::string lower = size.letters;
    for (char& c : lower) {
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return {"ancre-dit-" + lower + "2",
            std::string("ANCRe: DiT-") + size.letters + "/2",
            std::to_string(size.depth) + " layers of " + std::to_string(size.width) +
                " on latents of 32 × 32 × 4 in 1,000 classes, 400,000 steps of 256" + size.of,
            std::move(project),
            "ancre-ingoing",
            {},
            {"latents are read as they are stored; DiT's runs flip pictures and draw each latent anew from the encoder",
             "the layers that embed the step start by the law of the others; DiT's with a deviation of 0.02",
             "the learned variances of step 0 have the exact normal distribution; DiT's code approximates it by tanh"}};
}

} // namespace

std::vector<Recipe> ditRecipes()
{
    return {dit({"S", 12, 384, 6, " (table 3, figure 7)"}), dit({"B", 12, 768, 12, " (table 3)"}),
            dit({"L", 24, 1024, 16}), dit({"XL", 28, 1152, 16})};
}

} // namespace residua::projects
