// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "app/properties/place.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/commands.h"
#include "projects/graphs/node_places.h"

#include <QPoint>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace residua::app {

class CanvasWidget;

/// Runs the commands of projects/commands on the selection. Menus, keys, the outline and the canvases share them. The
/// canvas in front, even one that cannot be drawn, matters only if both stack and graph have a selection, or neither
/// has. While the outline has the keyboard focus, its current row is the target. GUI thread.
class EditCommands : public CommandGroup {
    Q_OBJECT
public:
    explicit EditCommands(const WindowParts& parts);

    /// True if there is something to select in: a canvas is in front, or the outline has the focus.
    [[nodiscard]] bool available() const;

    void deleteSelection();
    /// Freezes the selected shortcuts at what the run in front has learned at the shown step, or without one at the
    /// value that training begins with; or lets them learn again if all are frozen.
    void toggleFrozen();
    void freezeAtStart();
    void selectAll();
    /// Cancels a gesture; else clears the selection; without a selection, leaves a block.
    void giveUp();

    void copy();
    void cut();
    void paste();
    void duplicate();

    /// Folds ranges of identical layers, the selected ones or all, into one box each, or unfolds them.
    void toggleFold();
    /// Asks for a name for the selected layers.
    void group();
    void ungroup();
    /// Asks how often the selected layers are visited.
    void typeVisits();
    void visitOnce(); ///< removes the loops of the selected layers
    void untie();     ///< makes the visits of the selected loop layers of their own
    void visitMore() { changeVisits(1); }
    void visitLess() { changeVisits(-1); }
    /// Opens a field to add something by typing.
    void typeToAdd();

    void align(projects::Alignment alignment);
    void tidy();
    /// Adds a node at a place on the block canvas, or near the middle of the visible part.
    void addNode(const std::string& kind, std::optional<QPoint> at);

signals:
    /// Emitted when available() may have changed.
    void availabilityChanged();

private:
    /// Returns the canvas in front after it has emitted its requests, because its selection may be newer than the
    /// document's. Null if the schedule is in front.
    CanvasWidget* front();
    void followFocus(const QWidget* now);
    /// Returns the target of a command, or the reason why there is none.
    Result<projects::Selection> meant();
    [[nodiscard]] bool isBlock(const CanvasWidget* canvas) const;
    /// Returns the part of the selection that the canvas shows.
    [[nodiscard]] projects::Selection selectionIn(const CanvasWidget* canvas) const;
    /// Returns the view of the graph of `selection`; empty if the block canvas shows another graph.
    [[nodiscard]] projects::GraphView viewFor(const projects::Selection& selection) const;
    /// Runs `command` on the target and applies its result.
    template <class Command>
    void run(Command command);
    void ask(CanvasWidget& canvas, const editor::AskTyping& asked);
    void typeForLayers(const std::function<std::string(const projects::Selection&)>& text);
    void changeVisits(std::int64_t by); ///< of the selected loop

    const LiveViews& m_live;
    bool m_keysInOutline = false; ///< unchanged while a menu has the focus
};

} // namespace residua::app
