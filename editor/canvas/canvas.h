// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/figures/figure.h"
#include "editor/scenes/folds.h"
#include "editor/scenes/tower_rows.h"
#include "projects/base/result.h"
#include "projects/commands/commands.h"
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

/// Pixels of a picture, rows from the top: one byte each for red, green, blue and opacity, not premultiplied.
struct CanvasImage {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels; ///< [height, width, 4]
};

class LiveWeights;

using Theme = resources::Theme;
/// The document that is shown. Never null.
using DocumentSnapshot = projects::DocumentSnapshot;
/// The live weights that are shown. Null if there are no weights.
using LiveSnapshot = std::shared_ptr<const LiveWeights>;

/// The view state that all canvases of a window share.
struct ViewState {
    projects::Selection selection;
    std::optional<projects::Shortcut> hovered; ///< in any view
    std::vector<LayerRun> folds;               ///< layers drawn as one box; disjoint, ascending
    /// The index in the whole document of the tower that is shown; nullopt if the host cannot show the others.
    std::optional<std::size_t> tower = {};
};

/// A point in the canvas's logical pixels, from its top left corner.
struct ScreenPoint {
    float x = 0;
    float y = 0;
};

// The requests of a canvas. A canvas never changes the document itself.

/// A request to apply the result of a command: an edit and the selection after it, or the reason why it has no effect.
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
/// A request to show a tower, by its index in the whole document, with this part of it selected.
struct ShowTower {
    std::size_t tower = 0;
    projects::Selection selection = {};
};
struct HoverShortcut {
    std::optional<projects::Shortcut> shortcut;
};
/// A request for a text field at `at` with the initial text `text`.
struct AskTyping {
    ScreenPoint at;
    std::string text = {};
    std::optional<projects::NodeSpot> node = {}; ///< the position of a typed node; nullopt unless on a graph
};
/// A request to edit the selection's values in the inspector (Enter).
struct EditSelection {};
/// A request for the menu of commands at the pointer, where the thing under it is selected.
struct OpenMenu {
    ScreenPoint at;
};
using Request = std::variant<RequestEdit, SelectionChanged, FoldsChanged, OpenBlock, ShowTower, HoverShortcut,
                             AskTyping, EditSelection, OpenMenu>;

enum class LayerPart {
    Centre, ///< of a layer's box
    Handle, ///< start of a drag that adds a shortcut
    Fold,   ///< unfolds a folded range when clicked
};
struct LayerTarget {
    std::int64_t layer = 0;
    LayerPart part = LayerPart::Centre;
};
/// The controls of a loop: one visit fewer, folding, one visit more.
enum class LoopPart { Fewer, Visits, More };
struct LoopTarget {
    std::size_t loop = 0; ///< index in Stack::loops
    LoopPart part = LoopPart::Visits;
};
struct PortTarget {
    projects::PortRef port;
    projects::PortSide side = projects::PortSide::Output;
};
/// A thing that a canvas draws: a part of a layer or loop, the top of a shortcut's arc or the middle of its cell, the
/// middle of a node, a port, the middle of a stack beside the shown one or of a joint.
using Target = std::variant<LayerTarget, LoopTarget, projects::Shortcut, projects::NodeId, PortTarget, TowerSpot>;

/// Whether a figure has the live weights.
enum class FigureWeights { Live, None };

enum class Extent { Everything, Selection };

/// A canvas as its host sees it. It is drawn inside the host's current Dear ImGui frame and answers with requests. The
/// host owns the window, the ImGui context, the event loop and the keys, which are actions so that they can be rebound.
/// The canvas reads the pointer. Changes of the document are commands of projects/commands, which need no canvas.
class Canvas {
public:
    virtual ~Canvas() = default;

    /// Shows the document. Unchanged parts keep their places.
    virtual void setDocument(DocumentSnapshot document) = 0;
    virtual void setState(const ViewState& state) = 0;
    /// Sets the live weights that colour the view, and the layers that the current step leaves out.
    virtual void setLive(LiveSnapshot live) = 0;
    /// Scrolls to the selection or shows everything. Everything stays visible until the user moves the view.
    virtual void show(Extent extent) = 0;
    /// Cancels a gesture. Returns false if there is no gesture.
    virtual bool giveUp() = 0;

    /// Draws one frame that fills the current ImGui viewport, and handles its input.
    virtual void draw(float width, float height, Theme theme) = 0;
    /// Returns a picture that the canvas has made outside its frames, for the host to keep as a texture, or null if
    /// there is no new one. The host calls setTexture() with its Dear ImGui handle, and the canvas then draws with it.
    [[nodiscard]] virtual std::shared_ptr<const CanvasImage> takeImage() { return nullptr; }
    virtual void setTexture(void* /*texture*/) {}
    /// True while such a picture is being made, so that the host should draw another frame soon.
    [[nodiscard]] virtual bool unfinished() const { return false; }
    /// Returns the requests since the last call, in order.
    [[nodiscard]] virtual std::vector<Request> takeRequests() = 0;

    /// Returns the last position of a thing; nullopt if it is not drawn.
    [[nodiscard]] virtual std::optional<ScreenPoint> locate(const Target& target) const = 0;
    /// Returns a drawing for a page of everything that the canvas shows, whichever part is visible: its folds and
    /// ports, without selection. Returns an error if there is nothing to draw.
    [[nodiscard]] virtual Result<Figure> figure(const FigureStyle& style, FigureWeights weights) const = 0;
    /// True if the canvas draws learned weights now, which a figure of it can have too.
    [[nodiscard]] virtual bool hasWeights() const { return false; }
    /// Returns the place of a text field for typing.
    [[nodiscard]] virtual AskTyping typingPlace() const = 0;
};

/// Makes the canvas of the stack as a row of layer boxes with shortcuts as arcs.
[[nodiscard]] std::unique_ptr<Canvas> makeDepthCanvas();

/// Makes the canvas of the topology as a grid with targets as rows and sources as columns. A click or a drag adds or
/// prunes. Arrows move a cell cursor and Space toggles its shortcut; held, it moves the view. Page Up and Page Down
/// change the port. Home and End change between mean, spread and a single feature if each feature has a weight of its
/// own.
[[nodiscard]] std::unique_ptr<Canvas> makeMatrixCanvas();

} // namespace residua::editor
