// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// A project and runs of it as one file, to be taken to another machine and back: a tar archive compressed by zstd. Its
/// first entry is a list of all others with their sizes and checksums, and nothing is taken out of a bundle but what
/// this list has. Blocking; any thread.

/// What a bundle's name ends in.
inline constexpr const char* kBundleSuffix = ".residua";

/// Told now and then what share is done, 0 to 1, on the calling thread; false gives it up. Empty: nobody watches.
using BundleWatch = std::function<bool(double share)>;

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

/// One file of a bundle.
struct BundledFile {
    std::string path; ///< below the project's folder, parts joined by '/'
    std::int64_t bytes = 0;
    std::uint32_t checksum = 0; ///< CRC-32C of its bytes
    bool operator==(const BundledFile&) const = default;
};

/// What a project names as its data, or as its tokeniser's model.
struct BundledPart {
    std::string name; ///< the path as the bundled project has it
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    bool inside = false; ///< whether the files are in the bundle
    bool operator==(const BundledPart&) const = default;
};

/// What a bundle holds: its list.
struct BundleContents {
    std::string project;           ///< its name
    std::string folder;            ///< what the project's folder was called
    std::string identity;          ///< the project's (project_identity.h); empty: it had none
    std::vector<std::string> runs; ///< their paths below the project's folder
    std::int64_t checkpoints = 0;  ///< of all runs
    std::vector<BundledPart> data; ///< of the project and of the runs
    std::vector<BundledFile> files;

    [[nodiscard]] std::int64_t bytes() const; ///< unpacked
    bool operator==(const BundleContents&) const = default;
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
