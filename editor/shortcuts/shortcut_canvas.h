// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/panned_view.h"
#include "editor/scenes/live_weights.h"
#include "projects/model/project.h"

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::editor {

/// The common part of the views of a topology: the document, the view of the scene, the selection and the live weights.
/// A derived view adds its scene, gestures and drawing.
class ShortcutCanvas : public Canvas {
public:
    void setDocument(DocumentSnapshot document) final;
    void setState(const ViewState& state) final;
    void setLive(LiveSnapshot live) final;
    void show(Extent extent) final;
    bool giveUp() final { return m_view.stopMoving() || giveUpGesture(); }
    void draw(float width, float height, Theme theme) final;
    std::vector<Request> takeRequests() final { return std::exchange(m_requests, {}); }
    bool hasWeights() const final { return !m_live->empty(); }

protected:
    // Implemented by each view.
    virtual void rebuild() = 0;
    /// Called when the selection, the folds or the shown tower have changed.
    virtual void stateChanged() = 0;
    [[nodiscard]] virtual Rect bounds() const = 0;
    /// Returns the part of the scene that `selection` covers; nullopt if nothing of it is drawn here.
    [[nodiscard]] virtual std::optional<Rect> areaOf(const projects::Selection& selection) const = 0;
    [[nodiscard]] virtual bool inGesture() const = 0;
    /// Cancels a gesture. Returns false if there is no gesture.
    virtual bool giveUpGesture() = 0;
    /// Handles the pointer in a frame in which it does not move the view. Unless `inside`, it is far away.
    virtual void handlePointer(Point pointer, bool inside) = 0;
    virtual void handleKeys() = 0;
    virtual void paint(ImDrawList& list) = 0;
    /// Draws the scene, small, onto the minimap.
    virtual void paintOverview(ImDrawList& list, const Minimap& map) = 0;
    [[nodiscard]] virtual PannedView::LeftButton leftButton() const = 0;
    [[nodiscard]] virtual Framing framing() const = 0;
    /// Called before the whole scene is fitted into this size in pixels, to adapt its proportions.
    virtual void adaptTo(float /*width*/, float /*height*/) {}
    /// Called after the whole scene was fitted, to adapt its proportions to its place.
    virtual void adaptToView() {}
    /// Returns the height in the scene that keeps its place on the screen if the scene's width changes; nullopt if the
    /// scene is centred again.
    [[nodiscard]] virtual std::optional<float> heldHeight() const { return std::nullopt; }

    [[nodiscard]] const projects::Document& document() const { return *m_document; }
    [[nodiscard]] const projects::Project& project() const { return m_document->project; }
    /// Returns the same project as a shared object.
    [[nodiscard]] std::shared_ptr<const projects::Project> projectSnapshot() const
    {
        return {m_document, &m_document->project};
    }
    [[nodiscard]] const Viewport& view() const { return m_view.viewport(); }
    [[nodiscard]] const ViewState& state() const { return m_state; }
    [[nodiscard]] const projects::Selection& selection() const { return m_state.selection; }
    [[nodiscard]] const LiveWeights& weights() const { return *m_live; }
    /// Returns the live weights as a shared object, which is replaced at every change.
    [[nodiscard]] const LiveSnapshot& live() const { return m_live; }
    [[nodiscard]] Theme theme() const { return m_theme; }
    [[nodiscard]] float width() const { return m_view.width(); }
    [[nodiscard]] float height() const { return m_view.height(); }
    /// Returns the shortcut under the pointer, in this or another view.
    [[nodiscard]] std::optional<projects::Shortcut> shownHover() const { return m_state.hovered; }

    /// True if the view shows everything because the user has not moved it.
    [[nodiscard]] bool fitted() const { return m_view.fitted(); }
    /// Shows everything again from the next frame on, unless the user has moved the view.
    void refit() { m_view.refit(); }
    /// Returns nullopt while everything is visible.
    [[nodiscard]] std::optional<Minimap> minimap() const { return m_view.minimap(bounds()); }
    /// Scrolls as little as necessary to make `area` visible.
    void reveal(const Rect& area) { m_view.reveal(area, framing()); }
    [[nodiscard]] static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); }
    void request(Request request) { m_requests.push_back(std::move(request)); }
    void requestTyping(Point onScreen, const std::string& text);
    void select(projects::Selection selection);
    void fold(std::vector<LayerRun> folds);
    /// Reports the shortcut under the pointer to other views.
    void hover(std::optional<projects::Shortcut> shortcut);
    [[nodiscard]] ScreenPoint onScreen(Point scenePoint) const;

private:
    void movePointer();
    void refitAfter(float width);

    DocumentSnapshot m_document = std::make_shared<const projects::Document>();
    PannedView m_view;
    ViewState m_state;
    LiveSnapshot m_live = std::make_shared<const LiveWeights>();
    Theme m_theme = Theme::Light;
    std::vector<Request> m_requests;
    std::optional<projects::Shortcut> m_hovered; ///< the last one reported
};

} // namespace residua::editor
