// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas_image.h"
#include "editor/canvas/viewport.h"
#include "editor/depth/arc_ink.h"

#include <functional>
#include <optional>
#include <vector>

namespace residua::editor {

/// The part of a scene that a picture shows.
struct ArcView {
    Viewport viewport;
    float width = 0; ///< logical pixels
    float height = 0;
    float ratio = 1; ///< device pixels per logical pixel
};

/// Draws every visible arc without a GPU as Dear ImGui would: one after the other, thin ones first if they are crowded.
/// Any thread. Returns nullopt once `wanted`, which is called from time to time, returns false.
[[nodiscard]] std::optional<CanvasImage> rasterise(const std::vector<ArcInk>& inks, const ArcView& view,
                                                   const std::function<bool()>& wanted = {});

} // namespace residua::editor
