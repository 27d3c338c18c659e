// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/loaded_model.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/weight_average.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/nodes/alteration.h"

#include <algorithm>
#include <utility>

namespace residua::engine {

Result<LoadedModel> loadModel(const RunRef& of, const PreparationWatch& watch, LoadAs as)
{
    Result<OpenedRun> opened = openRun(of, LargeFiles::AsKnown, watch);
    if (!opened) {
        return opened.error();
    }
    Result<CheckpointFiles> checkpoint = findCheckpoint(of.runDirectory, of.step, &opened->notes);
    if (!checkpoint) {
        return checkpoint.error();
    }
    takeEvaluatedWeights(*checkpoint, opened->project.training);
    if (as == LoadAs::WithTerms) {
        projects::Wiring& wiring = opened->project.stack().topology.wiring;
        Result<projects::Wiring> withTerms = projects::withTerms(wiring, opened->project.network.depth());
        if (!withTerms) {
            return withTerms.error();
        }
        const std::vector<projects::Loop>& loops = opened->project.stack().loops;
        if (*withTerms != wiring && std::ranges::any_of(loops, projects::changesState)) {
            return Error{"topology",
                         "a plain residual that changes between the visits of a loop is no sum of branches; "
                         "expected a knock-out by layer, half or visits"};
        }
        wiring = std::move(*withTerms);
    }
    if (as == LoadAs::WithMoreVisits) {
        opened->project = projects::withMoreVisits(std::move(opened->project));
    }
    const std::string device = openDevice(opened->info.device) ? opened->info.device : "cpu";
    Result<TrainerParts> parts = openParts(opened->project, opened->projectDirectory, device, FirstWeights::Loaded,
                                           {.data = watch, .weights = {}}, opened->reading());
    if (!parts) {
        return parts.error();
    }
    if (const Status loaded = loadParameters(checkpoint->model, parts->network->parameters()); !loaded) {
        return loaded.error();
    }
    noteNotFinite(parts->network->parameters(), opened->notes);
    return LoadedModel{std::move(*parts), checkpoint->state.step, std::move(opened->notes),
                       opened->otherData.has_value()};
}

Result<LoadedModel> loadToMeasure(const RunRef& of, const PreparationWatch& watch, LoadAs as)
{
    Result<LoadedModel> model = loadModel(of, watch, as);
    if (model && model->parts.dataset->size(Split::Validation) == 0) {
        return Error{"data", "the run has no validation split to measure on: give it a fraction in the project"};
    }
    return model;
}

std::int64_t batchesFor(std::int64_t asked, const LoadedModel& model)
{
    return asked > 0 ? asked : model.parts.project.training.validationBatches;
}

} // namespace residua::engine
