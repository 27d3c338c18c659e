// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "editor/scenes/viewport.h"
#include "resources/colours.h"

#include <imgui.h>

#include <optional>

namespace residua::editor {

/// A small view of the whole scene in the canvas's lower right corner, shown while a part of the scene is not visible.
struct Minimap {
    Rect panel;   ///< on the screen
    Rect content; ///< the scene's bounds within it

    [[nodiscard]] Point toScene(Point onScreen, const Rect& bounds) const;
    [[nodiscard]] Rect toPanel(const Rect& inScene, const Rect& bounds) const;
};

/// Returns nullopt if all of `bounds` is visible or it is empty, or if the canvas is too small for a minimap.
[[nodiscard]] std::optional<Minimap> layoutMinimap(const Rect& bounds, const Viewport& view, float width, float height);
/// Paints the panel. Its content is drawn after this and before the frame of the visible part.
void paintMinimapPanel(ImDrawList& list, const Minimap& map, resources::Theme theme);
void paintMinimapFrame(ImDrawList& list, const Minimap& map, const Rect& inSight, resources::Theme theme);

/// The space around the fitted content on the screen, and the largest scale of a fit.
struct Framing {
    float left = 0; ///< top, left and bottom space is used by axes, legends and the like
    float top = 0;
    float bottom = 0;
    float margin = 48;
    float maxZoom = 1.3F;
};

/// The part of a scene that a canvas shows, and the ways to move it: wheel, middle button, minimap. It shows
/// everything, also after a resize, until the user moves it. Every canvas has one.
class PannedView {
public:
    [[nodiscard]] const Viewport& viewport() const { return m_viewport; }
    [[nodiscard]] float width() const { return m_width; }
    [[nodiscard]] float height() const { return m_height; }
    /// Returns the visible part of the scene, in scene units.
    [[nodiscard]] Rect inSight() const { return m_viewport.visible(m_width, m_height); }

    /// Shows everything from the next frame on.
    void fit()
    {
        m_fitted = m_fitDue = true;
        m_held.reset();
    }
    /// Shows everything from the next frame on, unless the user has moved the view. Call it if the size of the scene
    /// has changed.
    void refit() { m_fitDue = m_fitDue || m_fitted; }
    /// As refit(), but a line across the scene, at this height, keeps its place on the screen.
    void refitAround(float y);
    /// True if everything is shown, or will be from the next frame on.
    [[nodiscard]] bool fitted() const { return m_fitted; }
    void zoomTo(const Rect& area, const Framing& framing);
    /// Scrolls as little as necessary to make `area` visible.
    void reveal(const Rect& area, const Framing& framing);

    // The functions from here to handlePointer() are called in each frame, in this order.
    void resize(float width, float height);
    /// Returns the size into which everything will be fitted in this frame; nullopt if it will not.
    [[nodiscard]] std::optional<Point> fitSpace(const Framing& framing) const;
    void fitTo(const Rect& bounds, const Framing& framing);
    enum class LeftButton { Free, Pans };
    /// Moves the view by the pointer, which is `inside` the canvas or not. True if nothing else may react to it.
    bool handlePointer(const Rect& bounds, bool inside, LeftButton left);

    [[nodiscard]] bool moving() const { return m_moving != Moving::No; }
    /// Ends a move. Returns false if there was no move.
    bool stopMoving();
    /// Returns nullopt while everything is visible.
    [[nodiscard]] std::optional<Minimap> minimap(const Rect& bounds) const
    {
        return layoutMinimap(bounds, m_viewport, m_width, m_height);
    }

private:
    enum class Moving { No, Pan, Minimap };
    /// Keeps the view where the user has moved it, so that it is no longer fitted.
    void stay() { m_fitted = m_fitDue = false; }
    /// Returns the framing with less space around the content if the view is too low or too narrow for it.
    [[nodiscard]] Framing shrunk(Framing framing) const;
    bool begin(const Rect& bounds, LeftButton left);
    void proceed(const Rect& bounds);
    void lookAt(Point onMinimap, const Rect& bounds);

    Viewport m_viewport;
    float m_width = 0;
    float m_height = 0;
    bool m_fitted = true;
    bool m_fitDue = true;
    /// A line that keeps its place in the fit that is due.
    struct HeldLine {
        float inScene = 0;
        float onScreen = 0;
    };
    std::optional<HeldLine> m_held;
    Moving m_moving = Moving::No;
};

/// Returns the position of the pointer in this frame.
[[nodiscard]] Point pointerPosition();
/// True if the pointer is over a canvas of this size.
[[nodiscard]] bool pointerInside(float width, float height);

} // namespace residua::editor
