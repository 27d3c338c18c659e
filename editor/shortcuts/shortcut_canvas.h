// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/minimap.h"
#include "editor/canvas/panned_view.h"
#include "editor/shortcuts/live_weights.h"
#include "projects/model/project.h"

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::editor {

/// What the views of a topology share: the document as it was last seen, the view of the scene, the selection and the
/// live weights. A view of its own adds its scene, its gestures and its drawing.
class ShortcutCanvas : public Canvas {
public:
    void setDocument(DocumentSnapshot document) final;
    void setState(const ViewState& state) final;
    void setLive(LiveSnapshot live) final;
    void show(Extent extent) final;
    bool giveUp() final { return m_view.stopMoving() || giveUpGesture(); }
    void draw(float width, float height, Theme theme) final;
    std::vector<Request> takeRequests() final { return std::exchange(m_requests, {}); }

protected:
    // What each view implements.
    virtual void rebuild() = 0;
    /// Called when the selection or the folds have changed.
    virtual void stateChanged() = 0;
    [[nodiscard]] virtual Rect bounds() const = 0;
    /// The part of the scene that `selection` covers; nullopt where none of it is drawn here.
    [[nodiscard]] virtual std::optional<Rect> areaOf(const projects::Selection& selection) const = 0;
    [[nodiscard]] virtual bool inGesture() const = 0;
    /// Ends a gesture without its effect; false where there was none.
    virtual bool giveUpGesture() = 0;
    /// Handles the pointer in a frame in which it does not move the view. Where it is not `inside`, it
    /// is far away from everything.
    virtual void handlePointer(Point pointer, bool inside) = 0;
    virtual void handleKeys() = 0;
    virtual void paint(ImDrawList& list) = 0;
    /// Draws the scene, small, onto the minimap.
    virtual void paintOverview(ImDrawList& list, const Minimap& map) = 0;
    [[nodiscard]] virtual PannedView::LeftButton leftButton() const = 0;
    [[nodiscard]] virtual Framing framing() const = 0;
    /// Called before the whole scene is fitted into so many pixels: adapts its proportions to them.
    virtual void adaptTo(float /*width*/, float /*height*/) {}

    [[nodiscard]] const projects::Document& document() const { return *m_document; }
    [[nodiscard]] const projects::Project& project() const { return m_document->project; }
    /// The same project, for who keeps it.
    [[nodiscard]] std::shared_ptr<const projects::Project> projectSnapshot() const
    {
        return {m_document, &m_document->project};
    }
    [[nodiscard]] const Viewport& view() const { return m_view.viewport(); }
    [[nodiscard]] const ViewState& state() const { return m_state; }
    [[nodiscard]] const projects::Selection& selection() const { return m_state.selection; }
    [[nodiscard]] const LiveWeights& weights() const { return *m_live; }
    /// The live weights as a shared object: another one after every change.
    [[nodiscard]] const LiveSnapshot& live() const { return m_live; }
    [[nodiscard]] Theme theme() const { return m_theme; }
    [[nodiscard]] float width() const { return m_view.width(); }
    [[nodiscard]] float height() const { return m_view.height(); }
    /// The shortcut under the pointer, here or in another view.
    [[nodiscard]] std::optional<projects::Shortcut> shownHover() const { return m_state.hovered; }

    /// Whether the view shows everything, as no person has moved it.
    [[nodiscard]] bool fitted() const { return m_view.fitted(); }
    /// Moves the view no more than it takes to have `area` in sight.
    void reveal(const Rect& area) { m_view.reveal(area, framing()); }
    [[nodiscard]] static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); }
    void request(Request request) { m_requests.push_back(std::move(request)); }
    void requestTyping(Point onScreen, const std::string& text);
    void select(projects::Selection selection);
    void fold(std::vector<LayerRun> folds);
    /// Tells other views of what the pointer is over.
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
    std::optional<projects::Shortcut> m_hovered; ///< as was last asked to be shown
};

} // namespace residua::editor
