// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"

#include <algorithm>

namespace residua::editor {

/// Pan and zoom: screen = (scene − origin) · zoom, in logical pixels.
class Viewport {
public:
    static constexpr float kMinZoom = 0.0005F; ///< ten thousand layers fit on a screen
    static constexpr float kMaxZoom = 4.0F;

    [[nodiscard]] float zoom() const { return m_zoom; }
    [[nodiscard]] Point toScreen(Point p) const { return {(p.x - m_origin.x) * m_zoom, (p.y - m_origin.y) * m_zoom}; }
    [[nodiscard]] Point toScene(Point p) const { return {p.x / m_zoom + m_origin.x, p.y / m_zoom + m_origin.y}; }
    [[nodiscard]] Rect rectToScreen(const Rect& r) const
    {
        const Point a = toScreen(Point{r.left, r.top});
        const Point b = toScreen(Point{r.right, r.bottom});
        return {a.x, a.y, b.x, b.y};
    }
    [[nodiscard]] Rect visible(float width, float height) const
    {
        const Point a = toScene({0, 0});
        const Point b = toScene({width, height});
        return {a.x, a.y, b.x, b.y};
    }

    /// Returns the view of a scene whose origin is at `at` in this one, with units of `scale` of this one's.
    [[nodiscard]] Viewport within(Point at, float scale) const
    {
        Viewport inner;
        inner.m_zoom = m_zoom * scale;
        inner.m_origin = {(m_origin.x - at.x) / scale, (m_origin.y - at.y) / scale};
        return inner;
    }

    void panBy(float dx, float dy)
    {
        m_origin.x -= dx / m_zoom;
        m_origin.y -= dy / m_zoom;
    }
    /// Zooms so that the scene point under `screen` stays there.
    void zoomAt(Point screen, float factor)
    {
        const Point fixed = toScene(screen);
        m_zoom = std::clamp(m_zoom * factor, kMinZoom, kMaxZoom);
        m_origin = {fixed.x - screen.x / m_zoom, fixed.y - screen.y / m_zoom};
    }
    /// Shows `area` with a margin, centred, at no more than `maxZoom`.
    void fit(const Rect& area, float width, float height, float margin, float maxZoom)
    {
        const float w = std::max(area.right - area.left, 1.0F);
        const float h = std::max(area.bottom - area.top, 1.0F);
        const float room = std::min((width - 2 * margin) / w, (height - 2 * margin) / h);
        m_zoom = std::clamp(room, kMinZoom, maxZoom);
        m_origin = {area.left + w / 2 - width / 2 / m_zoom, area.top + h / 2 - height / 2 / m_zoom};
    }

private:
    float m_zoom = 1;
    Point m_origin;
};

} // namespace residua::editor
