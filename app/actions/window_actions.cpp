// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/window_actions.h"

#include "app/commands/key_bindings.h"
#include "app/look/theme.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>

namespace residua::app {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(WindowActions)
};

QAction* makeAction(QWidget& window, const char* name, const QString& icon, const QString& text,
                    const QList<QKeySequence>& keys, const QString& toolTip)
{
    auto* action = new QAction(text, &window);
    action->setObjectName(QLatin1String(name));
    if (!icon.isEmpty()) {
        action->setIcon(themedIcon(icon));
    }
    action->setShortcuts(keys);
    action->setStatusTip(toolTip); // KeyBindings combines it with the key to a tooltip
    return action;
}

} // namespace

WindowActions::WindowActions(QWidget& window)
{
    const auto make = [&window](const char* name, const char* icon, const QString& text,
                                const QList<QKeySequence>& shortcuts, const QString& toolTip) {
        return makeAction(window, name, QString::fromLatin1(icon), text, shortcuts, toolTip);
    };
    makeFile(make);
    makeEdit(make);
    makeTowers(make);
    makeView(make);
    makeRuns(make);
    makeCanvases(make);
    makeHelp(make);
    makeRunBar(make);
    fit->setProperty(KeyBindings::kYields, true);
    for (QAction* action : ofCanvas()) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
}

void WindowActions::makeFile(const Make& make)
{
    create = make("create", "new", Text::tr("&New…"), {QKeySequence::New},
                  Text::tr("A new project: its data, depth, width and topology, and what they cost"));
    open =
        make("open", "open", Text::tr("&Open…"), {QKeySequence::Open}, Text::tr("Open a project's folder, or a run's"));
    import =
        make("import", "", Text::tr("&Import a model…"), {},
             Text::tr("A model that Hugging Face's transformers has saved, or a file of tensors for this project"));
    save = make("save", "save", Text::tr("&Save"), {QKeySequence::Save}, Text::tr("Save the project"));
    saveAs = make("saveAs", "", Text::tr("Save &as…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
                  Text::tr("Save the project to another folder"));
    revert = make("revert", "", Text::tr("Go back to the &saved version"), {},
                  Text::tr("Give up the changes since the last save"));
    takeAlong = make("takeAlong", "", Text::tr("Ta&ke along…"), {},
                     Text::tr("Write the project with its runs as one file, to train it on another machine"));
    bringBack = make("bringBack", "", Text::tr("Br&ing back…"), {},
                     Text::tr("Unpack such a file: a project, or runs that join those they left"));
    startPage = make("startPage", "home", Text::tr("S&tart page"), {QKeySequence(Qt::CTRL | Qt::Key_Home)},
                     Text::tr("Examples and recent projects"));
    quit = make("quit", "", Text::tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)},
                Text::tr("Leave; unsaved changes are kept"));
}

void WindowActions::makeEdit(const Make& make)
{
    undo = make("undo", "undo", Text::tr("&Undo"), {QKeySequence(Qt::CTRL | Qt::Key_Z)}, Text::tr("Undo"));
    redo = make("redo", "redo", Text::tr("&Redo"),
                {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)}, Text::tr("Redo"));
    copyChange =
        make("copyChange", "", Text::tr("Copy the last change as a ter&minal command"), {},
             Text::tr("Copy the last change as a command of residua-cli, which makes it in the saved project"));
    copyUnsaved = make("copyUnsaved", "", Text::tr("Copy unsa&ved changes as a terminal command"), {},
                       Text::tr("Copy all changes since the last save as one command of residua-cli"));
    prune = make("prune", "", Text::tr("&Delete"), {QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)},
                 Text::tr("Prune the selected shortcuts, or take the selected layers, nodes and wires out"));
    freeze =
        make("freeze", "", Text::tr("&Freeze or thaw shortcuts"), {QKeySequence(Qt::Key_F)},
             Text::tr("Keep the selected shortcuts at what the run in front has learned, or let them learn again"));
    freezeAtStart =
        make("freezeAtStart", "", Text::tr("Freeze at the s&tart's value"), {QKeySequence(Qt::SHIFT | Qt::Key_F)},
             Text::tr("Keep the selected shortcuts at the value that a new run starts from"));
    selectAll = make("selectAll", "", Text::tr("Select &all"), {QKeySequence::SelectAll},
                     Text::tr("Select everything on the canvas"));
    deselect = make("deselect", "", Text::tr("&Deselect"), {QKeySequence(Qt::Key_Escape)},
                    Text::tr("Give up a drag, then the selection; leave the block"));
    fit = make("fit", "fit", Text::tr("&Fit"), {QKeySequence(Qt::Key_Period), QKeySequence(Qt::Key_F)},
               Text::tr("Show the whole network"));
    zoomToSelection = make("zoomToSelection", "", Text::tr("&Zoom to selection"), {QKeySequence(Qt::Key_Z)},
                           Text::tr("Show what is selected"));
}

void WindowActions::makeTowers(const Make& make)
{
    nextTower = make("nextTower", "", Text::tr("Show the next to&wer"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
                     Text::tr("Show the tower that runs after the shown one, or the first"));
    addTower = make("addTower", "", Text::tr("&Add a tower"), {},
                    Text::tr("Add a copy of the shown tower that has no loss of its own"));
    duplicateTower = make("duplicateTower", "", Text::tr("&Duplicate the tower"), {},
                          Text::tr("Add a copy of the shown tower with its loss"));
    removeTower = make("removeTower", "", Text::tr("&Remove the tower"), {},
                       Text::tr("Remove the shown tower, unless others read it"));
    joinStack =
        make("joinStack", "", Text::tr("&Join a further stack after this one"), {},
             Text::tr("A copy of the shown tower runs before it, and the shown one reads its output through a joint"));
    addLoss = make("addLoss", "", Text::tr("Add a &loss…"), {},
                   Text::tr("Compare the shown tower's output with another value, and choose which in the inspector"));
    removeLoss = make("removeLoss", "", Text::tr("Remove the l&oss"), {}, Text::tr("Remove the selected loss"));
}

void WindowActions::makeView(const Make& make)
{
    nextPanel = make("nextPanel", "", Text::tr("&Next panel"), {QKeySequence(Qt::Key_F6)},
                     Text::tr("Move the keys to the next panel"));
    previousPanel = make("previousPanel", "", Text::tr("Pre&vious panel"), {QKeySequence(Qt::SHIFT | Qt::Key_F6)},
                         Text::tr("Move the keys to the panel before"));
    showWeights = make("showWeights", "", Text::tr("Shortcuts show their &weights"), {},
                       Text::tr("Canvases and heatmap show the recorded weights"));
    showChanges = make("showChanges", "", Text::tr("Shortcuts show their &change since start"), {},
                       Text::tr("Canvases and heatmap show each weight less its first"));
    showLogs = make("showLogs", "", Text::tr("Shortcuts show &log(p / row maximum)"), {},
                    Text::tr("Canvases and heatmap show the logarithm of each weight over the largest of its row"));
    auto* shown = new QActionGroup(showWeights); // one of them, or none if the heatmap has another choice
    shown->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
    for (QAction* action : {showWeights, showChanges, showLogs}) {
        action->setCheckable(true);
        shown->addAction(action);
    }
    rowShares = make("rowShares", "", Text::tr("Colour shortcuts by &row share"), {},
                     Text::tr("Colour each shortcut by its share of what its layer reads, not by its weight"));
    effectColours = make("effectColours", "", Text::tr("Colour shortcuts by &effect"), {},
                         Text::tr("Colour each shortcut by the rise of the loss without it, as a knock-out measured"));
    auto* colours = new QActionGroup(rowShares); // one of them, or none: then by the weights
    colours->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
    for (QAction* action : {rowShares, effectColours}) {
        action->setCheckable(true);
        colours->addAction(action);
    }
    theme = make("theme", "theme", Text::tr("&Dark theme"), {QKeySequence(Qt::CTRL | Qt::Key_T)},
                 Text::tr("Switch between light and dark"));
    theme->setCheckable(true);
    theme->setIconVisibleInMenu(false); // menus show the check mark in the icon's place
    for (const Layout& each : residua::app::layouts()) {
        const QKeySequence key(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + each.digit));
        layouts.append(
            {make(qPrintable(QStringLiteral("layout:") + QLatin1String(each.name)), "", each.text(), {key}, each.tip()),
             &each});
    }
    commands = make("commands", "", Text::tr("&Commands…"), {QKeySequence(Qt::CTRL | Qt::Key_K)},
                    Text::tr("Find any command"));
    keys = make("keys", "", Text::tr("&Keyboard shortcuts…"), {}, Text::tr("See and change the keys of every command"));
}

void WindowActions::makeRuns(const Make& make)
{
    enqueue = make("enqueue", "", Text::tr("Add to the &queue"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
                   Text::tr("Train the project as it is now once the runs before it have ended"));
    goOnWithQueue = make("goOnWithQueue", "", Text::tr("&Go on with the queue"), {},
                         Text::tr("Train the queued runs, one after the other, after Stop has held them back"));
    skip = make("skip", "", Text::tr("S&kip to the next run"), {},
                Text::tr("Write a checkpoint, end this run and go on with the next in the queue"));
    goOnWired = make("goOnWired", "", Text::tr("Go on with this w&iring…"), {},
                     Text::tr("A copy of the run in front goes on wired as the project is now, its weights kept"));
    goOnWithout = make("goOnWithout", "", Text::tr("Go on with&out the selection…"), {},
                       Text::tr("A copy of the run in front goes on without the selected shortcuts and layers"));
    knockOut = make("knockOut", "", Text::tr("K&nock-out…"), {},
                    Text::tr("Measure what the run in front loses without each of its shortcuts, layers or streams"));
    whatIf = make("whatIf", "", Text::tr("W&hat if without it…"), {},
                  Text::tr("Measure on one held-out batch what the run in front loses without each selected part"));
    selectWeakest = make("selectWeakest", "", Text::tr("Se&lect the weakest…"), {},
                         Text::tr("Select the shortcuts of the run in front that matter least, to go on without them"));
    sweep = make("sweep", "", Text::tr("S&weep a field…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_W)},
                 Text::tr("Train the project once for each of several values of a field"));
    fed = make("fed", "", Text::tr("Show what is &fed first…"), {},
               Text::tr("Show the first batch of training: pictures after their random changes, text as it is hidden"));
}

void WindowActions::makeCanvases(const Make& make)
{
    depth = make("depth", "", Text::tr("D&epth canvas"), {QKeySequence(Qt::CTRL | Qt::Key_1)},
                 Text::tr("The stack of layers, its shortcuts as arcs"));
    matrix = make("matrix", "", Text::tr("&Matrix"), {QKeySequence(Qt::CTRL | Qt::Key_2)},
                  Text::tr("The shortcuts as a grid: row = target, column = source"));
    block = make("block", "", Text::tr("&Block canvas"), {QKeySequence(Qt::CTRL | Qt::Key_3)},
                 Text::tr("The nodes and wires inside a block, stem or head"));
    schedule = make("schedule", "stages", Text::tr("&Schedule of stages"), {QKeySequence(Qt::CTRL | Qt::Key_4)},
                    Text::tr("Show and edit which layers train when"));
    saveBlock =
        make("saveBlock", "", Text::tr("Save the &block…"), {}, Text::tr("Keep the block that is shown under a name"));
    exportPlot = make("exportPlot", "", Text::tr("Export the &plot…"), {},
                      Text::tr("Write the plot in front as a picture, a document or numbers"));
    exportFigure = make("exportFigure", "", Text::tr("Export fi&gure…"), {},
                        Text::tr("Write the canvas in front as PDF, SVG or TikZ, in the width of a column"));
    floatPanel =
        make("floatPanel", "", Text::tr("F&loat or dock the panel"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D)},
             Text::tr("Tear the panel in front off the window, or put it back"));
    exportReport = make("exportReport", "", Text::tr("Export a run's &report…"), {},
                        Text::tr("Write the chosen run's plots, heatmaps and tables as one page"));
    clearQueue =
        make("clearQueue", "", Text::tr("&Clear the queue"), {}, Text::tr("Forget the runs that have not begun"));
    palette = make("palette", "", Text::tr("Search the &palette"), {QKeySequence(Qt::CTRL | Qt::Key_L)},
                   Text::tr("Find a topology, a block or a node"));
    backToPreset = make("backToPreset", "", Text::tr("Back to the &preset"), {},
                        Text::tr("Undo every change to the wiring since its preset was chosen"));
}

void WindowActions::makeHelp(const Make& make)
{
    explain = make("explain", "", Text::tr("&What this computes"), {QKeySequence(Qt::Key_F1)},
                   Text::tr("Explain what is selected: its equation, start, cost and source"));
    methods = make("methods", "", Text::tr("&Methods"), {}, Text::tr("What each method computes, page by page"));
    fiveMinutes = make("fiveMinutes", "", Text::tr("&Five minutes"), {},
                       Text::tr("From a first start to a topology of one's own"));
    about = make("about", "", Text::tr("&About Residua"), {}, Text::tr("Version and licence"));
}

void WindowActions::makeRunBar(const Make& make)
{
    run.run = make("run", "run", Text::tr("Run"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, Text::tr("Train, or go on"));
    run.pause = make("pause", "pause", Text::tr("Pause"), {QKeySequence(Qt::CTRL | Qt::Key_P)},
                     Text::tr("Pause after this step"));
    run.step = make("step", "step", Text::tr("Step"), {QKeySequence(Qt::Key_F10)}, Text::tr("Train one step"));
    run.stop = make("stop", "stop", Text::tr("Stop"), {QKeySequence(Qt::CTRL | Qt::Key_Period)},
                    Text::tr("Write a checkpoint and end the run"));
}

QList<QAction*> WindowActions::ofProject() const
{
    QList<QAction*> actions{copyChange, copyUnsaved, takeAlong,  save,         saveAs,     palette,
                            enqueue,    sweep,       fed,        depth,        matrix,     block,
                            schedule,   saveBlock,   exportPlot, exportFigure, floatPanel, exportReport};
    for (const auto& [action, layout] : layouts) {
        actions.append(action);
    }
    return actions + ofTowers() + ofCanvas();
}

WindowMenus fillMenus(QMenuBar& bar, const WindowActions& actions)
{
    WindowMenus menus{};
    QMenu* file = bar.addMenu(Text::tr("&File"));
    file->addAction(actions.create);
    menus.examples = file->addMenu(Text::tr("New from &example"));
    file->addAction(actions.open);
    menus.recent = file->addMenu(Text::tr("Open &recent"));
    file->addAction(actions.import);
    file->addSeparator();
    file->addActions({actions.save, actions.saveAs, actions.revert});
    file->addSeparator();
    file->addActions({actions.saveBlock, actions.exportPlot, actions.exportFigure});
    file->addSeparator();
    file->addActions({actions.takeAlong, actions.bringBack});
    file->addSeparator();
    file->addActions({actions.startPage, actions.quit});

    QMenu* edit = menus.edit = bar.addMenu(Text::tr("&Edit"));
    edit->addActions({actions.undo, actions.redo, actions.copyChange, actions.copyUnsaved});
    edit->addSeparator();
    edit->addActions({actions.prune, actions.freeze, actions.freezeAtStart});
    edit->addSeparator();
    edit->addActions({actions.selectAll, actions.deselect});
    edit->addSeparator();
    edit->addAction(actions.backToPreset);
    edit->addMenu(Text::tr("To&wers"))->addActions(actions.ofTowers());

    QMenu* view = bar.addMenu(Text::tr("&View"));
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
    menus.panels = view->addMenu(Text::tr("&Panels"));
    view->addActions({actions.nextPanel, actions.previousPanel, actions.floatPanel});
    view->addSeparator();
    view->addAction(actions.theme);

    QMenu* run = bar.addMenu(Text::tr("&Run"));
    run->addActions({actions.run.run, actions.run.pause, actions.run.step, actions.run.stop});
    run->addSeparator();
    run->addActions({actions.enqueue, actions.goOnWithQueue, actions.skip, actions.clearQueue});
    run->addSeparator();
    run->addActions({actions.knockOut, actions.whatIf, actions.selectWeakest});
    run->addActions({actions.goOnWired, actions.goOnWithout});
    run->addSeparator();
    menus.places = run->addMenu(Text::tr("&Train in"));
    menus.runs = run->addMenu(Text::tr("Selected &runs"));
    run->addActions({actions.fed, actions.sweep, actions.exportReport});

    QMenu* help = bar.addMenu(Text::tr("&Help"));
    help->addActions({actions.fiveMinutes, actions.explain, actions.methods, actions.keys});
    help->addSeparator();
    help->addAction(actions.about);
    return menus;
}

} // namespace residua::app
