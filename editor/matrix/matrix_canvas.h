// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <memory>

namespace residua::editor {

/// The topology as a grid, row = target, column = source. A click or a drag adds or prunes; arrows
/// move a cell cursor, Space toggles its shortcut (held, it moves the view), Page Up and Page Down change the port,
/// Home and End whether mean, spread or a single feature is shown where each feature has a weight of its own.
[[nodiscard]] std::unique_ptr<Canvas> makeMatrixCanvas();

} // namespace residua::editor
