// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/data_paths.h"

namespace residua::engine {

namespace fs = std::filesystem;

fs::path withoutSlash(const fs::path& path)
{
    const fs::path normal = path.lexically_normal();
    return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

std::optional<fs::path> placeWithin(const fs::path& folder, const fs::path& path)
{
    const fs::path within = withoutSlash(path).lexically_relative(withoutSlash(folder));
    return within.empty() || *within.begin() == ".." ? std::nullopt : std::optional(within);
}

} // namespace residua::engine
