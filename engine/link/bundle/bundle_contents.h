// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// A project with runs in one file, to copy between machines: a tar archive compressed by zstd. Its first entry lists
/// all others with their sizes and checksums; unpacking writes only listed files. Blocking; any thread.
namespace residua::engine {

/// The extension of a bundle.
inline constexpr const char* kBundleSuffix = ".residua";

/// Receives the fraction that is done, 0 to 1, on the calling thread; returns false to cancel. May be empty.
using BundleWatch = std::function<bool(double share)>;

/// One file of a bundle.
struct BundledFile {
    std::string path; ///< below the project's folder, parts joined by '/'
    std::int64_t bytes = 0;
    std::uint32_t checksum = 0; ///< CRC-32C of its bytes
    bool operator==(const BundledFile&) const = default;
};

/// A data path of a project, or the model of its tokeniser.
struct BundledPart {
    std::string name; ///< the path in the bundled project
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    bool inside = false; ///< true if the files are in the bundle
    bool operator==(const BundledPart&) const = default;
};

/// The contents of a bundle, as its first entry lists them.
struct BundleContents {
    std::string project;           ///< the project's name
    std::string folder;            ///< the name of the project's folder
    std::string identity;          ///< the project's (project_identity.h); empty if it had none
    std::vector<std::string> runs; ///< their paths relative to the project's folder
    std::int64_t checkpoints = 0;  ///< of all runs
    std::vector<BundledPart> data; ///< of the project and of the runs
    std::vector<BundledFile> files;

    [[nodiscard]] std::int64_t bytes() const; ///< unpacked
    bool operator==(const BundleContents&) const = default;
};

} // namespace residua::engine
