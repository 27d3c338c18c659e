// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from other texts, because its source is generated.

#include <string_view>

namespace residua::resources {

/// Returns the text of resources/reproductions.json: the papers' tables and figures, the commands that stand for them,
/// and what these gave. app/cli/reproduce reads it. The build generates the source (EmbedText.cmake).
[[nodiscard]] std::string_view reproductionsJson();

} // namespace residua::resources
