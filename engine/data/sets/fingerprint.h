// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <optional>

namespace residua::engine {

/// Whether a fingerprint waits for the hash of every byte.
enum class LargeFiles {
    EveryByte,
    AsKnown, ///< uses that hash only if it is cached: for queries, which must not read hundreds of gigabytes first
};

/// Returns the fingerprint of a project's examples, which tells whether a run is used with the same data again:
/// - For the file or the folder's files at each path: their number, their total size, and a hash of their names below
///   the folder, their sizes and their contents. If they exceed 256 MiB in total, this hash covers 256 blocks of 1 MiB
///   at equal distances in their concatenation, including the first and the last block. A second hash then covers every
///   byte and is cached by the files' times (file_digest.h). Runs of earlier versions have the first hash only, so a
///   change between the blocks that keeps all sizes is not detected.
/// - The same for each of the tokeniser's files (tokeniserFiles).
/// - For a generator: its parameters, the fractions and the seed.
/// The files are those that `reading` reads. Reads the files without mapping them. Returns an error if one cannot be
/// read. Any thread; `watch` may cancel, even before the first read.
[[nodiscard]] Result<DataFingerprint> fingerprintOf(const projects::Project& project,
                                                    const std::filesystem::path& projectDirectory,
                                                    const PreparationWatch& watch = {},
                                                    LargeFiles large = LargeFiles::EveryByte,
                                                    ReadingVersion reading = kNewestReading);

/// True if number, sizes and contents of the files are equal, whatever their names, as far as both fingerprints tell
/// (see fingerprintOf).
[[nodiscard]] bool isSameContent(const DataPart& one, const DataPart& other);

/// Returns the part of fingerprintOf() for the tokeniser's files; empty if it has none.
[[nodiscard]] Result<DataFingerprint> tokeniserFingerprint(const projects::Project& project,
                                                           const std::filesystem::path& projectDirectory);

/// Returns an error that names the first differing part and both its values; nullopt if the fingerprints agree.
[[nodiscard]] std::optional<Error> differenceOf(const DataFingerprint& expected, const DataFingerprint& got);

} // namespace residua::engine
