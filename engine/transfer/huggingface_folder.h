// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "engine/runs/import_record.h"
#include "engine/transfer/new_folder.h"
#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/huggingface/decoder.h"
#include "projects/pytorch/pytorch_code.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A network to be written as a model of transformers.
struct HuggingFaceSource {
    const projects::SoundProject& project;
    const projects::FoundDecoder& found;                ///< what the project's network is there
    const std::map<std::string, StoredTensor>& weights; ///< of a checkpoint
    std::optional<ImportRecord> imported;               ///< where the run's first weights came from
    std::optional<StoredType> type;                     ///< of what is written; none: as said below
    projects::ExportedRun run;                          ///< its count of parameters is filled in
    Companions companions;
};
struct HuggingFaceFolder {
    std::string architecture;
    std::int64_t parameters = 0;
    std::string type; ///< of most weights: "BF16"
    std::vector<std::string> notes;
};

/// Writes config.json, model.safetensors, README.md and the companions: what AutoModelForCausalLM loads without code of
/// its own. Weights that were imported are written in the type that they had where nothing is lost by it, and else, as
/// others, in the checkpoint's. `folder` is there and empty; on error it may have some of it (NewFolder).
[[nodiscard]] Result<HuggingFaceFolder> writeHuggingFaceFolder(const std::filesystem::path& folder,
                                                               HuggingFaceSource source);

} // namespace residua::engine
