// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace residua::resources {

/// A file of resources/help as the build found it.
struct HelpPage {
    std::string_view name; ///< the file's, without .md
    std::string_view text;
};

/// By name. The build generates the source from the files (EmbedText.cmake).
[[nodiscard]] std::span<const HelpPage> helpPages();

} // namespace residua::resources
