// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace residua::resources {

/// A page of the help: a file of resources/help, or the page of all fields.
struct HelpPage {
    std::string_view name; ///< name of the file without .md
    std::string_view text;
};

/// Returns all pages, in no particular order. The build generates the source (EmbedText.cmake).
[[nodiscard]] std::span<const HelpPage> helpPages();

} // namespace residua::resources
