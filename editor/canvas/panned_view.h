// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/minimap.h"
#include "editor/canvas/viewport.h"

#include <optional>

namespace residua::editor {

/// Space around what is fitted, on the screen, and the largest scale at which that is done.
struct Framing {
    float left = 0; ///< taken by axes, legends and the like, as are top and bottom
    float top = 0;
    float bottom = 0;
    float margin = 48;
    float maxZoom = 1.3F;
};

/// The part of a scene that a canvas shows, and how a person moves it: wheel, middle button, minimap. It shows
/// everything, also in another size, until a person moves it. Every canvas has one.
class PannedView {
public:
    [[nodiscard]] const Viewport& viewport() const { return m_viewport; }
    [[nodiscard]] float width() const { return m_width; }
    [[nodiscard]] float height() const { return m_height; }
    /// The part of the scene that is shown, in scene units.
    [[nodiscard]] Rect inSight() const { return m_viewport.visible(m_width, m_height); }

    /// Shows everything from the next frame on.
    void fit() { m_fitted = m_fitDue = true; }
    /// Shows everything from the next frame on, unless a person has moved the view: for a scene that has another size
    /// now.
    void refit() { m_fitDue = m_fitDue || m_fitted; }
    /// Whether everything is shown, or will be from the next frame on.
    [[nodiscard]] bool fitted() const { return m_fitted; }
    void zoomTo(const Rect& area, const Framing& framing);
    /// Moves the view no more than it takes to have `area` in sight.
    void reveal(const Rect& area, const Framing& framing);

    // The functions from here to handlePointer() are called in each frame, in this order.
    void resize(float width, float height);
    /// The width and height in which everything will be fitted in this frame; nullopt where it is not.
    [[nodiscard]] std::optional<Point> fitSpace(const Framing& framing) const;
    void fitTo(const Rect& bounds, const Framing& framing);
    enum class LeftButton { Free, Pans };
    /// Moves the view as the pointer does, `inside` the canvas or not. Where it returns true, nothing else may react to
    /// the pointer.
    bool handlePointer(const Rect& bounds, bool inside, LeftButton left);

    [[nodiscard]] bool moving() const { return m_moving != Moving::No; }
    /// Ends a move; false where there was none.
    bool stopMoving();
    /// nullopt while everything is in sight.
    [[nodiscard]] std::optional<Minimap> minimap(const Rect& bounds) const
    {
        return layoutMinimap(bounds, m_viewport, m_width, m_height);
    }

private:
    enum class Moving { No, Pan, Minimap };
    /// Keeps the view where a person has moved it: it is no longer fitted.
    void stay();
    bool begin(const Rect& bounds, LeftButton left);
    void proceed(const Rect& bounds);
    void lookAt(Point onMinimap, const Rect& bounds);

    Viewport m_viewport;
    float m_width = 0;
    float m_height = 0;
    bool m_fitted = true;
    bool m_fitDue = true;
    Moving m_moving = Moving::No;
};

/// Where the pointer is in this frame.
[[nodiscard]] Point pointerPosition();
/// Whether the pointer is over a canvas of this size.
[[nodiscard]] bool pointerInside(float width, float height);

} // namespace residua::editor
