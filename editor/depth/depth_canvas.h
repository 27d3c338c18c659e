// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <memory>

namespace residua::editor {

/// Makes the canvas of the stack as a row of layer boxes with shortcuts as arcs.
[[nodiscard]] std::unique_ptr<Canvas> makeDepthCanvas();

} // namespace residua::editor
