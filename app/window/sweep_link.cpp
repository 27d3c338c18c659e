// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/sweep_link.h"

#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/runs/run_controller.h"
#include "app/runs/runs_panel.h"
#include "app/sweeps/sweep_fields.h"
#include "app/sweeps/sweep_panel.h"
#include "app/window/document_link.h"
#include "app/window/workspace.h"
#include "visualizers/pareto/pareto_view.h"

namespace residua::app {

SweepLink::SweepLink(DocumentSession& session, RunController& controller, DocumentLink& documents, Workspace& workspace,
                     QObject* parent)
    : QObject(parent), m_session(session), m_controller(controller), m_documents(documents), m_workspace(workspace)
{
    connectPanel();
    connectCosts();
}

void SweepLink::connectPanel()
{
    SweepPanel& panel = m_workspace.sweeps();
    const auto show = [this, &panel] {
        if (m_session.isOpen()) {
            panel.setProject(m_session.project());
        }
    };
    connect(&m_session, &DocumentSession::opened, this, show);
    connect(&m_session, &DocumentSession::changed, this, show);
    connect(&panel, &SweepPanel::editRequested, &m_documents, &DocumentLink::applyEdit);
    connect(&panel, &SweepPanel::queueRequested, this,
            [this](const std::vector<projects::Project>& projects) { m_controller.enqueue(projects); });
    connect(&m_workspace.inspector(), &Inspector::sweepRequested, this, &SweepLink::sweepProperty);
}

void SweepLink::connectCosts()
{
    const RunsModel& runs = m_workspace.runsModel();
    const auto read = [this, &runs] {
        m_costs.setRuns(runs.runs());
        m_workspace.sweeps().setRuns(runs.runs());
    };
    connect(&runs, &RunsModel::modelReset, this, read);
    connect(&runs, &RunsModel::dataChanged, this, read);
    connect(&m_costs, &RunCosts::changed, &m_workspace.pareto(), &visualizers::ParetoView::setRuns);
    connect(&m_workspace.pareto(), &visualizers::ParetoView::runChosen, this,
            [this](const QString& key) { m_workspace.runs().select(key.toStdString()); });
    connect(&m_workspace.runs(), &RunsPanel::currentChanged, this, [this](const std::string& directory) {
        m_workspace.pareto().setSelected(QString::fromStdString(directory));
    });
}

void SweepLink::begin()
{
    const Property* field = m_workspace.inspector().focusedProperty();
    if (field) {
        sweepProperty(*field);
        return;
    }
    m_workspace.showSweeps();
    m_workspace.sweeps().begin();
}

void SweepLink::sweepProperty(const Property& property)
{
    const auto axis = sweepAxisOf(m_session.project(), property);
    if (!axis) {
        emit refused(tr("%1 is not kept in one place of the project: a sweep cannot vary it.").arg(property.title));
        return;
    }
    m_workspace.showSweeps();
    m_workspace.sweeps().addAxis(*axis);
}

} // namespace residua::app
