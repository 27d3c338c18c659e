// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/link/wire/file_messages.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A project with the files that training it reads, for another machine.
struct ProjectFiles {
    struct File {
        FileOffer offer; ///< its path in the project's folder there
        std::filesystem::path source;
    };
    projects::Project project;                  ///< names files outside its folder by a path within it
    std::map<std::string, std::string> renamed; ///< such paths, and the original ones
    std::vector<File> files;                    ///< each path once
};

/// Returns the files of a project in `directory`, with their hashes. Returns an error if one is missing. Reads all
/// bytes of files that have changed since their hash was cached; `watch` may cancel.
[[nodiscard]] Result<ProjectFiles> projectFiles(projects::Project project, const std::filesystem::path& directory,
                                                const PreparationWatch& watch);
/// Changes the names in a fingerprint from the project there to the original ones.
void restoreNames(DataFingerprint& data, const std::map<std::string, std::string>& renamed);

/// A connection for files to an engine at a place. An error says why the connection was lost.
struct FileConnection {
    std::function<Status(const Frame& frame)> send;
    std::function<Result<Frame>()> receive;
};

struct FetchedCheckpoint {
    std::filesystem::path directory;
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    std::vector<std::string> notes = {}; ///< on kept results that could not be copied
};

/// The program's end of a connection for files. Runs are named by their directories relative to the place's folder.
/// Blocking; one thread at a time.
class RemoteFiles {
public:
    explicit RemoteFiles(FileConnection connection) : m_connection(std::move(connection)) {}

    /// Sends the files that the place lacks. Returns the project's folder there, relative to the place's. `watch`
    /// receives the share of the bytes.
    [[nodiscard]] Result<std::filesystem::path> sendProject(const ProjectFiles& project, const PreparationWatch& watch);
    /// Reads run.json of a run there. If the process that writes the run has lost its program, `ended` waits for its
    /// end.
    [[nodiscard]] Result<RunFile> readRun(const std::filesystem::path& run, bool ended);
    /// Replaces the store of the run in `directory` by a copy of the one there. Precondition: the caller holds the run.
    [[nodiscard]] Status fetchStore(const std::filesystem::path& run, const std::filesystem::path& directory);
    /// Copies a checkpoint, the last one without a step, to its place in the run in `directory`, complete or not at
    /// all, then the results of knock-outs that the run there keeps of it.
    [[nodiscard]] Result<FetchedCheckpoint> fetchCheckpoint(const std::filesystem::path& run,
                                                            std::optional<std::int64_t> step,
                                                            const std::filesystem::path& directory,
                                                            const PreparationWatch& watch);

private:
    using Take = std::function<Status(std::string_view bytes)>;

    [[nodiscard]] Result<FilesLacking> offer(const OfferFiles& files);
    [[nodiscard]] Status sendFile(const ProjectFiles::File& file, const PreparationWatch& watch);
    /// Refuses an answer with a name that is not allowed, with a name twice, or with a size that no file has.
    [[nodiscard]] Result<FilesOpened> open(const FileRequest& request,
                                           const std::function<bool(const std::string& name)>& isAllowed);
    /// Returns notes on the results that were not copied.
    [[nodiscard]] std::vector<std::string> fetchEffects(const std::filesystem::path& run, std::int64_t step,
                                                        const std::filesystem::path& directory);
    /// Reads the file at `index`, which must have exactly the bytes that it is announced with.
    [[nodiscard]] Status read(const FilesOpened& opened, std::size_t index, const Take& take);
    [[nodiscard]] Status readInto(const FilesOpened& opened, std::size_t index, const std::filesystem::path& path,
                                  const PreparationWatch& watch);
    template <class Answer>
    [[nodiscard]] Result<WithBytes<Answer>> ask(const FileRequest& request);

    FileConnection m_connection;
    std::int64_t m_done = 0; ///< bytes of a transfer
    std::int64_t m_all = 0;
};

} // namespace residua::engine
