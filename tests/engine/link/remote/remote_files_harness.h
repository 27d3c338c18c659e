// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/content_hash.h"
#include "engine/link/remote/remote_files.h"
#include "engine/link/remote/remote_store.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/stored_tensors.h"

#include <QtTest>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Both ends of a connection for files, in one process.
namespace residua::tests {

using namespace residua::engine;

inline std::string sha256Of(const std::string& text)
{
    Sha256 hash;
    hash.add(asBytes(text));
    return hash.text();
}

/// Every file below a folder, without those of an open store.
inline std::vector<std::string> pathsBelow(const std::filesystem::path& folder)
{
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path().lexically_relative(folder).string());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// A connection to a store in this process.
struct Link {
    explicit Link(const std::filesystem::path& folder) : store(*RemoteStore::open(folder)) {}

    FileConnection connection()
    {
        return {[this](const Frame& frame) -> Status {
                    const auto request = fileRequestFrom(frame);
                    const bool isPart = request && std::holds_alternative<StorePart>(request->message);
                    sent += isPart ? request->bytes.size() : 0;
                    if (std::optional<Frame> answer = store.answer(frame)) {
                        answers.push_back(*std::move(answer));
                    }
                    return Done{};
                },
                [this]() -> Result<Frame> {
                    if (answers.empty()) {
                        return Error{"link", "no answer"};
                    }
                    Frame frame = std::move(answers.front());
                    answers.pop_front();
                    return frame;
                }};
    }

    /// The answer to a message.
    FileAnswer ask(const FileRequest& request, const std::string& bytes = {})
    {
        const std::optional<Frame> answer = store.answer(frameOf(request, bytes));
        const Result<WithBytes<FileAnswer>> read = answer ? fileAnswerFrom(*answer) : Error{};
        return read ? read->message : FileAnswer(FilesRefused{{"link", "no answer"}});
    }

    RemoteStore store;
    std::deque<Frame> answers;
    std::size_t sent = 0; ///< bytes of files
};

/// Returns a project that reads the text at the path.
inline projects::Project projectOfText(const std::string& path)
{
    projects::Project project = projects::findExample("ancre-language")->project;
    project.data.source = projects::TextData{.path = path, .tokeniser = {}};
    return project;
}

/// Writes the checkpoints of steps 10 and 20 of a run, which has an identity.
inline void writeCheckpoints(const std::filesystem::path& run)
{
    const std::filesystem::path folder = run.parent_path();
    QVERIFY(RunWriter::create(run, RunInfo{}, projectOfText("text.txt"), folder, {}).ok());
    RunFile file = *readRunFile(run);
    file.identity = std::string(32, 'a');
    QVERIFY(writeRunFile(run, file).ok());
    const tests::ExampleTensors tensors;
    for (const std::int64_t step : {10, 20}) {
        CheckpointState state;
        state.step = step;
        QVERIFY(writeCheckpoint(run, state, tensors.model(), tensors.optimiser(), {}).ok());
    }
}

} // namespace residua::tests
