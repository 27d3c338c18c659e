// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>

#include <span>

class QWidget;

namespace residua::visualizers {
class ShownMatrices;
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

class Look;
class OutlineModel;
class PaletteModel;
class RunCosts;
class RunsModel;

/// What panels show. It outlives them.
struct PanelModels {
    const Look& look;
    OutlineModel& outline;
    PaletteModel& palette;
    RunsModel& runs;
    const RunCosts& costs;
    visualizers::ShownRuns& shownRuns;
    visualizers::ShownMatrices& shownMatrices;
};

/// Where a panel stands around the canvases. Those of one area are tabs of one place; Curves and Tables share one where
/// the window is narrow.
enum class PanelArea {
    Left,
    Right,
    Curves, ///< below, at the left
    Tables, ///< below, at the right
};

/// A panel of the workspace. Its line in the table is all that the window needs to know of it: dock, menu, `--view`,
/// keys and, where it is a PlotView, theme and export follow.
struct Panel {
    const char* view; ///< its name after --view
    const char* dock; ///< its dock's name in the user's settings: it stays
    const char* title;
    PanelArea area;
    QSize least; ///< in pixels, at which everything in it can still be used
    QWidget* (*make)(const PanelModels& models);

    /// Translated.
    [[nodiscard]] QString text() const;
    [[nodiscard]] bool isBelow() const { return area == PanelArea::Curves || area == PanelArea::Tables; }
};

/// In the order of menu and tabs. The first of an area is in front.
[[nodiscard]] std::span<const Panel> panels();

} // namespace residua::app
