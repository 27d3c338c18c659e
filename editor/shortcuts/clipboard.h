// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/shortcuts/layer_edits.h"
#include "projects/base/result.h"

#include <string>
#include <string_view>

// Layers and shortcuts on the system's clipboard: the text is a project that holds just them, so that it goes to
// another window, an editor or a file, and is read with the same care.
namespace residua::editor {

/// Empty where the fragment is.
[[nodiscard]] std::string toClipboard(const Fragment& fragment);
[[nodiscard]] Result<Fragment> fromClipboard(std::string_view text);

/// Layers go behind the last selected one, or to the end. Shortcuts are added such that the first of their sources is
/// the first selected layer, or as they were where none is selected; what then has no place is left out. An error says
/// why nothing can be added.
[[nodiscard]] Result<projects::Edit> pasteEdit(const projects::Document& document, const Selection& selection,
                                               const Fragment& fragment);

} // namespace residua::editor
