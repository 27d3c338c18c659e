// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas_image.h"
#include "editor/canvas/folds.h"
#include "projects/base/result.h"
#include "projects/commands/document_change.h"
#include "projects/commands/graph_commands.h"
#include "projects/commands/selection.h"
#include "projects/edit/history.h"
#include "projects/model/topology.h"
#include "resources/colours.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::editor {

class LiveWeights;

using Theme = resources::Theme;
/// The document that is shown. Never null.
using DocumentSnapshot = projects::DocumentSnapshot;
/// The live weights that are shown. Null: there are none.
using LiveSnapshot = std::shared_ptr<const LiveWeights>;

/// What all canvases of a window show alike beside the document.
struct ViewState {
    projects::Selection selection;
    std::optional<projects::Shortcut> hovered; ///< in any view
    std::vector<LayerRun> folds;               ///< layers drawn as one box; apart, ascending
};

/// A point in the canvas's own logical pixels, from its top left corner.
struct ScreenPoint {
    float x = 0;
    float y = 0;
};

// What a canvas asks for. It never changes the document itself.

/// A request for what a command gave: an edit and the selection after it, or why there is nothing to be done.
struct RequestEdit {
    Result<projects::DocumentChange> change;
};
struct SelectionChanged {
    projects::Selection selection;
};
struct FoldsChanged {
    std::vector<LayerRun> folds;
};
/// A request to show the inside of a graph.
struct OpenBlock {
    projects::GraphRef graph;
};
struct HoverShortcut {
    std::optional<projects::Shortcut> shortcut;
};
/// A request for a field to type into at `at`, with `text` in it to begin with.
struct AskTyping {
    ScreenPoint at;
    std::string text = {};
    std::optional<projects::NodeSpot> node = {}; ///< where a node that is typed is to be added; nullopt: not on a graph
};
/// A request to edit the selection's values in the inspector (Enter).
struct EditSelection {};
/// A request for the menu of the selection's commands at the pointer; what is under the pointer has been selected
/// before.
struct OpenMenu {
    ScreenPoint at;
};
using Request = std::variant<RequestEdit, SelectionChanged, FoldsChanged, OpenBlock, HoverShortcut, AskTyping,
                             EditSelection, OpenMenu>;

enum class LayerPart {
    Centre, ///< of a layer's box
    Handle, ///< where a drag that adds a shortcut begins
    Fold,   ///< where a click unfolds a folded run
};
struct LayerTarget {
    std::int64_t layer = 0;
    LayerPart part = LayerPart::Centre;
};
struct PortTarget {
    projects::PortRef port;
    projects::PortSide side = projects::PortSide::Output;
};
/// A thing that a canvas draws: a part of a layer, the top of a shortcut's arc or the middle of its cell, the middle of
/// a node, a port.
using Target = std::variant<LayerTarget, projects::Shortcut, projects::NodeId, PortTarget>;

enum class Extent { Everything, Selection };

/// A canvas as its host sees it: something drawn inside the host's current Dear ImGui frame that
/// answers with requests. The host owns the window, the ImGui context, the event loop and the keys
/// (they are its actions, so that they can be rebound); the canvas reads the pointer. What is done to the document is a
/// command of projects/commands, which needs no canvas.
class Canvas {
public:
    virtual ~Canvas() = default;

    /// Shows the document. Unchanged parts keep their places.
    virtual void setDocument(DocumentSnapshot document) = 0;
    virtual void setState(const ViewState& state) = 0;
    /// Sets the live weights that colour what is shown, and tell which layers the current step leaves out.
    virtual void setLive(LiveSnapshot live) = 0;
    /// Brings the selection or everything into sight. Everything stays in sight when the canvas or the stack changes,
    /// until a person moves the view.
    virtual void show(Extent extent) = 0;
    /// Ends a gesture without its effect; false where there was none.
    virtual bool giveUp() = 0;

    /// Draws one frame that fills the current ImGui viewport, and handles its input.
    virtual void draw(float width, float height, Theme theme) = 0;
    /// A picture that the canvas has made beside its frames, for its host to keep as a texture; null: none since the
    /// last call. setTexture() tells how Dear ImGui knows it, and the canvas draws with it from then on.
    [[nodiscard]] virtual std::shared_ptr<const CanvasImage> takeImage() { return nullptr; }
    virtual void setTexture(void* /*texture*/) {}
    /// Whether such a picture is being made: a further frame is worth drawing soon.
    [[nodiscard]] virtual bool unfinished() const { return false; }
    /// Requests since the last call, in order.
    [[nodiscard]] virtual std::vector<Request> takeRequests() = 0;

    /// Where a thing was last drawn; nullopt where it is not.
    [[nodiscard]] virtual std::optional<ScreenPoint> locate(const Target& target) const = 0;
    /// Where a thing that is typed would land.
    [[nodiscard]] virtual AskTyping typingPlace() const = 0;
};

} // namespace residua::editor
