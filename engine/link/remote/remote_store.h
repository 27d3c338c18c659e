// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/content_hash.h"
#include "engine/link/wire/file_messages.h"
#include "projects/base/files.h"
#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The engine's end of a connection for files. Writes below the place's folder only: files by their content, complete
/// or absent, and folders of links to them as projects. A received file is written in a folder that is removed with
/// this object, or by the next one if the process is killed. One thread.
class RemoteStore {
public:
    /// Creates the folder and those below it. Returns an error if one of them is a link or not a folder.
    [[nodiscard]] static Result<RemoteStore> open(const std::filesystem::path& folder);

    /// Returns the answer to a request; nullopt if it has none.
    [[nodiscard]] std::optional<Frame> answer(Frame request);

private:
    /// A file that is being received.
    struct Arriving {
        std::string hash;
        std::filesystem::path path;
        FileDescriptor file;
        std::int64_t bytes = 0;
        Sha256 received;
    };
    /// A file that is being sent.
    struct Leaving {
        InputFile file;
        std::uint64_t sent = 0;
        Sha256 hash;
        bool ended = false;
    };

    RemoteStore(std::filesystem::path folder, ScratchFolder scratch)
        : m_folder(std::move(folder)), m_scratch(std::move(scratch))
    {
    }
    [[nodiscard]] Result<FilesLacking> offered(const OfferFiles& offer);
    [[nodiscard]] Status checkOffer(const OfferFiles& offer) const;
    [[nodiscard]] Status makeProject(const OfferFiles& offer, const std::filesystem::path& project) const;
    [[nodiscard]] Status store(const StorePart& part, std::string_view bytes);
    [[nodiscard]] Status begin(const StorePart& part);
    [[nodiscard]] Status endArriving();
    [[nodiscard]] Result<FilesOpened> openRecord(const OpenRecord& request);
    [[nodiscard]] Result<FilesOpened> openCheckpoint(const OpenCheckpoint& request);
    [[nodiscard]] Result<FilesOpened> openEffects(const OpenEffects& request);
    /// Opens a file of a run for sending. Returns an error if it is reached through a link.
    [[nodiscard]] Status addOfRun(FilesOpened& opened, const std::filesystem::path& path);
    [[nodiscard]] Status addOpened(FilesOpened& opened, const std::string& name, const std::filesystem::path& path);
    [[nodiscard]] Result<FilePart> readPart(const ReadPart& request, std::string& bytes);
    [[nodiscard]] std::filesystem::path contentOf(const std::string& hash) const;

    std::filesystem::path m_folder;
    ScratchFolder m_scratch;
    std::map<std::string, std::int64_t> m_lacking; ///< bytes by hash, of the last offer
    std::optional<Arriving> m_arriving;
    Status m_stored = Done{}; ///< the first error since the last offer
    std::vector<Leaving> m_opened;
};

/// Removes from a place's folder what was not used for the longest time, until its files are within
/// kPlaceLimit: first files that no project has, then projects with the files that no other one has. Keeps the project
/// of a run that is being written, and what was used within the last day. A run whose project was removed gets it again
/// when it is used with a project. `scratch` is a folder on the same file system, for what is being removed.
void trimPlace(const std::filesystem::path& folder, const std::filesystem::path& scratch);

} // namespace residua::engine
