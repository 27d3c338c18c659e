// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/loaded_model.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/weight_average.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/alteration.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

using projects::Project;

/// Adds the port kFeatures to the head of the first tower, and a loss of no weight that reads it, without which the
/// value would be an error.
Status addFeatures(Project& view)
{
    projects::Graph& head = view.network.head;
    const auto wireTo = [&](projects::NodeId node) {
        return std::ranges::find(head.wires, node, [](const projects::Wire& wire) { return wire.to.node; });
    };
    const auto output = std::ranges::find_if(head.nodes, [](const projects::Node& node) {
        return roleOf(node) == projects::NodeRole::GraphOutput && graphPortOf(node) == projects::kOutputPort;
    });
    auto wire = output == head.nodes.end() ? head.wires.end() : wireTo(output->id);
    for (std::size_t i = 0; i < head.nodes.size() && wire != head.wires.end(); ++i) {
        const projects::PortRef from = wire->from;
        wire = wireTo(from.node);
        if (wire != head.wires.end() && roleOf(*head.find(from.node)) == projects::NodeRole::Linear) {
            const projects::NodeId port = head.nextId();
            const projects::PortRef read = wire->from;
            head.nodes.push_back({port, "output", kFeatures, {{projects::kPortParam, std::string(kFeatures)}}});
            head.wires.push_back({read, {port, "in"}});
            std::ranges::sort(head.wires);
            view.losses.push_back({.name = kFeatures,
                                   .kind = projects::LossKind::Mean,
                                   .output = projects::valueOf(view.network, kFeatures),
                                   .target = {},
                                   .weight = 0,
                                   .trains = {}});
            return Done{};
        }
    }
    return Error{"features", "the head of this run's network has no linear, expected one that reads features"};
}

/// Changes the view of a tower as `as` says.
Status prepare(Project& view, LoadAs as)
{
    if (as == LoadAs::WithTerms) {
        projects::Wiring& wiring = view.stack().topology.wiring;
        projects::Wiring withTerms = RESIDUA_TRY(projects::withTerms(wiring, view.network.depth()));
        if (withTerms != wiring && std::ranges::any_of(view.stack().loops, projects::changesState)) {
            return Error{"topology",
                         "a plain residual that changes between the visits of a loop is no sum of branches; "
                         "expected a knock-out by layer, half or visits"};
        }
        wiring = std::move(withTerms);
    }
    if (as == LoadAs::WithMoreVisits || as == LoadAs::WithSettledVisits) {
        view = projects::withMoreVisits(std::move(view), as == LoadAs::WithSettledVisits ? kSettledVisits + 1 : 0);
    }
    if (as == LoadAs::WithFeatures) {
        return addFeatures(view);
    }
    return Done{};
}

/// Returns the index of the named tower, and that of its judge if it is measured.
Result<CompiledNetwork::About> aboutOf(const Project& project, const std::optional<std::string>& measured)
{
    CompiledNetwork::About about;
    about.tower = RESIDUA_TRY(projects::chosenTower(project, measured.value_or("")));
    if (measured) {
        about.judge = RESIDUA_TRY(projects::judgeOf(project, about.tower));
    }
    return about;
}

/// Loads the network of a checkpoint. `measured` names the tower that it is about.
Result<LoadedModel> load(const RunRef& of, const PreparationWatch& watch, LoadAs as,
                         const std::optional<std::string>& measured)
{
    OpenedRun opened = RESIDUA_TRY(openRun(of, LargeFiles::AsKnown, watch));
    Result<CheckpointFiles> checkpoint = findCheckpoint(of.runDirectory, of.step, &opened.notes);
    const Result<CompiledNetwork::About> about = aboutOf(opened.project, measured);
    if (!checkpoint || !about) {
        return checkpoint ? about.error() : checkpoint.error();
    }
    takeEvaluatedWeights(*checkpoint, opened.project.training);
    nameAsInView(*checkpoint, opened.project, about->tower);
    Project view = projects::viewOf(opened.project, about->tower);
    RESIDUA_TRY(prepare(view, as));
    const Project document = projects::viewOf(std::move(view), about->tower);
    const std::string device = openDevice(opened.info.device) ? opened.info.device : "cpu";
    TrainerParts parts = RESIDUA_TRY(openParts(document, opened.projectDirectory, device, FirstWeights::Loaded,
                                               {.data = watch, .weights = {}}, opened.reading(), *about));
    if (const Status loaded = loadParameters(checkpoint->model, parts.network->parameters()); !loaded) {
        const bool isOfWiring = loaded.error().text().find(projects::kTopologyPrefix) != std::string::npos;
        return Error{loaded.error().place,
                     loaded.error().message + (isOfWiring ? projects::curesOfVisits(document.stack()) : "")};
    }
    noteNotFinite(parts.network->parameters(), opened.notes);
    return LoadedModel{std::move(parts), checkpoint->state.step, std::move(opened.notes), opened.otherData.has_value(),
                       about->tower};
}

/// Returns the model, or an error if its data have no validation split.
Result<LoadedModel> withValidation(Result<LoadedModel> model)
{
    if (model && model->parts.dataset->size(Split::Validation) == 0) {
        return withoutPart(*model->parts.dataset, Split::Validation, "data");
    }
    return model;
}

} // namespace

Error withoutPart(const Dataset& dataset, Split split, const std::string& place)
{
    return {place,
            "the data has no " + std::string(nameOf(split).word) + " split: " +
                (dataset.schema().isOfWorld() ? "a world is measured while the run trains; expected the train part"
                                              : "give it a fraction in the project")};
}

Result<LoadedModel> loadModel(const RunRef& of, const PreparationWatch& watch, LoadAs as)
{
    return load(of, watch, as, std::nullopt);
}

Result<LoadedModel> loadToMeasure(const RunRef& of, const PreparationWatch& watch, const std::string& tower, LoadAs as)
{
    return withValidation(load(of, watch, as, tower));
}

Result<LoadedModel> startToMeasure(const Project& project, const std::filesystem::path& projectDirectory,
                                   const PreparationWatch& watch, const std::string& tower, LoadAs as)
{
    RESIDUA_TRY(checkProject(project));
    const CompiledNetwork::About about = RESIDUA_TRY(aboutOf(project, tower));
    Project view = projects::viewOf(project, about.tower);
    RESIDUA_TRY(prepare(view, as));
    const Project document = projects::viewOf(std::move(view), about.tower);
    TrainerParts parts = RESIDUA_TRY(openParts(document, projectDirectory, "cpu", FirstWeights::Initialised,
                                               {.data = watch, .weights = watch}, {}, about));
    return withValidation(LoadedModel{std::move(parts), 0, {}, false, about.tower});
}

TrainedState stateOf(const LoadedModel& model)
{
    return {.network = *model.parts.network,
            .dataset = *model.parts.dataset,
            .project = model.parts.project,
            .device = model.parts.device,
            .step = model.step};
}

std::int64_t batchesFor(std::int64_t asked, const LoadedModel& model)
{
    return asked > 0 ? asked : model.parts.project.training.validationBatches;
}

} // namespace residua::engine
