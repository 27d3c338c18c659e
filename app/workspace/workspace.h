// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_model.h"
#include "app/palette/palette_model.h"
#include "app/records/run_costs.h"
#include "app/records/runs_model.h"
#include "app/workspace/layouts.h"
#include "app/workspace/panels.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/runs/shown_runs.h"

#include <QDockWidget>
#include <QMainWindow>

#include <array>
#include <optional>
#include <vector>

class QTabWidget;

namespace residua::visualizers {
struct ExportChoice;
class PlotView;
} // namespace residua::visualizers

namespace residua::editor {
class BlockCanvas;
} // namespace residua::editor

namespace residua::app {

class BlockBar;
class CanvasWidget;
class Look;
class SchedulePage;
class TowerBar;

/// The canvas, or the schedule, that is in front.
enum class WorkspaceView {
    Depth,    ///< the depth canvas
    Matrix,   ///< the matrix, with more height
    Block,    ///< the inside of a block, with more height
    Schedule, ///< the stages of training
};

/// Where the docks are put.
struct Arrangement {
    const Layout* layout = &layouts().front();
    WorkspaceView view = WorkspaceView::Depth;
    const Panel* front = nullptr; ///< a panel that is given the most space, if it is not null
};

/// The views of an open project: canvases, and the panels of panels.h as docks around them. It makes and places them;
/// their contents are connected elsewhere.
class Workspace : public QMainWindow {
    Q_OBJECT
public:
    explicit Workspace(const Look& look, QWidget* parent = nullptr);

    /// Returns the depth canvas.
    [[nodiscard]] CanvasWidget& canvas() { return *m_canvas; }
    [[nodiscard]] CanvasWidget& matrix() { return *m_matrix; }
    [[nodiscard]] CanvasWidget& block() { return *m_block; }
    [[nodiscard]] editor::BlockCanvas& blockCanvas() { return *m_blockCanvas; }
    [[nodiscard]] BlockBar& blockBar() { return *m_blockBar; }
    [[nodiscard]] SchedulePage& schedule() { return *m_schedule; }
    /// Returns the tabs above the canvases.
    [[nodiscard]] TowerBar& towers() { return *m_towers; }
    /// Returns the canvas in front; null if the schedule is.
    [[nodiscard]] CanvasWidget* frontCanvas() const;
    /// Returns what is in front.
    [[nodiscard]] WorkspaceView frontView() const;
    /// Brings a canvas or the schedule to the front, and gives it the focus.
    void showCanvas(WorkspaceView view);
    /// Returns the canvases, which all show the same document.
    [[nodiscard]] std::array<CanvasWidget*, 3> canvases() const { return {m_canvas, m_matrix, m_block}; }
    [[nodiscard]] OutlineModel& outlineModel() { return m_outlineModel; }
    [[nodiscard]] const PaletteModel& paletteModel() const { return m_paletteModel; }
    [[nodiscard]] RunsModel& runsModel() { return m_runsModel; }
    [[nodiscard]] visualizers::ShownRuns& shownRuns() { return m_shownRuns; }
    [[nodiscard]] visualizers::ShownMatrices& shownMatrices() { return m_shownMatrices; }
    [[nodiscard]] visualizers::ShownEffects& shownEffects() { return m_shownEffects; }
    /// Returns the view of this type in one of the panels. Ends the program with the type's name if there is none.
    template <class View>
    [[nodiscard]] View& view() const
    {
        for (const QDockWidget* dock : m_docks) { // a view may be the base of another's
            if (View* const found = dock->findChild<View*>()) {
                return *found;
            }
        }
        qFatal("no panel shows a %s", View::staticMetaObject.className());
    }
    [[nodiscard]] const std::vector<QDockWidget*>& docks() const { return m_docks; }

    /// Puts every dock where it belongs in a window of this size.
    void arrange(const Arrangement& wanted, QSize size);
    /// Sets whether the project classifies. The accuracy is then shown beside the losses, and a layout that has a panel
    /// beside them has the confusion matrix there; of a project that acts in a world, the pictures of episodes.
    void setClassifies(bool classifies, bool acts);
    /// Puts every dock where the layout has it. The canvas in front stays there.
    void applyLayout(const Layout& layout);
    /// Puts the docks where `state`, of saveState(), has them. False, and nothing is done, where it is none.
    [[nodiscard]] bool rearrange(const QByteArray& state, const std::optional<DockExtents>& extents);
    /// Returns the extents of the docks in a window that is large enough.
    [[nodiscard]] const DockExtents& dockExtents() const { return m_keeper.wanted(); }
    /// Brings the panel that contains `view` to the front.
    void showPanelOf(const QWidget& view);
    /// Brings the palette to the front and moves the cursor into its search.
    void showPalette();
    /// Makes the panel in front float, or docks it again.
    void toggleFloating();
    /// Returns the plot for a command without a pointer.
    [[nodiscard]] visualizers::PlotView* plotInFront() const;
    /// Sets the initial choice of every plot's export dialog.
    void setExportChoice(const visualizers::ExportChoice& choice);

signals:
    /// Emitted when another canvas, or the schedule, comes to the front.
    void frontChanged();
    void exportChosen(const visualizers::ExportChoice& choice);

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QDockWidget* dockInFront() const;
    void addDock(const Panel& panel, QWidget* content);
    /// Returns the docks of an area as tabs in the order of the table.
    [[nodiscard]] std::vector<QDockWidget*> docksOf(PanelArea area) const;
    [[nodiscard]] QDockWidget* dockOf(const Panel& panel) const;
    void placeDocks(const Layout& layout, QSize size);
    void placeSides(QSize size);
    void placeBelow(const Layout& layout, QSize size);
    void sizeDocks(const Arrangement& wanted, QSize size);
    void showConfusion();
    void makeCentre();
    void bringForward(WorkspaceView view);
    void applyTheme();
    void updateTitleBars();

    const Look& m_look;
    visualizers::ShownRuns m_shownRuns;
    visualizers::ShownMatrices m_shownMatrices;
    visualizers::ShownEffects m_shownEffects;
    visualizers::ShownMatrices m_confusion{visualizers::ShownMatrices::Of::Outputs};
    bool m_classifies = false;
    bool m_acts = false;
    OutlineModel m_outlineModel;
    PaletteModel m_paletteModel;
    RunsModel m_runsModel;
    RunCosts m_costs;
    RunFields m_fields{m_runsModel};
    CanvasWidget* m_canvas;
    CanvasWidget* m_matrix;
    editor::BlockCanvas* m_blockCanvas; ///< of m_block
    CanvasWidget* m_block;
    BlockBar* m_blockBar;
    QTabWidget* m_centre;
    SchedulePage* m_schedule;
    TowerBar* m_towers;
    std::vector<QDockWidget*> m_docks; ///< of panels(), in the same order
    DockKeeper m_keeper{*this};
};

} // namespace residua::app
