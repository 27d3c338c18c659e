// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/data_summary.h"
#include "engine/base/api/reading.h"
#include "engine/base/api/values.h"
#include "engine/base/machine/preparation.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace residua::engine {

/// The size of an unlimited training set.
inline constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

/// The contents of a data set: the schema of its examples, and tokens or samples by split (kEndless if training samples
/// are unlimited).
struct DataOutline {
    projects::ExampleSchema schema;
    std::array<std::int64_t, kSplits> sizes{};
};

/// One of several texts of a data set, with its share of the examples.
struct DataPartOutline {
    std::string name; ///< its path in the project
    double share = 0;
    std::array<std::int64_t, kSplits> sizes{};     ///< tokens by split; of rows of documents with their padding
    std::array<std::int64_t, kSplits> windows{};   ///< adjacent windows, or rows of documents, by split
    std::array<std::int64_t, kSplits> evaluated{}; ///< the input tokens that fillSequential uses, by split
};

/// The values of one field of the examples, in the order of its shape. Tokens and labels are int64. Real values have
/// any of these types: bytes for pictures, for example.
using FieldValues =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<float>, std::vector<std::uint8_t>>;

/// One micro-batch, reused for every step.
struct Batch {
    std::vector<FieldValues> fields; ///< in the order of the schema's fields
    std::int64_t batch = 0;
    std::int64_t time = 0; ///< the length of sequences; 0 if no field has one

    /// Returns the values of a field for filling, of this type. A new field makes references to others invalid.
    template <class Value>
    [[nodiscard]] std::vector<Value>& values(std::size_t field)
    {
        fields.resize(std::max(fields.size(), field + 1));
        auto* const held = std::get_if<std::vector<Value>>(&fields[field]);
        return held ? *held : fields[field].emplace<std::vector<Value>>();
    }
    /// Returns the values of a field. It must exist and have this type.
    template <class Value>
    [[nodiscard]] const std::vector<Value>& values(std::size_t field) const
    {
        return std::get<std::vector<Value>>(fields.at(field));
    }
};

/// Returns the row of a draw from `rows` rows: each epoch has every row once, in an order of its own.
[[nodiscard]] std::int64_t shuffledRow(std::int64_t draw, std::int64_t rows, Split split, std::int64_t seed);
/// Returns the error of a data file with its place as people write it: "/texts/../a.txt" is "/a.txt".
[[nodiscard]] Error withPlainPlace(Error error);
/// Returns a note on the labels or classes, in the order of the outputs. It names the first ones.
[[nodiscard]] std::string orderNote(const std::string& what, const std::vector<std::string>& names);

class TextCodec;

/// Prepared and checked examples. Torch-free. Immutable after open; any thread.
class Dataset {
public:
    virtual ~Dataset() = default;

    /// Opens the data, tokenises or generates them, and checks them. Every input error that can be found before
    /// training is returned here, with the file (and line) as its place. Relative paths start at `projectDirectory`. A
    /// text is split into contiguous ranges: training tokens first, then validation, test at the end. Generated vectors
    /// use all `samples` for training and draw the held-out fractions in addition. `reading` is that of the run, if
    /// there is one.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::Project& project,
                                                               const std::filesystem::path& projectDirectory,
                                                               const PreparationWatch& watch = {},
                                                               const Reading& reading = {});

    /// Returns the outline that open() would give for generated data, computed from the parameters alone, with the same
    /// errors; nullopt for files, and for rows of documents.
    [[nodiscard]] static std::optional<Result<DataOutline>> outline(const projects::Project& project);

    [[nodiscard]] virtual projects::ExampleSchema schema() const = 0;
    /// Returns the tokeniser; null for data without text.
    [[nodiscard]] virtual const TextCodec* codec() const { return nullptr; }
    /// Returns the data before noise is added to them.
    [[nodiscard]] virtual const Dataset& withoutNoise() const { return *this; }
    /// Returns decisions made while opening that the user should know, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
    /// Returns the names of the classes by label; empty if the data have no labels or do not name them.
    [[nodiscard]] virtual std::vector<std::string> classes() const { return {}; }
    /// Returns the texts of a mixture; empty if the data are not a mixture.
    [[nodiscard]] virtual std::vector<DataPartOutline> parts() const { return {}; }
    /// Returns the texts by split if they are padded to one length; empty for other data.
    [[nodiscard]] virtual std::vector<TextCount> texts() const { return {}; }
    /// Returns the number of tokens, with those of padding, or samples in a split, over all texts; kEndless if training
    /// samples are unlimited.
    [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
    /// True if equal numbers give equal batches. False for worlds, whose examples depend on what was learned before:
    /// a trainer draws them from a replay buffer, and fill() shows examples of random actions.
    [[nodiscard]] virtual bool repeats() const { return true; }
    /// Fills `batch` with `count` examples, from draw `index` · count of the seeded order. Equal (split, seed,
    /// index, count) always give the same batch, so a run's cursor is `index` alone. Windows of text start anywhere;
    /// in a mixture, each example draws its text by its share. Vectors come in a new order each epoch, each once. The
    /// split must not be empty. Returns an error if a file has changed since it was opened; the batch is then
    /// undefined.
    [[nodiscard]] virtual Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                                      std::int64_t count) const = 0;
    /// Fills `batch` with consecutive windows for evaluation, without overlap or randomness. In a mixture, every prefix
    /// of the windows has each text in proportion to its share (MixtureOrder); the sequence ends when one text has no
    /// more windows. The last batch may be shorter. Past the end, and for an empty split, batch.batch is 0. For an
    /// unlimited training set, uses its first 4096 samples.
    [[nodiscard]] virtual Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                                std::int64_t count) const = 0;
    /// Fills `batch` with at most `count` examples of a split to show: those of evenRows() if the examples have labels,
    /// else the first ones. Reads these alone.
    [[nodiscard]] virtual Status fillShown(Batch& batch, Split split, std::int64_t count) const
    {
        return fillSequential(batch, split, 0, count);
    }
    /// Fills `batch` with every example of a split (full-batch gradient descent). Other data than finite vectors leave
    /// it empty.
    virtual void fillAll(Batch& batch, Split split) const;

    /// For token sequences only. encode() starts like a document and returns an error for text that the vocabulary
    /// cannot express. decode() returns valid UTF-8. Token files have no text; they use ids separated by spaces.
    [[nodiscard]] virtual Result<std::vector<std::int64_t>> encode(const std::string& text) const;
    [[nodiscard]] virtual std::string decode(const std::vector<std::int64_t>& tokens) const;
    /// Fills `batch` with one example, with label 0: this text, or of pictures the file at this path. Returns a note on
    /// what reading changed, empty if nothing. Errors: data of another kind, a text without tokens, a file that is no
    /// picture.
    [[nodiscard]] virtual Result<std::string> fillText(Batch& batch, const std::string& text) const;
    /// Returns the token that hidden tokens become, which encode() also gives for each "[MASK]"; nullopt if the data
    /// hide no tokens.
    [[nodiscard]] virtual std::optional<std::int64_t> maskToken() const { return std::nullopt; }
};

/// Returns the labels of a source's files, as they are written or as their format names them; they may repeat. Empty if
/// it has none. Errors are those of opening it.
[[nodiscard]] Result<std::vector<std::string>>
labelsIn(const projects::Source& source, const std::filesystem::path& projectDirectory, const PreparationWatch& watch);

/// Returns the summary of an open data set of a project.
[[nodiscard]] DataSummary summaryOf(const projects::Project& project, const std::filesystem::path& projectDirectory,
                                    const Dataset& dataset);

/// Returns the first examples of a batch of these data for people, at most `most`.
[[nodiscard]] FedBatch fedBatch(const Dataset& dataset, const Batch& batch, const projects::DataSource& data,
                                std::int64_t most);

/// Returns images that a model made for people, with the names of their classes. `values` has the numbers of each by
/// channel, row and column, as the network reads them. Shows the first three channels of latents, or the first one.
[[nodiscard]] FedBatch madeImages(const Dataset& dataset, std::span<const float> values,
                                  const std::vector<std::int64_t>& classes, const projects::DataSource& data);
/// Returns matrix::kSamples of `count` such images. Precondition: there is an image.
[[nodiscard]] Matrix recordedImages(std::span<const float> values, std::int64_t count, const projects::DataSource& data,
                                    std::int64_t step);

} // namespace residua::engine
