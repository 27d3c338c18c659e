// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// What a bundle holds, and its project and runs out of it. Blocking; any thread.
namespace residua::engine {

/// The list of a bundle, checked; its files are not read. Refused, with the reason: what is no bundle, a list that
/// names a place outside the folder, a name twice, or a file within a file.
[[nodiscard]] Result<BundleContents> readBundle(const std::filesystem::path& file);

/// What became of one run of a bundle.
enum class RunArrival {
    New,     ///< there was none of its name
    GoneOn,  ///< the same run, trained further: the one that was there lies in the trash beside it
    Renamed, ///< another run has its name; or the same, with checkpoints that this one would send to the trash
    Known,   ///< the same run is there, as far or further: it was left
};
struct ArrivedRun {
    std::filesystem::path directory;
    RunArrival arrival = RunArrival::New;
    std::int64_t step = 0; ///< steps that the bundle's has done
};
struct UnpackedBundle {
    std::filesystem::path project; ///< its folder
    bool joined = false;           ///< it was there before; only runs, and data that it lacked, were added
    std::vector<ArrivedRun> runs;
    std::vector<std::string> notes;
};

/// How large a bundle may become. Plausible: at most kMostGrowth times its own size, or 1 GiB where that is more.
enum class BundleGrowth { Plausible, Any };
/// Text and weights that people have are packed to a tenth at best, and the same line over and over to a hundredth.
inline constexpr std::int64_t kMostGrowth = 1000;

/// Unpacks a bundle into `folder`, or, where that is empty, into a folder of the bundle's name in the current one. One
/// that does not exist becomes the project; one that is the same project, by its identity, is joined by the runs; any
/// other is refused, and so is one that would grow more than `growth` allows. All is unpacked and checked in a
/// temporary folder beside its place and moved at the end: on error, or given up, nothing of it remains.
[[nodiscard]] Result<UnpackedBundle> unpack(const std::filesystem::path& file, const std::filesystem::path& folder = {},
                                            const BundleWatch& watch = {},
                                            BundleGrowth growth = BundleGrowth::Plausible);

/// "new", "gone on", "renamed", "known".
[[nodiscard]] std::string textOf(RunArrival arrival);

} // namespace residua::engine
