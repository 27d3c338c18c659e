// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/selection.h"
#include "projects/edit/edit.h"
#include "projects/layers/layer_edits.h"

#include <string>
#include <string_view>

// Layers and shortcuts on the system's clipboard. The text is a project with only them, so that it can be pasted into
// another window, an editor or a file, and is checked like a file.
namespace residua::projects {

/// Formats the fragment; empty if the fragment is empty.
[[nodiscard]] std::string toClipboard(const StackFragment& fragment);
[[nodiscard]] Result<StackFragment> fromClipboard(std::string_view text);

/// Returns the edit that pastes the fragment. Layers are inserted after the last selected one, or at the end. Shortcuts
/// are moved so that their first source is the first selected layer, or keep their place if none is selected. Those
/// without a place are skipped. The error gives the reason why nothing can be added.
[[nodiscard]] Result<Edit> pasteEdit(const Document& document, const Selection& selection,
                                     const StackFragment& fragment);

} // namespace residua::projects
