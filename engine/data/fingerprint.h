// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/runs/data_part.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <optional>

namespace residua::engine {

/// Whether a fingerprint waits for the hash of every byte.
enum class LargeFiles {
    EveryByte,
    AsKnown, ///< takes it only where it is kept: for queries, which must not wait until hundreds of gigabytes are read
};

/// What the examples of a project come from, so that a run that is used again can tell whether they are the same:
/// - of the file, or the files of the folder, at each path: how many there are, their bytes in all, and a hash of their
///   names below the folder, their sizes and their content. Where they have more than 256 MiB together, the hash takes
///   256 blocks of 1 MiB at equal distances of the files one after another, the first and the last block included, and
///   a second hash after it is of every byte, kept by the times of the files (file_digest.h). Earlier versions had the
///   first alone: of a run of theirs a change between the blocks that keeps all sizes is not seen.
/// - the same of each of the tokeniser's files (tokeniserFiles);
/// - of a generator, its parameters, the fractions and the seed.
/// Reads the files, and maps none. An error where one cannot be read. Any thread; `watch` may give it up,
/// before anything is read too.
[[nodiscard]] Result<DataFingerprint> fingerprintOf(const projects::Project& project,
                                                    const std::filesystem::path& projectDirectory,
                                                    const PreparationWatch& watch = {},
                                                    LargeFiles large = LargeFiles::EveryByte);

/// Whether the files, their bytes and content are the same, whatever the names. As far as both tell: see above.
[[nodiscard]] bool isSameContent(const DataPart& one, const DataPart& other);

/// The part of fingerprintOf() that is about the tokeniser's files; empty where there are none.
[[nodiscard]] Result<DataFingerprint> tokeniserFingerprint(const projects::Project& project,
                                                           const std::filesystem::path& projectDirectory);

/// Where `got` is not what was `expected`: the part, what each has. Nothing where they agree.
[[nodiscard]] std::optional<Error> differenceOf(const DataFingerprint& expected, const DataFingerprint& got);

} // namespace residua::engine
