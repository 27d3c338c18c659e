// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// A project and runs of it into a bundle. Blocking; any thread.
namespace residua::engine {

/// Which checkpoints of each run come along. Best: the one of the least validation loss, or the last where no loss of
/// any is known.
enum class BundledCheckpoints { All, Last, Best, None };
/// Whether the data come along, or only what they are known by again. A tokeniser's model always does.
enum class BundledData { Files, Fingerprint };

struct PackRequest {
    std::filesystem::path source; ///< a project's folder (or its project.json) with all its runs; or one run
    BundledCheckpoints checkpoints = BundledCheckpoints::Last;
    BundledData data = BundledData::Files;
};

struct PackedBundle {
    BundleContents contents;
    std::int64_t size = 0;          ///< of the bundle, in bytes; 0: it was only weighed
    std::vector<std::string> notes; ///< what a person should know, such as runs that were left out
};

/// What pack() would write, without reading the files: no checksums. An error as pack() has it.
[[nodiscard]] Result<PackedBundle> weighBundle(const PackRequest& request);
/// Writes the bundle to `file`, which is replaced at the end: temp + fsync + rename. A run that is being trained is
/// left out, with a note; named alone it is refused. Data outside the project's folder are put into data/ of the
/// bundle, and its documents name them there. Refused where data are missing that are to come along.
[[nodiscard]] Result<PackedBundle> pack(const PackRequest& request, const std::filesystem::path& file,
                                        const BundleWatch& watch = {});

} // namespace residua::engine
