// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/dataset.h"
#include "engine/data/text/byte_source.h"
#include "projects/model/picture_data.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Latents that the user made (projects::LatentData), with a label each. Field 0 has the scaled values by channel, row
/// and column, field 1 the labels. Latents are read from their files batch by batch. splitsOf() splits them.
class LatentDataset : public Dataset {
public:
    /// Opens the files and checks types, shapes and labels. Errors name the file.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::LatentData& source,
                                                               const projects::Project& project,
                                                               const std::filesystem::path& projectDirectory,
                                                               const Reading& reading);

    [[nodiscard]] projects::ExampleSchema schema() const override { return m_schema; }
    [[nodiscard]] std::vector<std::string> notes() const override { return m_notes; }
    [[nodiscard]] std::int64_t size(Split split) const override;
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;

    enum class Element { F16, Bf16, F32, F64 };
    /// The latents of one file.
    struct Part {
        ByteRange bytes;
        Element element = Element::F32;
        std::vector<std::int64_t> labels;
        std::string place;
    };

private:
    explicit LatentDataset(projects::ExampleSchema schema) : m_schema(std::move(schema)) {}
    struct Row {
        std::size_t part = 0;
        std::size_t index = 0;
    };
    [[nodiscard]] const std::vector<Row>& rowsOf(Split split) const { return m_rows[static_cast<std::size_t>(split)]; }
    [[nodiscard]] Status fillRows(Batch& batch, const std::vector<Row>& rows) const;

    projects::ExampleSchema m_schema;
    double m_scale = 1;
    std::vector<Part> m_parts;
    std::array<std::vector<Row>, kSplits> m_rows;
    std::vector<std::string> m_notes;
};

/// Returns the latents at a path, a safetensors file or a folder with latents.npy, with their form and as many classes
/// as the largest label needs; nullopt if it is neither. Returns an error if the file holds no latents.
[[nodiscard]] Result<std::optional<projects::LatentData>> latentsAt(const std::filesystem::path& path);

} // namespace residua::engine
