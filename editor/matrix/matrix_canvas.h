// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <memory>

namespace residua::editor {

/// Makes the canvas of the topology as a grid with targets as rows and sources as columns. A click or a drag adds or
/// prunes. Arrows move a cell cursor and Space toggles its shortcut; held, it moves the view. Page Up and Page Down
/// change the port. Home and End change between mean, spread and a single feature if each feature has a weight of its
/// own.
[[nodiscard]] std::unique_ptr<Canvas> makeMatrixCanvas();

} // namespace residua::editor
