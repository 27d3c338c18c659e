// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/bundle/pack.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A file to pack: its source on the disk, or a text that replaces it.
struct ListedFile {
    std::string path; ///< in the bundle
    std::filesystem::path source;
    std::optional<std::string> text;
    std::int64_t bytes = 0;
};

/// The files of a future bundle. While a list made ToPack exists, no other process can start to write its runs.
struct PackingList {
    BundleContents contents;       ///< complete except for `files`
    std::filesystem::path project; ///< the project's folder
    std::vector<ListedFile> files;
    std::vector<FileDescriptor> held; ///< the locks of the runs
    std::vector<std::string> notes;
};

/// ToPack gives the project an identity if it has none, and holds the locks of the runs. ToWeigh writes and locks
/// nothing.
enum class Listing { ToPack, ToWeigh };

[[nodiscard]] Result<PackingList> packingList(const PackRequest& request, Listing listing);

} // namespace residua::engine
