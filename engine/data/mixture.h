// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/host/preparation.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <memory>
#include <string>

namespace residua::engine {

/// Opens each text of a mixture as it would be opened alone, with its own splits, and draws from them by weight. Reads
/// all texts before tokenising the first only if tokens are characters. An error of a part has the part's number before
/// its place. The notes name parts that are repeated often, and windows that a held-out split leaves out.
[[nodiscard]] Result<std::unique_ptr<Dataset>> openMixture(const projects::MixtureData& mixture,
                                                           const projects::Project& project,
                                                           const std::filesystem::path& projectDirectory,
                                                           const PreparationWatch& watch);

/// Returns the expected number of times that the plan's steps go through the training tokens of a part.
[[nodiscard]] double passesOf(const DataPartOutline& part, const projects::TrainingPlan& plan);

/// Returns "part 2 (c4.jsonl): 57 % of the examples, 1200000 tokens to train on, gone through 0.83 times". `index` is
/// from 0.
[[nodiscard]] std::string textOf(const DataPartOutline& part, std::size_t index, const projects::TrainingPlan& plan);

} // namespace residua::engine
