// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// One of several texts that examples are drawn from. Splits count tokens.
struct DataPartSummary {
    std::string path;  ///< as the project has it
    double share = 0;  ///< of the examples
    double passes = 0; ///< how often the plan's steps go through the part's training tokens
    std::int64_t train = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
    std::int64_t validated = 0; ///< the number of validation tokens that one whole evaluation uses
    bool operator==(const DataPartSummary&) const = default;
};

/// A number of texts with a label each, and of their tokens without padding.
struct TextCount {
    std::int64_t texts = 0;
    std::int64_t tokens = 0;
    bool operator==(const TextCount&) const = default;
};

/// How the files of one of a project's paths are read.
struct DataReading {
    std::string path;               ///< as the project has it
    std::string files;              ///< "2 files of JSON Lines, compressed by gzip"; empty if they cannot be listed
    std::vector<std::string> notes; ///< notes for the user, one sentence each
    bool operator==(const DataReading&) const = default;
};

/// The size and the schema of a project's data. Splits count tokens, with those of padding, or samples; −1 means an
/// unlimited number.
struct DataSummary {
    /// Before the data are opened, a schema with an empty vocabulary, because every schema has an input and a target.
    projects::ExampleSchema examples = projects::ExampleSchema::nextToken(0);
    std::int64_t train = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
    std::vector<TextCount> texts;       ///< by split (training, validation, test), of padded texts; else empty
    std::vector<DataPartSummary> parts; ///< empty unless the data are several texts
    std::vector<DataReading> readings;  ///< one for each path of the data; empty if they are generated
    std::vector<std::string> notes;     ///< decisions made while opening that the user should know, one sentence each
    bool operator==(const DataSummary&) const = default;
};

/// The columns of a table of labelled texts; an empty name is that of a new source.
struct TableColumns {
    std::string text;
    std::string label;
};

/// Returns a source for the data at a path. The format of a file follows from its first bytes and its extension, that
/// of a folder from the files in it. If a folder has the parts of a data set (train, val or test), the training part
/// becomes the source's path and the other part its validation path. If the path is a training part, the part beside it
/// becomes the validation path, unless it cannot be read with the training part's classes. The number of classes is
/// that of the data. Returns an error that names what was found if no source reads it, if it has several data sets, or
/// if it has parts and its source takes no validation path. Any thread; lists the folder, and reads tables and files of
/// many pictures.
[[nodiscard]] Result<projects::Source> dataAt(const std::filesystem::path& path, const TableColumns& columns = {});

/// Returns the number of classes of a new network for this source: that of the different labels of its training data,
/// at least 2. Returns nullopt if the source has no labels in files. Errors are those of opening the data. Any thread;
/// reads a table, or lists folders of pictures. Calls `wanted` now and then; stops with an error once it returns false.
[[nodiscard]] Result<std::optional<std::int64_t>> countClasses(const projects::Source& source,
                                                               const std::filesystem::path& projectDirectory,
                                                               const std::function<bool()>& wanted = {});

/// Reads the beginning of a source's files: the first part of each text, the first records, the tables, and the first
/// picture of each class. Returns the error of its reader. Data that do not fit a project's other fields, such as a
/// text that is shorter than a sequence, are no error. Ok for generated data. Any thread. Calls `wanted` now and then;
/// stops with an error once it returns false.
[[nodiscard]] Status checkReadable(const projects::Source& source, const std::filesystem::path& projectDirectory,
                                   const std::function<bool()>& wanted = {});

/// The share of the data that a check reads.
enum class CheckedData {
    Whole,
    Small, ///< all of small data; of large data, only their classes
};
/// The result of checking a project and its data before it trains.
struct DataJudgement {
    std::vector<projects::Problem> problems; ///< errors first
    std::optional<DataSummary> summary;      ///< of data that were read without an error
    bool whole = false;                      ///< all data were read, so that training will open them
};
/// Opens and checks the data as training would. An error of the data is a problem, and so is a network with more
/// outputs than the data have classes. The project must have no errors. Any thread. Calls `wanted`
/// now and then; without a meaning once it returned false.
[[nodiscard]] DataJudgement judgeData(const projects::Project& project, const std::filesystem::path& projectDirectory,
                                      CheckedData checked = CheckedData::Whole,
                                      const std::function<bool()>& wanted = {});

/// Returns how each path of a project's data is read. Any thread; lists folders and reads the beginning of each file.
[[nodiscard]] std::vector<DataReading> readingsOf(const projects::Project& project,
                                                  const std::filesystem::path& projectDirectory);

/// Returns the tokeniser in a file, with its vocabulary size. A file named *.json is read as tokenizer.json, any other
/// as a SentencePiece model. Any thread; reads the file.
[[nodiscard]] Result<projects::Tokeniser> tokeniserAt(const std::filesystem::path& file);

/// Opens and checks the data as training would, with the same errors. Any thread; reads whole files.
[[nodiscard]] Result<DataSummary> summariseData(const projects::Project& project,
                                                const std::filesystem::path& projectDirectory);

/// A run with the project that it is assumed to have trained.
struct TrainedProject {
    std::filesystem::path run;
    const projects::Project* project = nullptr;
};
/// Returns one sentence for each run: how its project's data differ from the data that the run was trained on. The
/// sentence is empty if they do not differ, if the run or the data cannot be read, or if the run has no fingerprint.
/// Any thread; reads the data, but of large files only sampled blocks and hashes that are cached.
[[nodiscard]] std::vector<std::string> otherDataOf(const std::vector<TrainedProject>& runs,
                                                   const std::filesystem::path& projectDirectory);

/// One example of a batch, as the network is fed, for people.
struct FedExample {
    /// The text, in which a hidden token is "[shown→hidden]", and " ‖ " is between documents of one row; the first
    /// numbers of a vector; empty for pictures.
    std::string input;
    /// The class, of a mixture the two with their shares, or the first numbers of a vector. Empty if the target is the
    /// text's own tokens.
    std::string target;
    bool operator==(const FedExample&) const = default;
};

/// Examples of a batch.
struct FedBatch {
    static constexpr std::int64_t kGap = 2; ///< pixels between the pictures of a sheet
    std::vector<FedExample> examples;
    /// A PNG with the pictures in rows of `columns`, as the network receives them; empty for other data.
    std::string sheet;
    std::int64_t columns = 0;
};

/// The beginning of the data that a project's training reads.
struct DataPreview {
    DataSummary summary;
    std::vector<std::int64_t> tokens; ///< for tokens: the first sequence of the training split
    FedBatch first; ///< the first sequence of a text, else examples of the training split, in turn of each class
};

/// Opens the data as training would and returns their beginning. Any thread. Calls `wanted` now and then; stops with an
/// error once it returns false.
[[nodiscard]] Result<DataPreview> previewData(const projects::Project& project,
                                              const std::filesystem::path& projectDirectory,
                                              const std::function<bool()>& wanted = {});

/// Opens the data as training would and returns its first micro-batch, of at most `most` examples. Any thread. Calls
/// `wanted` now and then; stops with an error once it returns false.
[[nodiscard]] Result<FedBatch> firstFedBatch(const projects::Project& project,
                                             const std::filesystem::path& projectDirectory, std::int64_t most,
                                             const std::function<bool()>& wanted = {});

} // namespace residua::engine
