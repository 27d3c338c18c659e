// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/topology_popup.h"
#include "app/document/document_session.h"
#include "app/palette/palette_items.h"
#include "app/properties/customisation.h"
#include "app/runs/run_bar.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QString>

#include <string>

namespace residua::app {
namespace {

class TopologyCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(TopologyCommands)
public:
    explicit TopologyCommands(const WindowParts& parts);

private:
    void show();
    void choose(const std::string& preset);
    void goBack();

    TopologyPopup* m_popup;
};

} // namespace

TopologyCommands::TopologyCommands(const WindowParts& parts)
    : CommandGroup(parts), m_popup(new TopologyPopup(m_workspace.paletteModel(), m_window))
{
    connect(&m_session, &DocumentSession::stateChanged, this, &TopologyCommands::show);
    connect(&m_bar, &RunBar::topologyChosen, this, [this](int index) {
        choose(projects::topologyChoices(m_session.project().network).at(static_cast<std::size_t>(index)).name);
    });
    connect(&m_bar, &RunBar::topologiesWanted, this,
            [this] { m_popup->open(m_bar.topologyChooser(), m_bar.topologyChooser().currentText()); });
    connect(m_popup, &TopologyPopup::chosen, this, [this](const QString& key) { choose(key.toStdString()); });
    connect(m_actions.backToPreset, &QAction::triggered, this, &TopologyCommands::goBack);
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
    const bool custom = !current || presets[*current].wiring != m_session.project().stack().topology.wiring;
    m_bar.setTopologies(titles, current ? static_cast<int>(*current) : -1, custom);
}

void TopologyCommands::choose(const std::string& preset)
{
    const PaletteItem item{PaletteKind::Topology, preset, {}, {}, {}};
    if (const auto change = takeUp(m_session.project(), m_documents.place(), item)) {
        m_documents.applyEdit(change->edit);
        note(QString::fromStdString(titleOf(change->edit))); // mentions blocks that change with it
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

void addTopologyCommands(const WindowParts& parts)
{
    new TopologyCommands(parts);
}

} // namespace residua::app
