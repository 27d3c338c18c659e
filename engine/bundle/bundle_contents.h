// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// A project and runs of it as one file, to be taken to another machine and back: a tar archive compressed by zstd. Its
/// first entry is a list of all others with their sizes and checksums, and nothing is taken out of a bundle but what
/// this list has. Blocking; any thread.
namespace residua::engine {

/// What a bundle's name ends in.
inline constexpr const char* kBundleSuffix = ".residua";

/// Told now and then what share is done, 0 to 1, on the calling thread; false gives it up. Empty: nobody watches.
using BundleWatch = std::function<bool(double share)>;

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

} // namespace residua::engine
