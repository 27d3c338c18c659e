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

/// Opens the texts of a mixture as texts of their own are, each with its splits, and draws from them by weight. Only
/// where tokens are characters are all of them read before the first is tokenised. An error of a part has its number
/// before its place. The notes tell what is repeated often or left out of a held-out split.
[[nodiscard]] Result<std::unique_ptr<Dataset>> openMixture(const projects::MixtureData& mixture,
                                                           const projects::Project& project,
                                                           const std::filesystem::path& projectDirectory,
                                                           const PreparationWatch& watch);

/// How many times the plan's steps go through the training tokens of a part, in the mean.
[[nodiscard]] double passesOf(const DataPartOutline& part, const projects::TrainingPlan& plan);

/// "part 2 (c4.jsonl): 57 % of the examples, 1200000 tokens to train on, gone through 0.83 times". `index` from 0.
[[nodiscard]] std::string textOf(const DataPartOutline& part, std::size_t index, const projects::TrainingPlan& plan);

} // namespace residua::engine
