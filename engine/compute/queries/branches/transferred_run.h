// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/compute/network/network.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/train/transfer_plan.h"
#include "engine/compute/train/weight_average.h"
#include "engine/runs/results/run_branch.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/towers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// A staged query that makes a run from a checkpoint of another run.
template <class Own, class Request, class Ready>
class TransferQuery : public StagedQuery<Own, Request, Ready> {
public:
    using StagedQuery<Own, Request, Ready>::StagedQuery;

protected:
    /// Opens the checkpoint; the first stage.
    [[nodiscard]] Status open()
    {
        OpenedCheckpoint opened = RESIDUA_TRY(openCheckpoint(this->m_request.of, this->watch(), this->m_request.tower));
        m_opened.emplace(std::move(opened));
        return Done{};
    }
    /// Returns the document of a view of the tower, or the reverse.
    [[nodiscard]] projects::Project viewOf(projects::Project project) const
    {
        return projects::viewOf(std::move(project), m_opened->tower);
    }
    /// Returns the error of an invalid document, given the view of the tower.
    [[nodiscard]] Status checkView(const projects::Project& view) const { return checkProject(viewOf(view)); }
    /// Compiles a view of the tower on the CPU. The judge is that of the run.
    [[nodiscard]] Result<std::unique_ptr<CompiledNetwork>> compiledView(const projects::Project& view) const
    {
        const Result<projects::SoundProject> sound = projects::soundProject(viewOf(view));
        return sound ? CompiledNetwork::compile(*sound, m_opened->dataset->schema(), "cpu", SumOrder::ByHalf,
                                                {m_opened->tower, 0})
                     : Result<std::unique_ptr<CompiledNetwork>>(sound.error());
    }
    /// Renames a parameter of the view as in the document.
    void toDocument(std::string& name) const
    {
        name = projects::nameOfView(m_opened->run.project, m_opened->tower, name);
    }
    /// Returns the matrices of a network of the view, named as in the document.
    [[nodiscard]] std::vector<Matrix> coefficientsOf(CompiledNetwork& network, std::int64_t step) const
    {
        std::vector<Matrix> matrices = network.coefficients(step);
        for (Matrix& matrix : matrices) {
            toDocument(matrix.name.kind);
        }
        return matrices;
    }
    [[nodiscard]] const CheckpointFiles& checkpoint() const { return m_opened->checkpoint; }

    std::optional<OpenedCheckpoint> m_opened;
};

/// Returns an error if a total of steps leaves none after `done`. Accepts nullopt.
[[nodiscard]] Status checkStepsLeft(std::optional<std::int64_t> steps, std::int64_t done);

/// Returns a run that continues from `parent` at the checkpoint's step with the document that `project` is a view of,
/// whose network was made from it.
/// `how` is the event's text after the parent's name. The caller sets the directory and the steps.
[[nodiscard]] RunBranch branchOf(const std::filesystem::path& parent, const OpenedCheckpoint& opened,
                                 const projects::Project& project, RunEventKind kind, const std::string& how);

/// The mean loss of a network on held-out batches.
struct HeldOutLoss {
    double mean = 0;
    std::int64_t batches = 0;
};
/// Returns the loss on the batches of the run's validations, or on as many of the training split if there is no
/// validation split; of a growing network as it is after the checkpoint's step. On the CPU.
[[nodiscard]] Result<HeldOutLoss> heldOutLoss(CompiledNetwork& network, const OpenedCheckpoint& opened,
                                              const projects::TrainingPlan& plan, const PreparationWatch& watch);

/// Writes the new run's checkpoint: the network's weights, their running mean, and an optimiser with the old moments
/// that the plan keeps, byte for byte. Names are those of the view that `opened` has; the files have those of the
/// document.
[[nodiscard]] Status writeTransferred(const std::filesystem::path& directory, const OpenedCheckpoint& opened,
                                      const TransferPlan& plan, const projects::Project& project,
                                      CompiledNetwork& network, const WeightAverage& average);

/// The parameters of a new topology that need other values than their start, by name, in double.
using TopologyWeights = std::map<std::string, at::Tensor>;

/// Returns the weights with which `after`, the project `before` under another topology, computes the function that
/// `before` has learned (projects/depth/unrolled_depth.h). The error gives the reason if no weights do: a part of the
/// run's wiring depends on the input, or the new wiring cannot express a sum.
[[nodiscard]] Result<TopologyWeights> weightsThatKeep(const projects::Project& before, const TensorFiles& learned,
                                                      const projects::Project& after);

/// Writes the numbers that `project` freezes coefficients at into the network's parameters, whatever they were made
/// from. Engine thread.
void holdNumbers(const projects::Project& project, std::vector<NamedParameter>& parameters);

} // namespace residua::engine
