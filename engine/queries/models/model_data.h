// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/transfer/new_folder.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Copies the tokeniser of the model's `folder` into `project`, and gives the source of `data` with it; without data, a
/// text of a few lines in `project` that stands for it, long enough for windows of `length` tokens. A model without a
/// tokeniser that is read has token files: `data` must be one. Ready-made tokens take no tokeniser, which is copied all
/// the same. What a person should know is added to `notes`, also before an error.
[[nodiscard]] Result<projects::Source> modelData(const std::filesystem::path& folder,
                                                 const std::filesystem::path& project,
                                                 const std::optional<projects::Source>& data, std::int64_t vocabulary,
                                                 std::int64_t length, std::vector<std::string>& notes);

/// A project's tokeniser for a model's folder: the file that it is read from, as tokenizer.json or tokenizer.model by
/// its kind, and what has come with it; for bytes a tokenizer.json that gives the same ids. Beside a tokenizer.json
/// there is a tokenizer_config.json in any case: without, transformers goes by the model's type, and finds no token
/// that ends a text. None for characters and generated words. A file that is not there is a note.
[[nodiscard]] Result<Companions> tokeniserCompanions(const projects::Source& source,
                                                     const std::filesystem::path& projectDirectory,
                                                     std::vector<std::string>& notes);

} // namespace residua::engine
