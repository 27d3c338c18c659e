// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/block/block_bar.h"

#include "app/properties/place.h"
#include "visualizers/plot/arrange.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

QToolButton* button(const QString& name, const QString& text, const QString& toolTip, QWidget* parent)
{
    auto* made = new QToolButton(parent);
    made->setObjectName(name);
    made->setText(text);
    made->setToolTip(toolTip);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

QLabel* gap(QWidget* parent)
{
    auto* made = new QLabel(QStringLiteral("›"), parent);
    made->setProperty("role", QStringLiteral("faint"));
    return made;
}

std::int64_t layersOf(const projects::Network& network, const projects::GraphRef& graph)
{
    std::int64_t layers = 0;
    for (const projects::StackSegment& segment : network.stack().segments) {
        layers += graph == projects::GraphRef::block(segment.block) ? std::max<std::int64_t>(segment.repeat, 0) : 0;
    }
    return layers;
}

QString noteFor(const projects::Network& network, const projects::GraphRef& graph)
{
    if (!graph.isBlock()) {
        return {};
    }
    const std::int64_t layers = layersOf(network, graph);
    return layers == 0   ? BlockBar::tr("no layer uses it")
           : layers == 1 ? BlockBar::tr("one layer is made of it")
                         : BlockBar::tr("shared by %1 layers").arg(layers);
}

constexpr int kPopupWidth = 320;

} // namespace

BlockBar::BlockBar(QWidget* parent)
    : QWidget(parent),
      m_network(button(QStringLiteral("blockLeave"), tr("Network"), tr("Back to the depth canvas"), this)),
      m_layerGap(gap(this)),
      m_layer(button(QStringLiteral("blockLayer"), {}, tr("Select this layer on the depth canvas"), this)),
      m_graph(button(QStringLiteral("blockGraph"), {}, tr("Open the stem, another block or the head"), this)),
      m_graphs(new QMenu(m_graph)),
      m_note(new QLabel(this)),
      m_tidy(button(QStringLiteral("blockTidy"), tr("Tidy up"), tr("Lay every node out anew"), this)),
      m_save(button(QStringLiteral("blockSave"), tr("Save block…"),
                    tr("Keep it as a block of its own, in this project or in your library"), this))
{
    setObjectName(QStringLiteral("blockBar"));
    setAttribute(Qt::WA_StyledBackground);
    m_graph->setMenu(m_graphs);
    m_graph->setPopupMode(QToolButton::InstantPopup);
    m_note->setProperty("role", QStringLiteral("muted"));
    m_note->setObjectName(QStringLiteral("blockNote"));
    m_note->setMinimumWidth(0);
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    visualizers::makeRow(
        this, {QMargins(6, 3, 6, 3), 2},
        {m_network, m_layerGap, m_layer, gap(this), m_graph, visualizers::space(6), {m_note, 1}, m_tidy, m_save});
    connect(m_network, &QToolButton::clicked, this, &BlockBar::leaveRequested);
    connect(m_layer, &QToolButton::clicked, this, [this] { emit layerChosen(m_shownLayer); });
    connect(m_tidy, &QToolButton::clicked, this, &BlockBar::tidyRequested);
    connect(m_save, &QToolButton::clicked, this, &BlockBar::saveRequested);
}

void BlockBar::show(const projects::Project& project, const projects::GraphRef& graph,
                    std::optional<std::int64_t> layer)
{
    m_shownLayer = layer.value_or(0);
    m_layerGap->setVisible(layer.has_value());
    m_layer->setVisible(layer.has_value());
    m_layer->setText(titleOf(project, LayersPlace{{m_shownLayer}}));
    m_graph->setText(tr("%1 ▾").arg(titleOf(project, GraphPlace{graph})));
    const QString note = noteFor(project.network, graph);
    m_note->setText(note);
    m_note->setToolTip(tr("An edit here changes every layer that is made of it"));
    m_save->setVisible(graph.isBlock());
    fillGraphs(project);
}

void BlockBar::fillGraphs(const projects::Project& project)
{
    m_graphs->clear();
    const auto add = [&](const projects::GraphRef& graph) {
        connect(m_graphs->addAction(titleOf(project, GraphPlace{graph})), &QAction::triggered, this,
                [this, graph] { emit graphChosen(graph); });
    };
    add(projects::GraphRef::stem());
    for (const projects::Block& block : project.network.blocks) {
        add(projects::GraphRef::block(block.name));
    }
    add(projects::GraphRef::head());
}

SavePopup::SavePopup(QWidget* parent) : QFrame(parent, Qt::Popup)
{
    setObjectName(QStringLiteral("savePopup"));
    setAttribute(Qt::WA_StyledBackground);
    auto* title = new QLabel(tr("Name of the block"), this);
    title->setProperty("role", QStringLiteral("muted"));
    title->setBuddy(m_name);
    visualizers::setNames(*m_name, "saveName", title->text());
    visualizers::makeRemark(*m_message, "saveMessage");
    visualizers::setNames(*m_project, "saveToProject", {}, tr("A block of this project, which layers can be made of"));
    visualizers::setNames(*m_library, "saveToLibrary", {}, tr("A block of your own, in the palette of every project"));
    m_project->setDefault(true);
    auto* buttons = visualizers::makeRow(nullptr, {}, {m_project, m_library});
    visualizers::makeColumn(this, {QMargins(12, 10, 12, 12), 8}, {title, m_name, m_useInLayer, m_message, buttons});
    connect(m_name, &QLineEdit::textChanged, this, &SavePopup::check);
    connect(m_name, &QLineEdit::returnPressed, m_project, &QPushButton::click);
    connect(m_project, &QPushButton::clicked, this, [this] {
        hide();
        emit saveToProject(m_name->text().trimmed(), !m_useInLayer->isHidden() && m_useInLayer->isChecked());
    });
    connect(m_library, &QPushButton::clicked, this, [this] {
        hide();
        emit saveToLibrary(m_name->text().trimmed());
    });
}

void SavePopup::open(QPoint corner, const QString& name, const QString& layer, Names names)
{
    m_names = std::move(names);
    m_useInLayer->setText(layer);
    m_useInLayer->setVisible(!layer.isEmpty());
    m_useInLayer->setChecked(true);
    m_name->setText(name);
    m_name->selectAll();
    check();
    setFixedWidth(kPopupWidth);
    adjustSize();
    move(corner - QPoint(width(), 0));
    show();
    m_name->setFocus(Qt::PopupFocusReason);
}

void SavePopup::check()
{
    const QString name = m_name->text().trimmed();
    const QString problem = m_names.projectProblem ? m_names.projectProblem(name) : QString();
    const QString note = m_names.libraryNote ? m_names.libraryNote(name) : QString();
    m_project->setEnabled(!name.isEmpty() && problem.isEmpty());
    m_library->setEnabled(!name.isEmpty());
    QStringList lines{problem, note};
    lines.removeAll(QString());
    m_message->setText(lines.join(QLatin1Char('\n')));
    m_message->setVisible(!lines.isEmpty());
}

} // namespace residua::app
