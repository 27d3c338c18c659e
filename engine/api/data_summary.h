// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// One of several texts that examples are drawn from. Splits count tokens.
struct DataPartSummary {
    std::string path;  ///< as the project has it
    double share = 0;  ///< of the examples
    double passes = 0; ///< how many times the plan's steps go through what it has to train on
    std::int64_t train = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
    std::int64_t validated = 0; ///< of the validation tokens, those that a whole evaluation goes through
    bool operator==(const DataPartSummary&) const = default;
};

/// How the files of one of a project's paths are read.
struct DataReading {
    std::string path;               ///< as the project has it
    std::string files;              ///< "2 files of JSON Lines, compressed by gzip"; empty if they cannot be listed
    std::vector<std::string> notes; ///< what a person should know, one sentence each
    bool operator==(const DataReading&) const = default;
};

/// What a project's data turns out to be. Splits count tokens or samples; −1: drawn without end.
struct DataSummary {
    /// Until the data are opened: a schema with an empty vocabulary, since every schema has an input and a target.
    projects::ExampleSchema examples = projects::ExampleSchema::nextToken(0);
    std::int64_t train = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
    std::vector<DataPartSummary> parts; ///< empty where the data are one text, or none
    std::vector<DataReading> readings;  ///< of each path of the data; empty if they are generated
    std::vector<std::string> notes;     ///< what was decided while opening that a person should know, one sentence each
    bool operator==(const DataSummary&) const = default;
};

/// Returns a source for the data at a path: of a file by its first bytes and the end of its name, of a folder by those
/// of the files in it. Any thread; lists the folder.
[[nodiscard]] projects::Source dataAt(const std::filesystem::path& path);

/// Returns how each path of a project's data is read. Any thread; lists folders and reads the beginning of each file.
[[nodiscard]] std::vector<DataReading> readingsOf(const projects::Project& project,
                                                  const std::filesystem::path& projectDirectory);

/// The tokeniser of a file, tokenizer.json where its name ends in .json and else a model of SentencePiece, with as many
/// tokens as it has. Any thread; reads the file.
[[nodiscard]] Result<projects::Tokeniser> tokeniserAt(const std::filesystem::path& file);

/// Opens and checks the data as training would: the same errors, before training. Any thread; reads whole files.
[[nodiscard]] Result<DataSummary> summariseData(const projects::Project& project,
                                                const std::filesystem::path& projectDirectory);

/// A run, and a project that it is taken to have trained.
struct TrainedProject {
    std::filesystem::path run;
    const projects::Project* project = nullptr;
};
/// Returns for each run how the data of its project differ from those that the run was trained on: a sentence, empty if
/// they do not, or if the run or the data cannot be read, or the run remembers no data. Any thread; reads the data, of
/// large files what is not known yet of them alone.
[[nodiscard]] std::vector<std::string> otherDataOf(const std::vector<TrainedProject>& runs,
                                                   const std::filesystem::path& projectDirectory);

/// The beginning of what a project's training is fed.
struct DataPreview {
    DataSummary summary;
    std::vector<std::int64_t> tokens; ///< of tokens: the training split's first sequence
    std::string text;                 ///< what they stand for, where the data has a text
    std::vector<double> inputs;       ///< vectors: the first sample's
    std::vector<double> outputs;
};

/// Opens the data as training would and takes its first sequence or sample. Any thread. `wanted` is asked now and then:
/// once it says no, the work is given up with an error.
[[nodiscard]] Result<DataPreview> previewData(const projects::Project& project,
                                              const std::filesystem::path& projectDirectory,
                                              const std::function<bool()>& wanted = {});

} // namespace residua::engine
