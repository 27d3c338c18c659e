// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit.h"
#include "projects/topology.h"
#include "resources/colours.h"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace residua::editor {

using Theme = resources::Theme;

/// What is selected on a canvas: layers by number (0: the stem, depth + 1: the head), shortcuts, nodes.
struct Selection {
    std::set<std::int64_t> layers;
    std::set<projects::Shortcut> shortcuts;
    std::set<projects::NodeId> nodes;

    [[nodiscard]] bool empty() const { return layers.empty() && shortcuts.empty() && nodes.empty(); }
    bool operator==(const Selection&) const = default;
};

/// Live values, viewed for the length of a call: mixing weights row-major [target − 1, source], NaN
/// where there is no shortcut, and the layers that the current step leaves out.
struct LiveValues {
    std::span<const float> mix;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::uint8_t> active; ///< [depth]; empty: all
    std::int64_t step = 0;
};

// What a canvas asks for. It never changes the document itself.
struct RequestEdit { projects::Edit edit; };
struct SelectionChanged { Selection selection; };
struct OpenBlock { std::string block; };
struct LeaveBlock {};
struct HoverShortcut { std::optional<projects::Shortcut> shortcut; };
using Request = std::variant<RequestEdit, SelectionChanged, OpenBlock, LeaveBlock, HoverShortcut>;

/// A canvas as its host sees it: something drawn inside the host's current Dear ImGui frame that
/// answers with requests. The host owns the window, the ImGui context and the event loop.
class Canvas {
public:
    virtual ~Canvas() = default;

    /// `project` must outlive the canvas or the next call. Unchanged parts keep their places.
    virtual void setProject(const projects::Document& document) = 0;
    virtual void setTheme(Theme theme) = 0;
    virtual void setSelection(const Selection& selection) = 0;
    virtual void setHovered(std::optional<projects::Shortcut> shortcut) = 0;
    virtual void setLive(const LiveValues& live) = 0;
    virtual void clearLive() = 0;
    virtual void fit() = 0;
    virtual void zoomToSelection() = 0;

    /// Draws one frame that fills the current ImGui viewport, and handles its input.
    virtual void draw(float width, float height, float devicePixelRatio) = 0;
    /// Requests since the last call, in order.
    [[nodiscard]] virtual std::vector<Request> takeRequests() = 0;
    /// Whether another frame is needed though no input came (an animation runs).
    [[nodiscard]] virtual bool animating() const = 0;
};

} // namespace residua::editor
