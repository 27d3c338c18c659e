// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/sweep_commands.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/sweeps/sweep_fields.h"
#include "app/sweeps/sweep_panel.h"
#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"

namespace residua::app {

SweepCommands::SweepCommands(const WindowActions& actions, DocumentSession& session, RunController& controller,
                             DocumentViews& documents, Workspace& workspace, QObject* parent)
    : QObject(parent), m_session(session), m_controller(controller), m_documents(documents), m_workspace(workspace)
{
    connect(actions.sweep, &QAction::triggered, this, &SweepCommands::begin);
    connectPanel();
}

void SweepCommands::connectPanel()
{
    SweepPanel& panel = m_workspace.view<SweepPanel>();
    const auto show = [this, &panel] {
        if (m_session.isOpen()) {
            panel.setProject(m_session.history().projectSnapshot());
        }
    };
    connect(&m_session, &DocumentSession::opened, this, show);
    connect(&m_session, &DocumentSession::changed, this, show);
    connect(&panel, &SweepPanel::editRequested, &m_documents, &DocumentViews::applyEdit);
    connect(&panel, &SweepPanel::queueRequested, this,
            [this](const std::vector<projects::SweepMember>& members) { m_controller.enqueue(members); });
    connect(&m_workspace.view<Inspector>(), &Inspector::sweepRequested, this, &SweepCommands::sweepProperty);
}

void SweepCommands::begin()
{
    const Property* field = m_workspace.view<Inspector>().focusedProperty();
    if (field) {
        sweepProperty(*field);
        return;
    }
    m_workspace.showPanelOf(m_workspace.view<SweepPanel>());
    m_workspace.view<SweepPanel>().begin();
}

void SweepCommands::sweepProperty(const Property& property)
{
    const auto axis = sweepAxisOf(m_session.project(), property);
    if (!axis) {
        emit refused(tr("%1 is not kept in one place of the project: a sweep cannot vary it.").arg(property.title));
        return;
    }
    m_workspace.showPanelOf(m_workspace.view<SweepPanel>());
    m_workspace.view<SweepPanel>().addAxis(*axis);
}

} // namespace residua::app
