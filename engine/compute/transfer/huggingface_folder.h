// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors_writer.h"
#include "engine/base/files/tensor_files.h"
#include "engine/compute/transfer/new_folder.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/pytorch/pytorch_code.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// A network to be written as a model of transformers.
struct HuggingFaceSource {
    const projects::SoundProject& project;
    const projects::FoundModel& found;    ///< the matching model of the project's network
    const TensorFiles& weights;           ///< of a checkpoint
    std::optional<ImportRecord> imported; ///< the origin of the run's first weights
    std::optional<StoredType> type;       ///< of the written weights; nullopt: see HuggingFaceWriter
    projects::ExportedRun run;            ///< its number of parameters is filled in
    Companions companions;
};
struct HuggingFaceFolder {
    std::string architecture;
    std::int64_t parameters = 0;
    std::string type; ///< of most weights: "BF16"
    std::vector<std::string> notes;
};

/// Writes config.json, model.safetensors, README.md and the companions, which transformers loads without custom code.
/// Imported weights are written in their original type if that is lossless; other weights in the checkpoint's type.
/// Holds one tensor in memory at a time.
class HuggingFaceWriter {
public:
    /// `folder` must exist and be empty; on error it may have some files (NewFolder). The references in `source` must
    /// outlive this.
    HuggingFaceWriter(std::filesystem::path folder, HuggingFaceSource source)
        : m_path(std::move(folder)), m_source(std::move(source))
    {
    }

    [[nodiscard]] bool atEnd() const { return m_ended; }
    /// Executes a piece of the work, with at most one tensor.
    [[nodiscard]] Status advance();
    /// Returns the progress. Each tensor counts twice, because it is first compared and then written.
    [[nodiscard]] std::uint64_t tensorsDone() const { return m_compared + m_written; }
    [[nodiscard]] std::uint64_t tensors() const { return 2 * m_entries.size(); }
    /// Valid at the end.
    [[nodiscard]] const HuggingFaceFolder& folder() const { return m_folder; }

private:
    /// A tensor of the file with its sources.
    struct Entry {
        projects::FileTensor tensor;
        std::vector<TensorFiles::Tensor> stored;
        StoredType type = StoredType::F32; ///< the type in the file
    };

    [[nodiscard]] Status gather();
    [[nodiscard]] Status leftOut(const std::set<std::string>& taken) const;
    [[nodiscard]] bool asImported() const;
    [[nodiscard]] StoredType recordedType(const std::string& tensor) const;
    [[nodiscard]] Status compareNext();
    [[nodiscard]] Status begin();
    [[nodiscard]] Status writeNext();
    [[nodiscard]] Status end();
    [[nodiscard]] Result<at::Tensor> read(const Entry& entry) const;
    [[nodiscard]] std::string readme() const;

    const std::filesystem::path m_path;
    HuggingFaceSource m_source;
    HuggingFaceFolder m_folder;
    std::map<std::string, Entry> m_entries; ///< by the names in the file

    bool m_lossy = false;                ///< the types of the import would round
    StoredType m_kept = StoredType::F32; ///< of the checkpoint
    StoredType m_type = StoredType::F32; ///< of most written weights
    std::optional<SafetensorsWriter> m_file;
    std::uint64_t m_compared = 0;
    std::uint64_t m_written = 0;
    bool m_ended = false;
};

} // namespace residua::engine
