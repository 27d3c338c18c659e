// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/results/layer_table.h"
#include "projects/edit/history.h"

#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <vector>

class QLabel;
class QTableWidget;

namespace residua::visualizers {
class ShownEffects;
class ShownMatrices;
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

/// Every layer of the document as a row: its shape and cost and, of the run in front at the scrubbed step, its norms,
/// weights and knock-out. A click on a heading sorts. A selection of rows is that of the layers on the canvas. The
/// run is read on another thread. GUI thread.
class LayersPanel : public QWidget {
    Q_OBJECT
public:
    /// The arguments outlive the panel.
    LayersPanel(const visualizers::ShownRuns& runs, const visualizers::ShownMatrices& matrices,
                const visualizers::ShownEffects& effects, QWidget* parent = nullptr);

    void setProject(projects::ProjectSnapshot project);
    /// Selects these layers without a signal.
    void choose(const std::vector<std::int64_t>& layers);
    /// Returns the table as CSV, in the order of the layers.
    [[nodiscard]] QString csv() const;

signals:
    void layersChosen(const std::vector<std::int64_t>& layers);

protected:
    void showEvent(QShowEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void readSoon();
    void read();
    void fill();
    void showChosen();
    void saveCsv();

    const visualizers::ShownRuns& m_runs;
    const visualizers::ShownMatrices& m_matrices;
    projects::ProjectSnapshot m_project = std::make_shared<const projects::Project>();
    std::vector<engine::LayerRow> m_layers;
    std::vector<std::int64_t> m_chosen;
    std::uint64_t m_asked = 0; ///< requests; older answers are dropped
    bool m_stale = true;
    QTimer m_soon{this};
    QLabel* m_whose;
    QTableWidget* m_table;
};

} // namespace residua::app
