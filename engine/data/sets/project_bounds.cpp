// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/project_bounds.h"

#include "engine/data/sets/regression.h"
#include "engine/maths/theory/low_rank_model.h"
#include "projects/check/validate.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <array>
#include <optional>

namespace residua::engine {
namespace {

using projects::DepthMix;
using projects::Project;

/// The largest d: the theorems decompose [d, d] matrices in O(d³) time.
constexpr std::int64_t kLargestDimension = 512;
/// The largest total of matrix elements in a linear network.
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 24;

/// Returns the only node between input and output if it has this role and no bias; nullptr for any other graph.
const projects::Node* onlyNode(const projects::Graph& graph, projects::NodeRole role)
{
    if (graph.nodes.size() != 3 || graph.wires.size() != 2) {
        return nullptr;
    }
    const auto node = std::ranges::find(graph.nodes, role, projects::roleOf);
    if (node == graph.nodes.end()) {
        return nullptr;
    }
    const auto bias = node->params.find("bias");
    const bool biased = bias != node->params.end() && bias->second != projects::ParamValue(false);
    return biased || node->params.contains("out") ? nullptr : &*node;
}

/// Returns the rank of a linear node of a block with width inputs and outputs; nullopt if it is full.
std::optional<std::int64_t> rankOf(const Project& project, const projects::Node& linear)
{
    const auto sizes = projects::sizesOf(project);
    const auto params = sizes ? projects::evaluateParams(linear, *sizes) : Result<projects::ParamMap>(sizes.error());
    const std::int64_t width = project.stack().width;
    return params ? projects::rankOf(*params, "rank", width, width) : std::nullopt;
}

bool passesThrough(const projects::Graph& graph)
{
    return graph.nodes.size() == 2 && graph.wires.size() == 1;
}

/// True if stem and head pass vectors through unchanged and the schedule has no stages.
bool isBare(const Project& project)
{
    return passesThrough(project.network.stem) && passesThrough(project.network.head) &&
           project.stack().schedule.stages.empty();
}

bool isPlainDescent(const projects::TrainingPlan& plan)
{
    const auto* sgd = std::get_if<projects::Sgd>(&plan.optimiser);
    return sgd != nullptr && sgd->momentum == 0 && sgd->weightDecay == 0 &&
           plan.batching == projects::BatchKind::Full && plan.learningRate.curve == projects::RateCurve::Constant &&
           plan.learningRate.warmupSteps == 0 && plan.clipNorm == 0 && plan.groups.empty();
}

/// Returns c if the layer starts at c·I; nullopt for any other layer.
std::optional<double> startOf(const Project& project, std::int64_t layer)
{
    const projects::Block* const block = project.network.blockOfLayer(layer);
    const projects::Node* const node = block != nullptr ? onlyNode(block->graph, projects::NodeRole::Linear) : nullptr;
    const projects::Initialisation& init = project.initialisation;
    if (node == nullptr || rankOf(project, *node) || init.law != projects::InitLaw::Identity ||
        init.scaleResidualByDepth) {
        return std::nullopt;
    }
    const auto factor = node->params.find("start");
    if (factor == node->params.end()) {
        return init.scale;
    }
    const auto* real = std::get_if<double>(&factor->second);
    const auto* whole = std::get_if<std::int64_t>(&factor->second);
    return real != nullptr    ? std::optional(*real * init.scale)
           : whole != nullptr ? std::optional(static_cast<double>(*whole) * init.scale)
                              : std::nullopt;
}

/// Uses X = I for every whitened X: with Y = T·X the loss is ½‖W − T‖² for each of them.
std::optional<theory::LinearCase> linearCase(const Project& project)
{
    const auto* source = std::get_if<projects::LinearRegression>(&project.data.source);
    if (source == nullptr || source->samples < source->dim || !isBare(project) || !isPlainDescent(project.training) ||
        projects::traitsOf(project.network.objective).meanOf != projects::MeanOf::HalfSquaredNorms ||
        project.stack().width != source->dim || source->dim * source->dim * project.network.depth() > kMostNumbers) {
        return std::nullopt;
    }
    theory::LinearCase start;
    start.x = DenseMatrix::Identity(source->dim, source->dim);
    start.y = linearTarget(source->target, source->dim, project.seeds.data);
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        const std::optional<double> factor = startOf(project, layer);
        if (!factor) {
            return std::nullopt;
        }
        start.weights.emplace_back(*factor * DenseMatrix::Identity(source->dim, source->dim));
    }
    return start;
}

/// Returns the shortcut if the wiring has only one, of weight 1 and beside the branch.
std::optional<projects::Shortcut> onlyShortcut(const Project& project)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    const auto* sources = mix != nullptr ? std::get_if<projects::ExplicitSources>(&mix->sources) : nullptr;
    if (sources == nullptr || sources->shortcuts.size() != 1) {
        return std::nullopt;
    }
    DepthMix expected;
    expected.entry = projects::StackEntry::Full;
    expected.feeds = projects::MixFeeds::ResidualBesideBranch;
    expected.finalMix = false;
    expected.sources = *sources;
    return *mix == expected ? std::optional(sources->shortcuts.front()) : std::nullopt;
}

constexpr const char* kOfFlow = "The theorem is of gradient flow: step times rate stands for its time.";

template <class CaseBound>
ProjectBound asProjectBound(const CaseBound& bound, const Project& project, std::span<const std::int64_t> steps)
{
    const auto samples = static_cast<double>(std::get<projects::LinearRegression>(project.data.source).samples);
    ProjectBound result;
    result.premises = bound.premises;
    result.caveat = kOfFlow;
    for (const std::int64_t step : steps) {
        result.losses.push_back(bound.atStep(step - 1, project.training.learningRate.peak / samples) / samples);
    }
    return result;
}

void addShortcutBounds(const Project& project, std::span<const std::int64_t> steps, std::vector<ProjectBound>& bounds)
{
    const std::optional<projects::Shortcut> shortcut = onlyShortcut(project);
    const std::optional<theory::LinearCase> start = shortcut ? linearCase(project) : std::nullopt;
    if (!start) {
        return;
    }
    if (*shortcut == projects::Shortcut{0, 1}) {
        if (const auto slow = theory::slowBound(*start)) {
            bounds.push_back(asProjectBound(*slow, project, steps));
            bounds.back().name = "Theorem 3.2 (ANCRe)";
            bounds.back().claim = "with the shortcut 0:1 the loss falls no faster than a power of the step";
            bounds.back().kind = BoundKind::Below;
        }
    }
    if (*shortcut == projects::Shortcut{0, project.network.depth() - 1}) {
        if (const auto fast = theory::fastBound(*start)) {
            bounds.push_back(asProjectBound(*fast, project, steps));
            bounds.back().name = "Theorem 3.3 (ANCRe)";
            bounds.back().claim = "with the shortcut 0:K-1 and a small start the loss falls exponentially";
            bounds.back().kind = BoundKind::Above;
        }
    }
}

/// Returns the rank of a layer that is one linear map below full rank without a bias; nullopt for any other.
std::optional<std::int64_t> rankOf(const Project& project, std::int64_t layer)
{
    const projects::Block* const block = project.network.blockOfLayer(layer);
    const projects::Node* const node = block != nullptr ? onlyNode(block->graph, projects::NodeRole::Linear) : nullptr;
    return node != nullptr ? rankOf(project, *node) : std::nullopt;
}

/// Returns the model of theorem 4.2 whose preset has exactly this wiring.
std::optional<projects::RiskModel> riskModelOf(const Project& project)
{
    for (const projects::TopologyPreset& preset : projects::topologyPresets(project.network)) {
        if (preset.riskModel && preset.wiring == project.stack().topology.wiring) {
            return preset.riskModel;
        }
    }
    return std::nullopt;
}

void addRiskBound(const Project& project, std::span<const std::int64_t> steps, std::vector<ProjectBound>& bounds)
{
    const Result<LowRankTask> task = lowRankTask(project);
    const std::optional<projects::RiskModel> model = riskModelOf(project);
    if (!task || !model || projects::traitsOf(project.network.objective).meanOf != projects::MeanOf::Squares) {
        return;
    }
    const std::int64_t dim = task->target.rows();
    const auto risk = theory::excessRisk(task->target, task->collectiveRank);
    if (!risk) {
        return;
    }
    const std::array levels{risk->resNet, risk->grnV1, risk->grnV2, risk->grnV3};
    ProjectBound bound;
    bound.name = "Theorem 4.2 (DeepCrossAttention)";
    bound.claim = *model == projects::RiskModel::ResNet
                      ? "the least expected loss of a residual network of this collective rank"
                      : "the least expected loss of this class is at most this";
    bound.kind = BoundKind::Reachable;
    bound.premises.push_back({"inputs isotropic, collective rank r* < d", true,
                              "r* = " + std::to_string(task->collectiveRank) + ", d = " + std::to_string(dim)});
    const auto& source = std::get<projects::LowRankRegression>(project.data.source);
    double offset = 0; // left over by layers without biases
    for (const double value : lowRankOffset(source, project.seeds.data)) {
        offset += value * value;
    }
    const double level =
        (levels[static_cast<std::size_t>(*model)] + offset) / static_cast<double>(dim) + source.noise * source.noise;
    bound.losses.assign(steps.size(), level);
    bounds.push_back(std::move(bound));
}

} // namespace

Result<LowRankTask> lowRankTask(const Project& project)
{
    const auto* const source = std::get_if<projects::LowRankRegression>(&project.data.source);
    if (source == nullptr) {
        return Error{"data", "expected low-rank regression, which the low-rank linear model is about"};
    }
    if (source->dim > kLargestDimension || project.stack().width != source->dim) {
        return Error{"data", "got " + std::to_string(source->dim) + " features at a width of " +
                                 std::to_string(project.stack().width) + ", expected the width, at most " +
                                 std::to_string(kLargestDimension)};
    }
    if (!isBare(project)) {
        return Error{"network", "expected nothing before and after the layers, and no schedule"};
    }
    LowRankTask task;
    task.layers = project.network.depth();
    task.smallestRank = source->dim;
    for (std::int64_t layer = 1; layer <= task.layers; ++layer) {
        const std::optional<std::int64_t> rank = rankOf(project, layer);
        if (!rank) {
            return Error{"layer " + std::to_string(layer),
                         "expected one low-rank linear map with a rank, without bias"};
        }
        task.collectiveRank += *rank;
        task.smallestRank = std::min(task.smallestRank, *rank);
    }
    task.target = lowRankTarget(*source, project.seeds.data);
    return task;
}

bool ProjectBound::applies() const
{
    return std::ranges::all_of(premises, &theory::Premise::met);
}

std::vector<ProjectBound> boundsOf(const Project& project, std::span<const std::int64_t> steps)
{
    std::vector<ProjectBound> bounds;
    const auto data = Dataset::outline(project);
    if (!data || !*data || (*data)->schema.input().shape.features() > kLargestDimension ||
        !projects::soundProject(project)) {
        return bounds;
    }
    addShortcutBounds(project, steps, bounds);
    addRiskBound(project, steps, bounds);
    return bounds;
}

} // namespace residua::engine
