// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/window_actions.h"

#include "app/commands/key_bindings.h"
#include "app/look/theme.h"
#include "projects/base/ranges.h"

#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>

namespace residua::app {

QAction* WindowActions::make(const char* name, const char* icon, const QString& text,
                             const QList<QKeySequence>& sequences, const QString& toolTip) const
{
    auto* action = new QAction(text, &m_window);
    action->setObjectName(QLatin1String(name));
    if (*icon != '\0') {
        action->setIcon(themedIcon(QString::fromLatin1(icon)));
    }
    action->setShortcuts(sequences);
    action->setStatusTip(toolTip); // KeyBindings combines it with the key to a tooltip
    return action;
}

QList<std::pair<QAction*, const Layout*>> WindowActions::makeLayouts() const
{
    return mapped<QList<std::pair<QAction*, const Layout*>>>(residua::app::layouts(), [this](const Layout& each) {
        const QKeySequence key(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + each.digit));
        const QString name = QStringLiteral("layout:") + QLatin1String(each.name);
        return std::pair(make(qPrintable(name), "", each.text(), {key}, each.tip()), &each);
    });
}

WindowActions::WindowActions(QWidget& window) : m_window(window)
{
    const auto chooseAmong = [](std::initializer_list<QAction*> actions) { // one of them, or none
        auto* group = new QActionGroup(*actions.begin());
        group->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
        for (QAction* action : actions) {
            action->setCheckable(true);
            group->addAction(action);
        }
    };
    chooseAmong({showWeights, showChanges, showLogs}); // none if the heatmap has another choice
    chooseAmong({rowShares, effectColours});           // none: by the weights
    theme->setCheckable(true);
    theme->setIconVisibleInMenu(false); // menus show the check mark in the icon's place
    fit->setProperty(KeyBindings::kYields, true);
    for (QAction* action : ofCanvas()) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
}

QList<QAction*> WindowActions::ofProject() const
{
    QList<QAction*> actions{copyChange, copyUnsaved, takeAlong,    save,       saveAs,      palette, enqueue,
                            sweep,      fed,         visits,       depth,      matrix,      block,   schedule,
                            saveBlock,  exportPlot,  exportFigure, floatPanel, exportReport};
    for (const auto& [action, layout] : layouts) {
        actions.append(action);
    }
    return actions + ofTowers() + ofCanvas();
}

WindowMenus fillMenus(QMenuBar& bar, const WindowActions& actions)
{
    WindowMenus menus{};
    QMenu* file = bar.addMenu(WindowActions::tr("&File"));
    file->addAction(actions.create);
    menus.examples = file->addMenu(WindowActions::tr("New from &example"));
    file->addAction(actions.open);
    menus.recent = file->addMenu(WindowActions::tr("Open &recent"));
    file->addAction(actions.import);
    file->addSeparator();
    file->addActions({actions.save, actions.saveAs, actions.revert});
    file->addSeparator();
    file->addActions({actions.saveBlock, actions.exportPlot, actions.exportFigure});
    file->addSeparator();
    file->addActions({actions.takeAlong, actions.bringBack});
    file->addSeparator();
    file->addActions({actions.startPage, actions.quit});

    QMenu* edit = menus.edit = bar.addMenu(WindowActions::tr("&Edit"));
    edit->addActions({actions.undo, actions.redo, actions.copyChange, actions.copyUnsaved});
    edit->addSeparator();
    edit->addActions({actions.prune, actions.freeze, actions.freezeAtStart});
    edit->addSeparator();
    edit->addActions({actions.selectAll, actions.deselect});
    edit->addSeparator();
    edit->addAction(actions.backToPreset);
    edit->addMenu(WindowActions::tr("To&wers"))->addActions(actions.ofTowers());

    QMenu* view = bar.addMenu(WindowActions::tr("&View"));
    view->addActions({actions.commands, actions.palette});
    view->addSeparator();
    view->addActions({actions.depth, actions.matrix, actions.block, actions.schedule, actions.nextTower});
    view->addSeparator();
    view->addActions({actions.fit, actions.zoomToSelection});
    view->addSeparator();
    view->addActions(
        {actions.showWeights, actions.showChanges, actions.showLogs, actions.rowShares, actions.effectColours});
    view->addSeparator();
    for (const auto& [action, layout] : actions.layouts) {
        view->addAction(action);
    }
    menus.panels = view->addMenu(WindowActions::tr("&Panels"));
    view->addActions({actions.nextPanel, actions.previousPanel, actions.floatPanel});
    view->addSeparator();
    view->addAction(actions.theme);

    QMenu* run = bar.addMenu(WindowActions::tr("&Run"));
    run->addActions({actions.run.run, actions.run.pause, actions.run.step, actions.run.stop});
    run->addSeparator();
    run->addActions({actions.enqueue, actions.goOnWithQueue, actions.skip, actions.clearQueue});
    run->addSeparator();
    run->addActions({actions.knockOut, actions.whatIf, actions.selectWeakest, actions.visits});
    run->addActions({actions.goOnWired, actions.goOnWithout});
    run->addSeparator();
    menus.places = run->addMenu(WindowActions::tr("&Train in"));
    menus.runs = run->addMenu(WindowActions::tr("Selected &runs"));
    run->addActions({actions.fed, actions.sweep, actions.exportReport});

    QMenu* help = bar.addMenu(WindowActions::tr("&Help"));
    help->addActions({actions.fiveMinutes, actions.explain, actions.methods, actions.keys});
    help->addSeparator();
    help->addAction(actions.about);
    return menus;
}

} // namespace residua::app
