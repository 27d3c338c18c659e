// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/topology_commands.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/palette/palette_items.h"
#include "app/properties/customisation.h"
#include "app/runs/run_bar.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/topology_choice.h"

namespace residua::app {

TopologyCommands::TopologyCommands(const WindowActions& actions, const DocumentSession& session,
                                   DocumentViews& documents, Workspace& workspace, RunBar& bar, QObject* parent)
    : QObject(parent), m_session(session), m_documents(documents), m_workspace(workspace), m_bar(bar)
{
    connect(&session, &DocumentSession::stateChanged, this, &TopologyCommands::show);
    connect(&bar, &RunBar::topologyChosen, this, &TopologyCommands::choose);
    connect(actions.backToPreset, &QAction::triggered, this, &TopologyCommands::goBack);
}

void TopologyCommands::show()
{
    if (!m_session.isOpen()) {
        return;
    }
    const auto presets = projects::topologyChoices(m_session.project().network);
    const std::optional<std::size_t> current = projects::presetIndexOf(m_session.project(), presets);
    QStringList titles;
    for (const projects::TopologyPreset& preset : presets) {
        titles << QString::fromStdString(preset.title);
    }
    const bool custom = !current || presets[*current].wiring != m_session.project().topology.wiring;
    m_bar.setTopologies(titles, current ? static_cast<int>(*current) : -1, custom);
}

void TopologyCommands::choose(int index)
{
    const auto presets = projects::topologyChoices(m_session.project().network);
    const projects::TopologyPreset& preset = presets.at(static_cast<std::size_t>(index));
    const PaletteItem item{PaletteKind::Topology, preset.name, QString::fromStdString(preset.title), {}, {}};
    if (const auto change = takeUp(m_session.project(), m_documents.place(), item)) {
        m_documents.applyEdit(change->edit);
        emit noted(QString::fromStdString(titleOf(change->edit))); // mentions blocks that change with it
    }
    m_documents.choose(SectionPlace{Section::Topology});
    // Queued, because the canvas would otherwise handle the Return key that chose the topology as a command to open a
    // block.
    QMetaObject::invokeMethod(
        this, [this] { m_workspace.canvas().surface()->setFocus(); }, Qt::QueuedConnection);
}

void TopologyCommands::goBack()
{
    if (const auto custom = customisationOf(m_session.project())) {
        m_documents.applyEdit(custom->goBack);
    }
}

} // namespace residua::app
