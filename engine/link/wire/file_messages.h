// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/wire/frame.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The messages of a connection for files, between a program and an engine on another machine (Serves::Files). The
/// bytes of a file, and the list of OfferFiles or FilesLacking, are in Frame::numbers.
namespace residua::engine {

/// The maximum number of a file's bytes in one message.
inline constexpr std::size_t kMostPartBytes = std::size_t{4} << 20;

/// The maximum size of a file, and number of files in one project.
inline constexpr std::int64_t kMostStoredBytes = std::int64_t{1} << 40;
inline constexpr std::size_t kMostStoredFiles = 2'000'000;

/// A file of a project.
struct FileOffer {
    std::string path; ///< below the project's folder, parts joined by '/'
    std::int64_t bytes = 0;
    std::string hash; ///< SHA-256
    bool operator==(const FileOffer&) const = default;
};

/// Asks which files of a project are lacking. Answered by FilesLacking.
struct OfferFiles {
    std::vector<FileOffer> files;
};
/// Carries the next bytes of a lacking file. Is not answered; an error is the answer to the next offer.
struct StorePart {
    std::string hash;
    std::int64_t offset = 0;
};
/// Opens the record of a run: run.json, and if asked for, a copy of the store. Answered by FilesOpened.
struct OpenRecord {
    std::string run;    ///< its directory, relative to the place's folder
    bool store = false; ///< the store too, if there is one that can be read
    bool ended = false; ///< waits half a minute for a process that writes the run
};
/// Opens the files of a checkpoint. Answered by FilesOpened.
struct OpenCheckpoint {
    std::string run;
    std::optional<std::int64_t> step; ///< nullopt: the last one
};
/// Opens the results of knock-outs of a checkpoint that the run keeps (engine/runs/results/effects.h). Answered by
/// FilesOpened.
struct OpenEffects {
    std::string run;
    std::int64_t step = 0;
};
/// Asks for the next bytes of an opened file, from its beginning on. Answered by FilePart.
struct ReadPart {
    std::int64_t file = 0; ///< its index in FilesOpened
};
using FileRequest = std::variant<OfferFiles, StorePart, OpenRecord, OpenCheckpoint, OpenEffects, ReadPart>;

struct FilesLacking {
    std::vector<std::string> hashes; ///< of the files to send; each once
    std::string project;             ///< the project's folder, relative to the place's; empty if files are lacking
};
struct OpenedFile {
    std::string name;
    std::int64_t bytes = 0;
};
struct FilesOpened {
    std::vector<OpenedFile> files;
    std::int64_t step = 0; ///< of a checkpoint
};
struct FilePart {
    std::string hash; ///< SHA-256 of the whole file, with its last part; else empty
};
struct FilesRefused {
    Error error;
};
using FileAnswer = std::variant<FilesLacking, FilesOpened, FilePart, FilesRefused>;

/// A message with its bytes.
template <class Message>
struct WithBytes {
    Message message;
    std::string bytes;
};

/// Conversions, as those of messages.h. Reading refuses a list of more than kMostStoredFiles.
[[nodiscard]] Frame frameOf(const FileRequest& request, std::string bytes = {});
[[nodiscard]] Frame frameOf(const FileAnswer& answer, std::string bytes = {});
[[nodiscard]] Result<WithBytes<FileRequest>> fileRequestFrom(Frame frame);
[[nodiscard]] Result<WithBytes<FileAnswer>> fileAnswerFrom(Frame frame);

} // namespace residua::engine
