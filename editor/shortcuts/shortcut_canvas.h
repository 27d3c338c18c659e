// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/minimap.h"
#include "editor/canvas/viewport.h"
#include "editor/shortcuts/live_weights.h"
#include "projects/model/project.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::editor {

/// What the views of a topology share: the document as it was last seen, the view and how it is moved, the selection
/// and the edits of what is selected. A view of its own adds its scene, its gestures and its drawing.
class ShortcutCanvas : public Canvas {
public:
    void setDocument(const projects::Document& document) final;
    void setTheme(Theme theme) final { m_theme = theme; }
    void setSelection(const projects::Selection& selection) override { m_selection = selection; }
    void setHovered(std::optional<projects::Shortcut> shortcut) final { m_hoveredElsewhere = shortcut; }
    void setLive(const LiveValues& live) final { m_weights.take(live, project()); }
    void clearLive() final { m_weights.clear(); }
    void clearLive(LiveMeasure measure) final { m_weights.clear(measure); }
    void fit() final { m_fitted = true; }
    void zoomToSelection() final;
    void deleteSelection() override;
    void toggleFrozen() final;
    void selectAll() final { select(everything()); }
    void cancel() final;
    std::string copied() const final;
    Status paste(std::string_view text) final;
    projects::TypedAnswer typing(std::string_view text) const final;
    void enter(std::string_view text) final;
    void draw(float width, float height, float devicePixelRatio) final;
    std::vector<Request> takeRequests() final { return std::exchange(m_requests, {}); }
    bool animating() const final { return false; }

protected:
    // What a view of its own says.
    virtual void rebuild() = 0;
    [[nodiscard]] virtual Rect bounds() const = 0;
    /// What `selection` covers; nullopt where it covers nothing here.
    [[nodiscard]] virtual std::optional<Rect> areaOf(const projects::Selection& selection) const = 0;
    [[nodiscard]] virtual projects::Selection everything() const = 0;
    [[nodiscard]] virtual bool inGesture() const = 0;
    /// Ends a gesture without its effect; false where there was none.
    virtual bool giveUpGesture() = 0;
    /// The pointer's frame, unless it moves the view; it is far away where it is not `inside`.
    virtual void handlePointer(Point pointer, bool inside) = 0;
    virtual void handleKeys() {}
    virtual void paint(ImDrawList& list) = 0;
    /// Draws the scene, small, onto the minimap.
    virtual void paintOverview(ImDrawList& list, const Minimap& map) = 0;
    /// Whether a press of the left button moves the view.
    [[nodiscard]] virtual bool leftButtonPans() const { return false; }

    /// Room around what is fitted, on the screen, and the largest scale at which that is done.
    struct Framing {
        float left = 0; ///< taken by axes, legends and the like, as are top and bottom
        float top = 0;
        float bottom = 0;
        float margin = 48;
        float maxZoom = 1.3F;
    };
    [[nodiscard]] virtual Framing framing() const { return {}; }
    /// Before all of it is fitted into so many pixels.
    virtual void suit(float /*width*/, float /*height*/) {}

    [[nodiscard]] const projects::Document& document() const { return m_document; }
    [[nodiscard]] const projects::Project& project() const { return m_document.project; }
    [[nodiscard]] const Viewport& view() const { return m_view; }
    [[nodiscard]] const projects::Selection& selection() const { return m_selection; }
    [[nodiscard]] const LiveWeights& weights() const { return m_weights; }
    [[nodiscard]] Theme theme() const { return m_theme; }
    [[nodiscard]] float width() const { return m_width; }
    [[nodiscard]] float height() const { return m_height; }
    /// The shortcut under the pointer here, or else in another view.
    [[nodiscard]] std::optional<projects::Shortcut> shownHover() const
    {
        return m_hovered ? m_hovered : m_hoveredElsewhere;
    }

    /// Moves the view no more than it takes to have `area` in sight.
    void reveal(const Rect& area);
    [[nodiscard]] static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); }
    void request(Request request);
    void requestTyping(Point onScreen, const std::string& text);
    void requestEdit(std::optional<projects::Edit> edit);
    void requestChange(const Result<projects::DocumentChange>& change);
    void select(projects::Selection selection);
    /// Tells other views of what the pointer is over.
    void hover(std::optional<projects::Shortcut> shortcut);
    [[nodiscard]] ScreenPoint onScreen(Point scenePoint) const;
    [[nodiscard]] static Point pointer();

private:
    enum class Moving { No, Pan, Minimap };

    void fitView();
    [[nodiscard]] std::optional<Minimap> minimap() const;
    void lookAt(Point onMinimap);
    void movePointer();
    bool beginMoving();
    void continueMoving();

    projects::Document m_document;
    Viewport m_view;
    projects::Selection m_selection;
    LiveWeights m_weights;
    Theme m_theme = Theme::Light;
    std::vector<Request> m_requests;
    std::optional<projects::Shortcut> m_hovered;
    std::optional<projects::Shortcut> m_hoveredElsewhere;
    Moving m_moving = Moving::No;
    float m_width = 0;
    float m_height = 0;
    /// The view shows everything, also when the canvas or the stack changes, until a person moves it.
    bool m_fitted = true;
};

/// Grows `area` by `rect`; begins with it.
void include(std::optional<Rect>& area, const Rect& rect);

} // namespace residua::editor
