// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/places.h"
#include "projects/model/project.h"

#include <QCheckBox>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <optional>

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

/// Asks for the name and place under which a block is saved. Enter saves it to the project, Esc cancels.
class SavePopup : public QFrame {
    Q_OBJECT
public:
    explicit SavePopup(QWidget* parent);

    /// The reasons why a name cannot be used, for the project and for the library; empty if it can. A library's block
    /// with this name is replaced, and `libraryNote` tells that.
    struct Names {
        std::function<QString(const QString&)> projectProblem;
        std::function<QString(const QString&)> libraryNote;
    };
    /// Opens with its top right corner at `corner` (global). `layer`, if any, offers to use it there.
    void open(QPoint corner, const QString& name, const QString& layer, Names names);

signals:
    void saveToProject(const QString& name, bool useInLayer);
    void saveToLibrary(const QString& name);

private:
    void check();

    Names m_names;
    QLineEdit* m_name = new QLineEdit(this);
    QCheckBox* m_useInLayer = new QCheckBox(this);
    QLabel* m_message = new QLabel(this);
    QPushButton* m_project = new QPushButton(tr("Save to project"), this);
    QPushButton* m_library = new QPushButton(tr("Save to my library"), this);
};

} // namespace residua::app
