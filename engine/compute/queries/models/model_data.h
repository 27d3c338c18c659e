// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared by import.cpp and export.cpp, which include nothing of each other.

#include "engine/compute/transfer/new_folder.h"
#include "projects/base/result.h"
#include "projects/huggingface/known_model.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Copies the tokeniser of the model's `folder` into `project` and returns the source of `data` with it, or `data` with
/// the form and the classes of the model's pictures. Without data, writes a placeholder: a text of a few lines, long
/// enough for the model's sequences, a table of texts with labels, or pictures without meaning. For a language model
/// without a readable tokeniser, `data` must be token files or nullopt; a classifier of texts needs a tokeniser. Token
/// files use no tokeniser, but it is copied anyway. `classes` are the names of the model's classes. Adds notes for the
/// user to `notes`, even before an error.
[[nodiscard]] Result<projects::Source>
modelData(const std::filesystem::path& folder, const std::filesystem::path& project,
          const std::optional<projects::Source>& data, const projects::KnownModel& model,
          const std::vector<std::string>& classes, std::vector<std::string>& notes);

/// Returns a project's tokeniser for a model's folder: its file, as tokenizer.json or tokenizer.model by its kind, and
/// the files that came with it. For bytes, a tokenizer.json with the same ids. A tokenizer.json always comes with a
/// tokenizer_config.json; without it, transformers chooses by the model's type and finds no end token. The
/// settings that are written name the mask of a network that predicts hidden tokens. Empty for characters and generated
/// words. A missing file is a note.
[[nodiscard]] Result<Companions> tokeniserCompanions(const projects::Project& project,
                                                     const std::filesystem::path& projectDirectory,
                                                     std::vector<std::string>& notes);

} // namespace residua::engine
