// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Packs a project with runs into a bundle. Blocking; any thread.
namespace residua::engine {

/// The checkpoints of each run to pack. Best: the one with the least validation loss, or the last if no losses are
/// known.
enum class BundledCheckpoints { All, Last, Best, None };
/// Whether to pack the data, or only their fingerprint. A tokeniser's model is always packed.
enum class BundledData { Files, Fingerprint };

struct PackRequest {
    std::filesystem::path source; ///< a project's folder (or its project.json) with all its runs; or one run
    BundledCheckpoints checkpoints = BundledCheckpoints::Last;
    BundledData data = BundledData::Files;
};

struct PackedBundle {
    BundleContents contents;
    std::int64_t size = 0;          ///< of the bundle in bytes; 0 if it was not written
    std::vector<std::string> notes; ///< for the user, such as runs that were left out
};

/// Returns the contents that pack() would write, without checksums, because it does not read the files. Errors as
/// pack().
[[nodiscard]] Result<PackedBundle> weighBundle(const PackRequest& request);
/// Writes the bundle to `file`, which is replaced at the end (temporary file, fsync, rename). A run that is being
/// trained is left out with a note, or refused if it is the source. Data outside the project's folder are packed below
/// data/, and the packed documents name them there. Refused if data to be packed are missing.
[[nodiscard]] Result<PackedBundle> pack(const PackRequest& request, const std::filesystem::path& file,
                                        const BundleWatch& watch = {});

} // namespace residua::engine
