// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/places.h"
#include "projects/model/project.h"

#include <QWidget>

#include <cstdint>
#include <optional>

class QLabel;
class QMenu;
class QToolButton;

namespace residua::app {

/// The bar above the block canvas: the path ("Network › Layer 3 › Block “mlp”"), the layers that share the block, and
/// the commands on the whole block. Its names lead back and to every other graph.
class BlockBar : public QWidget {
    Q_OBJECT
public:
    explicit BlockBar(QWidget* parent = nullptr);

    /// `layer` is the layer through which the block was entered.
    void show(const projects::Project& project, const projects::GraphRef& graph, std::optional<std::int64_t> layer);
    [[nodiscard]] QToolButton& tidyButton() { return *m_tidy; }
    /// Its popup opens below it.
    [[nodiscard]] QToolButton& saveButton() { return *m_save; }

signals:
    void leaveRequested();
    void layerChosen(std::int64_t layer);
    void graphChosen(const residua::projects::GraphRef& graph);
    void tidyRequested();
    void saveRequested();

private:
    void fillGraphs(const projects::Project& project);

    QToolButton* m_network;
    QLabel* m_layerGap;
    QToolButton* m_layer;
    QToolButton* m_graph;
    QMenu* m_graphs;
    QLabel* m_note;
    QToolButton* m_tidy;
    QToolButton* m_save;
    std::int64_t m_shownLayer = 0;
};

} // namespace residua::app
