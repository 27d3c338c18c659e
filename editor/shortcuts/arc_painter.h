// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from shortcut_canvas.h, because the depth canvas draws arcs too.

#include "editor/scenes/depth_lanes.h"
#include "editor/scenes/viewport.h"

#include <imgui.h>

namespace residua::editor {

struct Stroke {
    ImU32 colour = 0;
    float width = 1; ///< screen pixels
};

/// Draws each arc as one strip with two vertices per point, restricted to the visible part.
class ArcPainter {
public:
    ArcPainter(ImDrawList& list, const Viewport& view, float width, float height)
        : m_list(list), m_view(view), m_width(width), m_height(height)
    {
    }

    void stroke(const ArcShape& arc, const Stroke& stroke) const;
    void dash(const ArcShape& arc, const Stroke& stroke) const;

private:
    void strip(const ArcShape& onScreen, float base, float from, float to, const Stroke& stroke) const;

    ImDrawList& m_list;
    const Viewport& m_view;
    float m_width;
    float m_height;
};

} // namespace residua::editor
