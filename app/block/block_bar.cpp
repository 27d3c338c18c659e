// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/block/block_bar.h"

#include "app/properties/place.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include <algorithm>

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
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(6, 3, 6, 3);
    row->setSpacing(2);
    row->addWidget(m_network);
    row->addWidget(m_layerGap);
    row->addWidget(m_layer);
    row->addWidget(gap(this));
    row->addWidget(m_graph);
    row->addSpacing(6);
    row->addWidget(m_note, 1);
    row->addWidget(m_tidy);
    row->addWidget(m_save);
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
    m_layer->setText(tr("Layer %1").arg(m_shownLayer));
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

} // namespace residua::app
