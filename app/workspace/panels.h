// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>

#include <span>

class QWidget;

namespace residua::visualizers {
class ShownEffects;
class ShownMatrices;
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

class Look;
class OutlineModel;
class PaletteModel;
class RunCosts;
class RunsModel;

/// The models of the panels, which must outlive the panels.
struct PanelModels {
    const Look& look;
    OutlineModel& outline;
    PaletteModel& palette;
    RunsModel& runs;
    const RunCosts& costs;
    visualizers::ShownRuns& shownRuns;
    visualizers::ShownMatrices& shownMatrices;
    visualizers::ShownEffects& shownEffects;
    visualizers::ShownMatrices& confusion; ///< the same of a classifier's outputs
};

/// The area of a panel around the canvases. Its panels are tabs. Curves and Tables share one place in a narrow window.
enum class PanelArea {
    Left,
    Right,
    Curves, ///< below, on the left
    Tables, ///< below, on the right
};

/// A panel of the workspace. Its line in the table is all that the window needs: dock, menu, `--view`, keys and, for a
/// PlotView, theme and export follow.
struct Panel {
    const char* view; ///< name for --view
    const char* dock; ///< name of the dock in the user's settings, which must not change
    const char* title;
    PanelArea area;
    QSize least; ///< in pixels, at which everything in it can still be used
    QWidget* (*make)(const PanelModels& models);

    /// Translated.
    [[nodiscard]] QString text() const;
    [[nodiscard]] bool isBelow() const { return area == PanelArea::Curves || area == PanelArea::Tables; }
};

/// In the order of the menu and of the tabs. The first of an area is in front.
[[nodiscard]] std::span<const Panel> panels();

} // namespace residua::app
