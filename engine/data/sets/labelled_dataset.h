// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/dataset.h"
#include "projects/model/data_source.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Returns the labels of a table's rows. Errors are those of opening it.
[[nodiscard]] Result<std::vector<std::string>> labelsIn(const projects::LabelledTextData& source,
                                                        const std::filesystem::path& projectDirectory,
                                                        const PreparationWatch& watch);
/// Reads the tables and numbers their labels as open() does, with the same errors.
[[nodiscard]] Status checkReadable(const projects::LabelledTextData& source,
                                   const std::filesystem::path& projectDirectory, const PreparationWatch& watch);

/// Texts, or pairs of texts, with a label each, padded to one length. Field 0 has the tokens, field 1 the labels, field
/// 2 the mask (1 for a token), and for pairs field 3 the text that each token belongs to (0 or 1). ClassNumbers numbers
/// the labels, splitsOf() splits the rows. Tokens beyond the length are cut off, of a pair from
/// the end of the longer text first.
class LabelledDataset : public Dataset {
public:
    /// Opens the table. Errors name the file and line.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::LabelledTextData& source,
                                                               const projects::Project& project,
                                                               const std::filesystem::path& projectDirectory,
                                                               const Reading& reading, const PreparationWatch& watch);

    [[nodiscard]] projects::ExampleSchema schema() const override { return m_schema; }
    [[nodiscard]] std::vector<std::string> notes() const override { return m_notes; }
    [[nodiscard]] std::vector<std::string> classes() const override { return m_classes; }
    [[nodiscard]] std::vector<TextCount> texts() const override;
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(rowsOf(split)) * m_time; }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    [[nodiscard]] Status fillShown(Batch& batch, Split split, std::int64_t count) const override;
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(const std::string& text) const override;
    [[nodiscard]] Result<std::string> fillText(Batch& batch, const std::string& text) const override;
    [[nodiscard]] std::string decode(const std::vector<std::int64_t>& tokens) const override;
    [[nodiscard]] const TextCodec* codec() const override { return m_codec.get(); }

private:
    /// An example without its padding.
    struct Row {
        std::vector<std::uint32_t> tokens;
        std::size_t second = 0; ///< the first token of the second text
        std::int64_t label = 0;
    };

    LabelledDataset() = default;
    [[nodiscard]] const std::vector<Row>& rowsOf(Split split) const { return m_rows[static_cast<std::size_t>(split)]; }
    [[nodiscard]] Result<Row> encoded(const std::string& first, const std::string* second) const;
    void prepare(Batch& batch, std::int64_t count) const;
    void copyRow(Batch& batch, std::int64_t to, const Row& row) const;

    projects::ExampleSchema m_schema;
    std::unique_ptr<TextCodec> m_codec;
    ReadingVersion m_reading = kNewestReading;
    std::int64_t m_time = 0;
    std::array<std::vector<Row>, kSplits> m_rows;
    std::vector<std::string> m_classes;
    std::vector<std::string> m_notes;
};

} // namespace residua::engine
