// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/outline/outline_model.h"
#include "app/palette/palette_model.h"
#include "app/runs/runs_model.h"

#include <QMainWindow>

#include <array>
#include <vector>

class QDockWidget;
class QTabWidget;

namespace residua::visualizers {
class LossView;
class HeatmapView;
class MetricsView;
class ParetoView;
class PlotView;
} // namespace residua::visualizers

namespace residua::editor {
class BlockCanvas;
} // namespace residua::editor

namespace residua::app {

class BlockBar;
class CanvasWidget;
class Inspector;
class Look;
class OutlineView;
class PaletteView;
class ProblemsView;
class RunsPanel;
class SchedulePanel;
class SweepPanel;

enum class WorkspaceView {
    Depth,        ///< the depth canvas has the room
    Matrix,       ///< the matrix has it, and more height
    Block,        ///< the inside of a block has it, and more height
    Schedule,     ///< the stages of training have it
    Plots,        ///< the plots have it, side by side
    Loss,         ///< one dock below has it, from here on
    Coefficients, ///< the heatmap
    Norms,        ///< norms, throughput and memory
    Pareto,       ///< loss against cost
    Runs,         ///< the list of runs
    Sweep,        ///< the grid of a sweep
    Palette,      ///< as Depth, the palette in front of the outline
};

/// The views of an open project, laid out as docks around the canvases. Assembles them; ties nothing together.
class Workspace : public QMainWindow {
    Q_OBJECT
public:
    explicit Workspace(const Look& look, QWidget* parent = nullptr);

    /// The depth canvas.
    [[nodiscard]] CanvasWidget& canvas() { return *m_canvas; }
    [[nodiscard]] CanvasWidget& matrix() { return *m_matrix; }
    [[nodiscard]] CanvasWidget& block() { return *m_block; }
    [[nodiscard]] editor::BlockCanvas& blockCanvas() { return *m_blockCanvas; }
    [[nodiscard]] BlockBar& blockBar() { return *m_blockBar; }
    /// The one in front.
    [[nodiscard]] CanvasWidget& currentCanvas();
    /// Brings a canvas to the front, and the keys to it.
    void showCanvas(WorkspaceView view);
    /// All of them: they are pictures of the same document.
    [[nodiscard]] std::array<CanvasWidget*, 3> canvases() const { return {m_canvas, m_matrix, m_block}; }
    [[nodiscard]] OutlineModel& outlineModel() { return m_outlineModel; }
    [[nodiscard]] OutlineView& outline() { return *m_outline; }
    [[nodiscard]] PaletteView& palette() { return *m_palette; }
    [[nodiscard]] Inspector& inspector() { return *m_inspector; }
    [[nodiscard]] ProblemsView& problems() { return *m_problems; }
    [[nodiscard]] visualizers::LossView& loss() { return *m_loss; }
    [[nodiscard]] visualizers::HeatmapView& heatmap() { return *m_heatmap; }
    [[nodiscard]] visualizers::MetricsView& metrics() { return *m_metrics; }
    [[nodiscard]] RunsModel& runsModel() { return m_runsModel; }
    [[nodiscard]] RunsPanel& runs() { return *m_runs; }
    [[nodiscard]] visualizers::ParetoView& pareto() { return *m_pareto; }
    [[nodiscard]] SweepPanel& sweeps() { return *m_sweeps; }
    [[nodiscard]] SchedulePanel& schedule() { return *m_schedule; }
    [[nodiscard]] const std::vector<QDockWidget*>& docks() const { return m_docks; }

    /// Puts every dock where it belongs in a window of this size.
    void arrange(WorkspaceView view, QSize size);
    /// Brings the palette to the front and puts the cursor in its search.
    void showPalette();
    /// Tears the panel in front off the window, or puts it back.
    void toggleFloating();
    /// The plot that a command without a pointer means.
    [[nodiscard]] visualizers::PlotView* plotInFront() const;
    /// Brings the sweeps to the front.
    void showSweeps();
    /// Brings the stages of training to the front.
    void showSchedule();

private:
    [[nodiscard]] QDockWidget* dockInFront() const;
    QDockWidget* addDock(Qt::DockWidgetArea area, const QString& name, const QString& title, QWidget* content);
    void bringForward(WorkspaceView view);
    /// The dock that a view of one dock shows; none for the others.
    [[nodiscard]] QDockWidget* dockOf(WorkspaceView view) const;
    void applyTheme();
    void updateTitleBars();

    const Look& m_look;
    OutlineModel m_outlineModel;
    PaletteModel m_paletteModel;
    RunsModel m_runsModel;
    CanvasWidget* m_canvas;
    CanvasWidget* m_matrix;
    editor::BlockCanvas* m_blockCanvas; ///< of m_block
    CanvasWidget* m_block;
    BlockBar* m_blockBar;
    QTabWidget* m_centre;
    OutlineView* m_outline;
    PaletteView* m_palette;
    Inspector* m_inspector;
    ProblemsView* m_problems;
    visualizers::LossView* m_loss;
    visualizers::HeatmapView* m_heatmap;
    visualizers::MetricsView* m_metrics;
    visualizers::ParetoView* m_pareto;
    RunsPanel* m_runs;
    SweepPanel* m_sweeps;
    SchedulePanel* m_schedule;
    QDockWidget* m_outlineDock = nullptr;
    QDockWidget* m_paletteDock = nullptr;
    QDockWidget* m_inspectorDock = nullptr;
    QDockWidget* m_lossDock = nullptr;
    QDockWidget* m_heatmapDock = nullptr;
    QDockWidget* m_metricsDock = nullptr;
    QDockWidget* m_paretoDock = nullptr;
    QDockWidget* m_runsDock = nullptr;
    QDockWidget* m_sweepDock = nullptr;
    std::vector<QDockWidget*> m_docks;
};

} // namespace residua::app
