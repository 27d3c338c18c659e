// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "projects/edit/edit.h"

#include <optional>
#include <string_view>

namespace residua::editor {

struct Typed {
    TypedAnswer answer;
    std::optional<projects::Edit> edit; ///< where the answer is valid
    Selection selection;                ///< what the edit brings, where it can be selected
};

/// What a text typed on a view of the topology means: shortcuts ("3:7", "0:2, 1:4", "i:i+2", "cascaded"), a wiring by
/// name ("ancre"), layers of a block ("mlp", "4 mlp", behind the selected ones), a name for the selected layers
/// ("group early").
[[nodiscard]] Typed typed(const projects::Document& document, const Selection& selection, std::string_view text);

} // namespace residua::editor
