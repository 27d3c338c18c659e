// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/sweeps/sweep_fields.h"
#include "app/sweeps/sweep_halving.h"
#include "app/sweeps/sweep_panel.h"
#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/nodes/towers.h"

#include <QCoreApplication>

namespace residua::app {
namespace {

class SweepCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(SweepCommands)
public:
    explicit SweepCommands(const WindowParts& parts);

private:
    void connectPanel();
    /// Brings the panel to the front, with the field that has the cursor in the inspector, if any.
    void begin();
    void sweepProperty(const Property& property);
};

} // namespace

SweepCommands::SweepCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(m_actions.sweep, &QAction::triggered, this, &SweepCommands::begin);
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
    const auto markQueued = [this, &panel] { panel.setQueued(m_controller.queuedRuns()); };
    connect(&m_session, &DocumentSession::opened, this, markQueued);
    connect(&m_controller, &RunController::queueChanged, this, markQueued);
    connect(&m_controller, &RunController::ended, this, markQueued);
    connect(&panel, &SweepPanel::editRequested, &m_documents, &DocumentViews::applyWholeEdit);
    connect(&panel, &SweepPanel::queueRequested, this,
            [this](const std::vector<projects::SweepMember>& members) { m_controller.enqueue(members); });
    auto* halving = new SweepHalving(m_controller, m_workspace.runsModel(), this);
    connect(&panel, &SweepPanel::halvingRequested, halving, &SweepHalving::start);
    connect(&m_session, &DocumentSession::opened, halving, [halving] { halving->start({}); });
    connect(halving, &SweepHalving::finished, this,
            [this](int leftOut) { note(tr("The sweep is done; %n members were left out", nullptr, leftOut)); });
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
    auto axis = sweepAxisOf(m_session.project(), property);
    if (!axis) {
        refuse(tr("%1 is not kept in one place of the project: a sweep cannot vary it.").arg(property.title));
        return;
    }
    m_workspace.showPanelOf(m_workspace.view<SweepPanel>());
    axis->field = projects::pointerOfView(m_session.shownTower(), axis->field);
    m_workspace.view<SweepPanel>().addAxis(*axis);
}

void addSweepCommands(const WindowParts& parts)
{
    new SweepCommands(parts);
}

} // namespace residua::app
