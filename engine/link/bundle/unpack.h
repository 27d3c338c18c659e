// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/bundle/archive.h"
#include "engine/link/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// Reads bundles and unpacks their projects and runs. Blocking; any thread.

/// Reads and checks the list of a bundle, without reading its files. Returns an error if the file is not a bundle, or
/// if its list names a place outside the folder, a name twice, or a file within a file.
[[nodiscard]] Result<BundleContents> readBundle(const std::filesystem::path& file);

/// The result of unpacking one run.
enum class RunArrival {
    New,    ///< no run had its name
    GoneOn, ///< an earlier state of the same run existed; it was moved to the trash beside it
    /// another run has its name; or the same run, whose checkpoints would go to the trash without being replaced
    Renamed,
    Known, ///< the same run exists at this step or later and was kept
};
struct ArrivedRun {
    std::filesystem::path directory;
    RunArrival arrival = RunArrival::New;
    std::int64_t step = 0; ///< the steps done by the bundle's run
};
struct UnpackedBundle {
    std::filesystem::path project; ///< the project's folder
    bool joined = false; ///< true if the project existed before; only runs, and data that it lacked, were added
    std::vector<ArrivedRun> runs;
    std::vector<std::string> notes;
};

/// The permitted size of an unpacked bundle. Plausible: at most kMostGrowth times its own size, or 1 GiB if that is
/// more.
enum class BundleGrowth { Plausible, Any };
/// Real text and weights compress to a tenth at best, and a repeated line to a hundredth.
inline constexpr std::int64_t kMostGrowth = 1000;

/// Unpacks a bundle into `folder`, or if that is empty, into a folder with the bundle's name in the current one. A
/// folder that does not exist becomes the project. If the folder is the same project, by its identity, the runs are
/// added to it; any other folder is refused. So is a bundle that would grow more than `growth` allows. The files are
/// unpacked and checked in a temporary folder beside the target, then moved; on error or if cancelled, nothing remains.
[[nodiscard]] Result<UnpackedBundle> unpack(const std::filesystem::path& file, const std::filesystem::path& folder = {},
                                            const BundleWatch& watch = {},
                                            BundleGrowth growth = BundleGrowth::Plausible);

/// Returns "new", "gone on", "renamed" or "known".
[[nodiscard]] std::string textOf(RunArrival arrival);

/// Reads the list at the beginning of a bundle. `file` is named in errors.
[[nodiscard]] Result<BundleContents> readContents(ArchiveReader& reader, const std::filesystem::path& file);
/// Writes the files of the list below `folder`, which must exist, be empty and belong to the caller. The archive must
/// contain exactly these files, in this order, each with the listed size and checksum.
[[nodiscard]] Status extractFiles(ArchiveReader& reader, const std::filesystem::path& file,
                                  const BundleContents& contents, const std::filesystem::path& folder,
                                  const BundleWatch& watch);
/// Refuses a bundle that unpacks to more than kMostGrowth times its size, which may have been made to fill a disk.
[[nodiscard]] Status checkGrowth(const BundleContents& contents, const std::filesystem::path& file);
/// Returns an error if the disk of `folder` has no room for the files.
[[nodiscard]] Status checkRoom(const BundleContents& contents, const std::filesystem::path& folder);

/// Returns the relative path from a run at `place`, below its project's folder, to that folder: "../..".
[[nodiscard]] std::filesystem::path wayUp(const std::string& place);

/// Reads the files unpacked into `folder`; returns an error if they are not a project with its runs.
[[nodiscard]] Status checkUnpacked(const std::filesystem::path& file, const BundleContents& contents,
                                   const std::filesystem::path& folder);
/// Moves the runs, and the data that the project lacks, from `folder` into the project in result.project. On error,
/// nothing is moved. `watch` is called before the first move and may cancel.
[[nodiscard]] Status join(const BundleContents& contents, const std::filesystem::path& folder, const BundleWatch& watch,
                          UnpackedBundle& result);

} // namespace residua::engine
