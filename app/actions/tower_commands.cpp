// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"
#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/views/document_views.h"
#include "app/workspace/tower_bar.h"
#include "app/workspace/workspace.h"
#include "projects/commands/tower_edits.h"

#include <QCoreApplication>

#include <cstddef>
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
    const auto show = [this, &bar] {
        bar.setTowers(m_session.wholeProject(), m_session.shownTower());
        m_actions.nextTower->setEnabled(!m_session.wholeProject().towers.empty());
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

} // namespace residua::app
