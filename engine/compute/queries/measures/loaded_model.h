// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/train/measures.h"
#include "engine/compute/train/trainer.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The network of a checkpoint, with the checkpoint's step.
struct LoadedModel {
    TrainerParts parts;
    std::int64_t step = 0;
    std::vector<std::string> notes;
    bool hasOtherData = false; ///< the data are not the run's, which was accepted
    std::size_t tower = 0;     ///< index of the tower that `parts` are the view of
};

/// The network as the run has it, with a weight for each shortcut (projects::withTerms), or with more visits of its
/// loops, which an evaluation makes only under an alteration (projects::withMoreVisits), also with more than
/// kSettledVisits, or with the value kFeatures.
enum class LoadAs { AsTrained, WithTerms, WithMoreVisits, WithSettledVisits, WithFeatures };
/// The further output port of a head that has what the head's last linear reads.
inline constexpr const char* kFeatures = "last_linear_features";

/// Loads a checkpoint's network on the device that its run used, or else on the CPU.
[[nodiscard]] Result<LoadedModel> loadModel(const RunRef& of, const PreparationWatch& watch,
                                            LoadAs as = LoadAs::AsTrained);
/// Loads a checkpoint's network to measure a tower, empty for the first, on the validation split, which it must have.
/// The network and its project are the view of the tower, judged by projects::judgeOf().
[[nodiscard]] Result<LoadedModel> loadToMeasure(const RunRef& of, const PreparationWatch& watch,
                                                const std::string& tower, LoadAs as = LoadAs::AsTrained);
/// Makes the network of `project` with its initial weights to measure a tower in the same way, on the CPU.
[[nodiscard]] Result<LoadedModel> startToMeasure(const projects::Project& project,
                                                 const std::filesystem::path& projectDirectory,
                                                 const PreparationWatch& watch, const std::string& tower, LoadAs as);
/// Returns the network, data and step of a model, which must outlive the result.
[[nodiscard]] TrainedState stateOf(const LoadedModel& model);
/// Returns the error for a part of the data that has no examples.
[[nodiscard]] Error withoutPart(const Dataset& dataset, Split split, const std::string& place);
/// Returns the number of batches: the run's if none is asked for; 0 means all.
[[nodiscard]] std::int64_t batchesFor(std::int64_t asked, const LoadedModel& model);

} // namespace residua::engine
