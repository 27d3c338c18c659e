// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/selection.h"
#include "projects/commands/typing.h"
#include "projects/edit/edit.h"
#include "projects/model/topology.h"
#include "resources/colours.h"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace residua::editor {

using Theme = resources::Theme;

/// What is told of weights that each feature or token has of its own.
enum class LiveMeasure {
    Mean,    ///< the weight itself where there is one
    Spread,  ///< the standard deviation over them
    Feature, ///< of a single feature
};

/// Live values, viewed for the length of a call: one port's mixing weights row-major [target − 1, source], NaN
/// where there is no shortcut, and the layers that the current step leaves out. Either may be empty.
struct LiveValues {
    std::string_view port; ///< "q", "k", "v", "residual", "final"; empty where a layer has one mix
    std::span<const float> mix;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::uint8_t> active; ///< [layers], 0: left out; empty: as was last told
    std::int64_t step = 0;
    LiveMeasure measure = LiveMeasure::Mean;
    std::int64_t feature = 0; ///< which, of a single one
};

// What a canvas asks for. It never changes the document itself.
struct RequestEdit {
    projects::Edit edit;
};
struct SelectionChanged {
    projects::Selection selection;
};
/// To look inside: "stem", "head" or "block:<name>".
struct OpenBlock {
    projects::GraphRef graph;
};
struct LeaveBlock {};
struct HoverShortcut {
    std::optional<projects::Shortcut> shortcut;
};
/// A point in the canvas's own logical pixels, from its top left corner.
struct ScreenPoint {
    float x = 0;
    float y = 0;
};
/// For a field to type into at `at`, with `text` in it to begin with; what is typed comes back to typing() and enter().
struct AskTyping {
    ScreenPoint at;
    std::string text;
};
/// To edit what is selected where its values are (Enter).
struct EditSelection {};
using Request =
    std::variant<RequestEdit, SelectionChanged, OpenBlock, LeaveBlock, HoverShortcut, AskTyping, EditSelection>;

enum class Spot {
    Centre, ///< of a layer's box
    Handle, ///< where a drag that adds a shortcut begins
    Fold,   ///< where a click unfolds a folded run
};

/// A canvas as its host sees it: something drawn inside the host's current Dear ImGui frame that
/// answers with requests. The host owns the window, the ImGui context, the event loop and the keys
/// (they are its actions, so that they can be rebound); the canvas reads the pointer.
class Canvas {
public:
    virtual ~Canvas() = default;

    /// Takes what it needs from the document. Unchanged parts keep their places.
    virtual void setDocument(const projects::Document& document) = 0;
    /// Another project follows: what the view remembers of this one is forgotten.
    virtual void forget() {}
    virtual void setTheme(Theme theme) = 0;
    virtual void setSelection(const projects::Selection& selection) = 0;
    virtual void setHovered(std::optional<projects::Shortcut> shortcut) = 0;
    /// Takes one port's weights; those of other ports stay.
    virtual void setLive(const LiveValues& live) = 0;
    virtual void clearLive() = 0;
    virtual void clearLive(LiveMeasure) {}
    virtual void fit() = 0;
    virtual void zoomToSelection() = 0;
    /// Asks to prune the selected shortcuts (Delete), to freeze or thaw them (F), selects everything,
    /// or gives up a drag and then the selection (Esc).
    virtual void deleteSelection() = 0;
    virtual void toggleFrozen() = 0;
    virtual void selectAll() = 0;
    virtual void cancel() = 0;
    /// Folds runs of identical neighbours into one box each, or unfolds them: the selected ones, or all. A state of
    /// the view, not of the document.
    virtual void toggleFold() {}
    /// Asks to name the selected run of layers (Ctrl+G), or to take its name away.
    virtual void groupSelection() {}
    virtual void ungroupSelection() {}

    /// The selection as text for the system's clipboard; empty where it has nothing to copy.
    [[nodiscard]] virtual std::string copied() const { return {}; }
    /// Asks to add what copied() gave, here or in another window. The error says why it does not fit.
    [[nodiscard]] virtual Status paste(std::string_view) { return Error{"clipboard", "nothing to paste here"}; }
    /// Asks for the selection once more, beside itself.
    virtual void duplicateSelection() {}

    /// Asks to move everything to where the automatic layout would put it.
    virtual void tidy() {}

    /// Asks for a field to type into, where a thing that is added would land (Tab, or a double click on empty ground).
    virtual void askTyping() {}
    [[nodiscard]] virtual projects::TypedAnswer typing(std::string_view) const { return {}; }
    /// Asks for what typing() announced; nothing where it was not valid.
    virtual void enter(std::string_view) {}

    /// Draws one frame that fills the current ImGui viewport, and handles its input.
    virtual void draw(float width, float height, float devicePixelRatio) = 0;
    /// Requests since the last call, in order.
    [[nodiscard]] virtual std::vector<Request> takeRequests() = 0;
    /// Whether another frame is needed though no input came (an animation runs).
    [[nodiscard]] virtual bool animating() const = 0;

    /// Where things were last drawn; nullopt where there is no such thing.
    [[nodiscard]] virtual std::optional<ScreenPoint> locate(std::int64_t layer, Spot spot) const = 0;
    /// The top of an arc.
    [[nodiscard]] virtual std::optional<ScreenPoint> locate(const projects::Shortcut& shortcut) const = 0;
};

} // namespace residua::editor
