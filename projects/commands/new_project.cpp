// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/new_project.h"

#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/edit/edit.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schema/describe_data.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace residua::projects {

namespace {

constexpr std::int64_t kTuningSteps = 1000;
constexpr int kMostCures = 4; ///< a cure may reveal another problem

/// Returns the example that trains on the same kind of data, which is not a world.
const Example& exampleFor(const Source& source)
{
    const char* const name = std::holds_alternative<LinearRegression>(source)    ? "linear-ancre"
                             : std::holds_alternative<LowRankRegression>(source) ? "low-rank-regression"
                             : std::holds_alternative<BooleanPolynomial>(source) ? "boolean-polynomial"
                             : std::holds_alternative<LatentData>(source)        ? "small-dit"
                             : imageSizeOf(source)                               ? "small-vit"
                                                                                 : "plain-language";
    return *findExample(name);
}

/// Returns the project that a new one with this source, and without a recipe, begins as.
Project baseFor(const Source& source)
{
    constexpr std::int64_t kBlocks = 4;
    constexpr std::int64_t kWidth = 256;
    const auto* const world = std::get_if<WorldData>(&source);
    return world != nullptr ? contrastiveLearning(*world, kBlocks, kWidth) : exampleFor(source).project;
}

/// Sets the width of vectors that enter the stack unchanged.
void setWidth(Project& project, std::int64_t width)
{
    project.stack().width = width;
    if (auto* linear = std::get_if<LinearRegression>(&project.data.source)) {
        linear->dim = width;
        linear->samples = std::max(linear->samples, width);
    } else if (auto* lowRank = std::get_if<LowRankRegression>(&project.data.source)) {
        lowRank->dim = width;
    }
}

/// Makes an encoder of labelled texts: attention in both directions that does not read padding, and `head`.
void makeClassifier(Project& project, const LabelledTextData& source, Graph head)
{
    Network& network = project.network;
    network.objective = Objective::Classification;
    network.tieHead = false;
    for (Block& block : network.blocks) {
        block.graph = withMask(bidirectional(std::move(block.graph)), "mask");
    }
    if (!source.second.empty()) {
        network.stem = withSegments(network.stem);
    }
    network.head = withMask(std::move(head), "mask");
}

/// Returns a parameter of the first node of this kind in the network's blocks or stem.
std::optional<double> paramIn(const Network& network, const std::string& kind, const std::string& param)
{
    for (const Graph* const graph : {&network.blocks.front().graph, &network.stem}) {
        const auto node = std::ranges::find_if(
            graph->nodes, [&](const Node& each) { return each.kind == kind && each.params.contains(param); });
        if (node != graph->nodes.end()) {
            return paramDouble(node->params, param);
        }
    }
    return std::nullopt;
}

/// Returns BERT's head for classes with the norm's ε and the dropout of the network's layers.
Graph tuningHead(const Network& network, const LabelledTextData& source)
{
    Graph head = pooledHead(source.tokeniser.kind == TokeniserKind::TokenizerJson ? "first_token" : "mean_pool");
    if (const std::optional<double> epsilon = paramIn(network, "layer_norm", "epsilon")) {
        std::ranges::find(head.nodes, "final_norm", &Node::name)->params["epsilon"] = *epsilon;
    }
    if (const std::optional<double> rate = paramIn(network, "dropout", "rate")) {
        insertAfter(head, std::ranges::find(head.nodes, "tanh", &Node::name)->id, "drop_pooled", "dropout",
                    {{"rate", *rate}});
    }
    return head;
}

/// Makes a network for hidden tokens one for classes, to be started from the weights of the other: names stay, the rate
/// is a fifth, and every step trains all layers (RaPTr, section 4).
void makeFineTuning(Project& project, const LabelledTextData& source)
{
    constexpr double kRateShare = 0.2;
    constexpr std::int64_t kBatch = 32;
    constexpr double kWarmupShare = 0.06;
    makeClassifier(project, source, tuningHead(project.network, source));
    TrainingPlan& plan = project.training;
    plan.learningRate.warmupSteps = std::llround(kWarmupShare * static_cast<double>(plan.steps));
    plan.batch = kBatch;
    plan.accumulate = 1;
    plan.learningRate.peak *= kRateShare;
    plan.learningRate.decay = RateDecay::AfterWarmup;
    plan.learningRate.curve = RateCurve::Constant;
    project.data.validationFraction = 0.1;
}

/// Fits the stem to the form of the pictures, and where they are noised the head too.
void makeStem(Project& project, const Source& source)
{
    const std::optional<ImageSize> image = imageSizeOf(source);
    if (image && traitsOf(project.network.objective).diffuses) {
        const std::int64_t patch = image->height % 2 == 0 && image->width % 2 == 0 ? 2 : 1;
        project.network.stem = ditStem(*image, patch);
        project.network.head = ditHead(*image, patch, project.data.diffusion.learnsVariance);
    } else if (image) {
        project.network.stem = patchStem(image->channels, image->height, image->width);
    }
}

Status change(Project& project, const Edit& edit)
{
    Document document{std::move(project), {}};
    Status applied = applyEdit(document, edit);
    project = std::move(document.project);
    return applied;
}

/// Checks that the sizes are in the ranges of a document.
Status checkSizes(const NewProject& wanted)
{
    using Size = std::tuple<const char*, const char*, std::int64_t>;
    for (const auto& [place, pointer, size] :
         {Size{"depth", "/network/stack/N/repeat", wanted.depth}, Size{"width", "/network/width", wanted.width}}) {
        const Range range = fieldOfSchema(pointer).value().field.more.range;
        if (!range.contains(size)) {
            return Error{place, "got " + std::to_string(size) + ", expected " + textOf(range)};
        }
    }
    return Done{};
}

/// If the wiring feeds q, k, v and residual, replaces the example's transformer by the authors' blocks (MUDD): queries
/// and keys have norms, and q, k and v have a norm each from layer 2 on.
void useOwnBlocks(Network& network, const Wiring& wiring)
{
    const BlockPreset& own = blockPresetFor(wiring);
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    const bool stock = network.blocks.size() == 1 && network.blocks.front().graph == blockPresets().front().graph;
    if (!stock || mix == nullptr || mix->ports != MixPorts::QkvResidual) {
        return;
    }
    const std::int64_t depth = network.depth();
    const auto first = std::ranges::find(blockPresets(), std::string_view(kFirstMuddBlock), &BlockPreset::name);
    network.blocks = {{first->name, first->name, first->graph}};
    network.stack().segments = {{first->name, 1}};
    if (depth > 1) {
        network.blocks.push_back({own.name, own.name, own.graph});
        network.stack().segments.push_back({own.name, depth - 1});
    }
}

/// Gives loops the same share of another number of stored layers.
void fitLoops(Stack& stack, std::int64_t depth)
{
    const std::int64_t stored = std::max<std::int64_t>(stack.stored(), 1);
    for (Loop& loop : stack.loops) {
        loop.first = 1 + (loop.first - 1) * depth / stored;
        loop.last = std::max(loop.first, loop.last * depth / stored);
    }
}

void cure(Project& project)
{
    for (int i = 0; i < kMostCures; ++i) {
        for (const Problem& problem : validate(project)) {
            const auto found = problem.severity == Severity::Error ? cureOf(project, problem) : std::nullopt;
            if (found && change(project, found->edit)) {
                break;
            }
        }
    }
}

/// Sets the recipe's stages. Another depth has stages of the same shares.
Status takeSchedule(Project& project, const Recipe& recipe)
{
    if (recipe.schedule.empty()) {
        return Done{};
    }
    const std::int64_t depth = project.network.depth();
    const std::string text = depth == recipe.project.network.depth()
                                 ? recipe.schedule
                                 : recipe.schedule.substr(0, recipe.schedule.find(' '));
    StageSchedule schedule = RESIDUA_TRY(scheduleFrom(text, depth, project.training.steps));
    project.stack().schedule = std::move(schedule);
    return Done{};
}

/// Fits the network's ends to the data.
void fitEnds(Project& project, const Source& source)
{
    if (const auto* const texts = std::get_if<LabelledTextData>(&source)) {
        makeClassifier(project, *texts, classHead("rms_norm"));
    }
    makeStem(project, source);
}

/// Gives towers that had the same layers as the first one those that it has now.
void fitTowers(Project& project, const Stack& before)
{
    for (Tower& tower : project.towers) {
        if (tower.network.stack() == before) {
            tower.network.stack() = project.stack();
            tower.network.blocks = project.network.blocks;
        }
    }
}

/// Pictures get the form, and worlds the sizes, that the recipe's network reads.
Source asRead(const Source& source, const Recipe& recipe)
{
    if (const auto* const world = std::get_if<WorldData>(&recipe.project.data.source);
        world != nullptr && std::holds_alternative<WorldData>(source)) {
        WorldData result = *world;
        result.path = std::get<WorldData>(source).path;
        return result;
    }
    const auto* const form = std::get_if<PictureData>(&recipe.project.data.source);
    const auto* const given = std::get_if<PictureData>(&source);
    if (!form || !given) {
        return source;
    }
    PictureData result = *given;
    result.height = form->height;
    result.width = form->width;
    result.channels = form->channels;
    result.classes = given->path.empty() ? form->classes : given->classes;
    return result;
}

} // namespace

bool fitsRecipe(const Recipe& recipe, const Source& source)
{
    if (std::holds_alternative<LabelledTextData>(source)) {
        return recipe.project.network.objective == Objective::MaskedToken; // for fine-tuning
    }
    const Source own = asRead(source, recipe);
    if (std::holds_alternative<LatentData>(own) && !std::holds_alternative<LatentData>(recipe.project.data.source)) {
        return false;
    }
    const ExampleSchema read = examplesOf(recipe.project.data);
    const ExampleSchema given = examplesOf({.source = own});
    return fits(traitsOf(recipe.project.network.objective), given) &&
           read.input().isTokens() == given.input().isTokens();
}

NewProject proposalFor(const Source& source, const std::string& recipe)
{
    const Recipe* const chosen = findRecipe(recipe);
    const Project base = chosen ? chosen->project : baseFor(source);
    const bool tunes = chosen && std::holds_alternative<LabelledTextData>(source);
    NewProject proposal;
    proposal.source = source;
    proposal.recipe = recipe;
    proposal.depth = base.stack().stored();
    proposal.width = base.network.stack().width;
    proposal.topology = chosen ? chosen->topology : base.stack().topology.preset;
    proposal.steps = tunes ? kTuningSteps : base.training.steps;
    proposal.batch = base.training.batch;
    proposal.sequenceLength = base.training.sequenceLength;
    return proposal;
}

Result<Project> projectFrom(const NewProject& wanted)
{
    RESIDUA_TRY(checkSizes(wanted));
    const Recipe* const recipe = findRecipe(wanted.recipe);
    if (!recipe && !wanted.recipe.empty()) {
        return Error{"recipe", "there is no recipe \"" + wanted.recipe + "\""};
    }
    if (recipe && !fitsRecipe(*recipe, wanted.source)) {
        const auto title = [](const Source& source) { return std::string(Choices<Source>::all[source.index()].title); };
        return Error{"recipe",
                     recipe->name + " reads " + title(recipe->project.data.source) + ", got " + title(wanted.source)};
    }
    Project project = recipe ? recipe->project : baseFor(wanted.source);
    const Stack before = project.stack();
    project.name = wanted.name;
    const NewProject proposal = proposalFor(wanted.source, wanted.recipe);
    const bool isAsRecipe = wanted.depth == proposal.depth && wanted.width == proposal.width &&
                            wanted.steps == proposal.steps && wanted.batch == proposal.batch;
    project.description = recipe && isAsRecipe ? recipe->summary : std::string(); // it names the sizes
    project.sweeps.clear();
    project.data.source = recipe ? asRead(wanted.source, *recipe) : wanted.source;
    fitLoops(project.stack(), wanted.depth);
    project.stack().segments = {{project.stack().segments.front().block, wanted.depth}};
    setWidth(project, wanted.width);
    project.training.steps = wanted.steps;
    project.training.learningRate.warmupSteps =
        std::min(project.training.learningRate.warmupSteps, std::max<std::int64_t>(wanted.steps / 10, 0));
    project.training.batch = wanted.batch;
    if (examplesOf(project).hasTime()) {
        project.training.sequenceLength = wanted.sequenceLength;
    }
    const auto presets = topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, wanted.topology, &TopologyPreset::name);
    if (preset == presets.end()) {
        return Error{"topology",
                     "there is no preset \"" + wanted.topology + "\"" + presetHint(wanted.topology, presets)};
    }
    TopologyPreset chosen = *preset;
    if (recipe && project.stack().topology.preset == wanted.topology) {
        chosen.wiring = project.stack().topology.wiring; // with the recipe's own numbers
    }
    useOwnBlocks(project.network, chosen.wiring);
    const auto* const texts = std::get_if<LabelledTextData>(&wanted.source);
    if (!recipe) {
        fitEnds(project, wanted.source);
    } else if (texts) {
        makeFineTuning(project, *texts);
    } else if (const Status staged = takeSchedule(project, *recipe); !staged) {
        return staged.error();
    } else if (traitsOf(project.network.objective).diffuses) {
        makeStem(project, project.data.source);
    }
    RESIDUA_TRY(change(project, wireAs(project, chosen).edit));
    fitTowers(project, before);
    cure(project);
    return project;
}

} // namespace residua::projects
