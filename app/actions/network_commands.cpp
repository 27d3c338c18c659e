// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/topology_popup.h"
#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/palette/palette_items.h"
#include "app/properties/customisation.h"
#include "app/runs/run_bar.h"
#include "app/views/document_views.h"
#include "app/workspace/tower_bar.h"
#include "app/workspace/workspace.h"
#include "projects/commands/tower_edits.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QMenu>

#include <cstddef>
#include <string>
#include <variant>

namespace residua::app {

namespace {

class TowerCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(TowerCommands)
public:
    explicit TowerCommands(const WindowParts& parts);

private:
    void carryOut(const Result<projects::TowerChange>& change);
    /// True if the edit was applied, and the views show it.
    bool apply(const projects::Edit& edit);
    void addLoss();
    void removeLoss();
};

TowerCommands::TowerCommands(const WindowParts& parts) : CommandGroup(parts)
{
    using projects::CopiedLoss;
    const auto copy = [this](CopiedLoss loss) {
        carryOut(projects::copyTower(m_session.wholeDocument(), m_session.shownTower(), loss));
    };
    connect(m_actions.addTower, &QAction::triggered, this, [copy] { copy(CopiedLoss::None); });
    connect(m_actions.duplicateTower, &QAction::triggered, this, [copy] { copy(CopiedLoss::Own); });
    connect(m_actions.removeTower, &QAction::triggered, this,
            [this] { carryOut(projects::removeTower(m_session.wholeProject(), m_session.shownTower())); });
    connect(m_actions.joinStack, &QAction::triggered, this,
            [this] { carryOut(projects::joinStack(m_session.wholeDocument(), m_session.shownTower())); });
    connect(m_actions.addLoss, &QAction::triggered, this, &TowerCommands::addLoss);
    connect(m_actions.removeLoss, &QAction::triggered, this, &TowerCommands::removeLoss);
    TowerBar& bar = m_workspace.towers();
    connect(m_actions.nextTower, &QAction::triggered, &bar, &TowerBar::chooseNext);
    connect(&bar, &TowerBar::towerChosen, &m_documents,
            [this](std::size_t tower) { m_documents.choose(TowerPlace{tower}); });
    bar.setContextMenuPolicy(Qt::CustomContextMenu);
    connect(&bar, &QWidget::customContextMenuRequested, this, [this, &bar](const QPoint& at) {
        bar.setCurrentIndex(bar.tabAt(at) >= 0 ? bar.tabAt(at) : bar.currentIndex()); // the commands are on the shown
        auto* const menu = new QMenu(&bar);
        menu->setObjectName(QStringLiteral("towerMenu"));
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addActions(m_actions.ofTowers());
        menu->popup(bar.mapToGlobal(at));
    });
    const auto show = [this, &bar] {
        bar.setTowers(m_session.wholeProject(), m_session.shownTower());
        m_actions.nextTower->setEnabled(!m_session.wholeProject().towers.empty());
        QStringList rows; // that the canvas draws, for a screen reader
        for (int tab = 0; tab < bar.count(); ++tab) {
            rows << (tab == bar.currentIndex() ? tr("%1, shown").arg(bar.tabText(tab)) : bar.tabText(tab));
        }
        m_workspace.canvas().setAccessibleDescription(rows.join(QStringLiteral("; ")));
    };
    connect(&m_session, &DocumentSession::opened, this, show);
    connect(&m_session, &DocumentSession::changed, this, show);
    show();
}

void TowerCommands::carryOut(const Result<projects::TowerChange>& change)
{
    finishTyping();
    if (!change) {
        refuse(QString::fromStdString(change.error().text()));
    } else if (apply(change->edit)) {
        m_documents.choose(TowerPlace{change->shown});
    }
}

bool TowerCommands::apply(const projects::Edit& edit)
{
    if (m_documents.applyWholeEdit(edit) == DocumentViews::Applied::Refused) {
        return false;
    }
    m_documents.refresh();
    note(QString::fromStdString(titleOf(edit)));
    return true;
}

void TowerCommands::addLoss()
{
    finishTyping();
    if (apply(projects::addLoss(m_session.wholeProject(), m_session.shownTower()))) {
        const LossPlace place{m_session.wholeProject().losses.size() - 1};
        m_documents.choose(place);
        auto& inspector = m_workspace.view<Inspector>();
        m_workspace.showPanelOf(inspector);
        inspector.takeFocus(pointerOf(place) + "/output");
    }
}

void TowerCommands::removeLoss()
{
    const auto* const place = std::get_if<LossPlace>(&m_documents.place());
    const auto removed = place != nullptr ? projects::removeLoss(m_session.wholeProject(), place->loss)
                                          : Result<projects::Edit>(Error{"losses", "select one in the outline first"});
    if (removed) {
        static_cast<void>(apply(*removed));
    } else {
        refuse(QString::fromStdString(removed.error().text()));
    }
}

} // namespace

void addTowerCommands(const WindowParts& parts)
{
    new TowerCommands(parts);
}

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
    // Queued, because the canvas would otherwise open a block by the Return key that chose the topology.
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
