// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/pack.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A file that is to be packed: one on the disk, or a text that stands for it.
struct ListedFile {
    std::string path; ///< in the bundle
    std::filesystem::path source;
    std::optional<std::string> text;
    std::int64_t bytes = 0;
};

/// What a bundle is made from. While a list made ToPack exists, no process can begin to write its runs.
struct PackingList {
    BundleContents contents;       ///< all of it but `files`
    std::filesystem::path project; ///< its folder
    std::vector<ListedFile> files;
    std::vector<FileDescriptor> held; ///< the locks of the runs
    std::vector<std::string> notes;
};

/// ToPack gives a project without an identity one, and holds the locks of the runs; ToWeigh writes and locks nothing.
enum class Listing { ToPack, ToWeigh };

[[nodiscard]] Result<PackingList> packingList(const PackRequest& request, Listing listing);

} // namespace residua::engine
