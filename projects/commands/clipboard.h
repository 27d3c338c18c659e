// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/selection.h"
#include "projects/edit/edit.h"
#include "projects/layers/layer_edits.h"

#include <string>
#include <string_view>

// Layers and shortcuts on the system's clipboard: the text is a project that holds just them, so that it can
// be pasted into another window, an editor or a file, and is checked as a file is.
namespace residua::projects {

/// The fragment as text; empty where the fragment is.
[[nodiscard]] std::string toClipboard(const StackFragment& fragment);
[[nodiscard]] Result<StackFragment> fromClipboard(std::string_view text);

/// The edit that adds what a text from the clipboard holds. Layers go behind the last selected one, or to the end.
/// Shortcuts are added such that the first of their sources is the first selected layer, or as they were where none is
/// selected; what then has no place is left out. An error says why nothing can be added.
[[nodiscard]] Result<Edit> pasteEdit(const Document& document, const Selection& selection,
                                     const StackFragment& fragment);

} // namespace residua::projects
