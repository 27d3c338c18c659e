// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/command_palette.h"
#include "app/runs/run_bar.h"
#include "app/workspace/layouts.h"

#include <QAction>
#include <QCoreApplication>
#include <QKeySequence>
#include <QList>
#include <QString>

#include <utility>
#include <vector>

class QMenu;
class QMenuBar;
class QWidget;

namespace residua::app {

/// Every command of the window with its text, icon, shortcut and tooltip. They are connected elsewhere.
struct WindowActions {
    Q_DECLARE_TR_FUNCTIONS(WindowActions)

private:
    QWidget& m_window; ///< before the actions, which belong to it

    /// Makes an action. `name` is stored in the user's settings and must not change.
    [[nodiscard]] QAction* make(const char* name, const char* icon, const QString& text,
                                const QList<QKeySequence>& sequences, const QString& toolTip) const;
    [[nodiscard]] QList<std::pair<QAction*, const Layout*>> makeLayouts() const;

public:
    explicit WindowActions(QWidget& window);

    // File
    QAction* create = make("create", "new", tr("&New…"), {QKeySequence::New},
                           tr("A new project: its data, depth, width and topology, and what they cost"));
    QAction* open = make("open", "open", tr("&Open…"), {QKeySequence::Open}, tr("Open a project's folder, or a run's"));
    QAction* import =
        make("import", "", tr("&Import a model…"), {},
             tr("A model that Hugging Face's transformers has saved, or a file of tensors for this project"));
    QAction* save = make("save", "save", tr("&Save"), {QKeySequence::Save}, tr("Save the project"));
    QAction* saveAs = make("saveAs", "", tr("Save &as…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
                           tr("Save the project to another folder"));
    QAction* revert =
        make("revert", "", tr("Go back to the &saved version"), {}, tr("Give up the changes since the last save"));
    QAction* takeAlong = make("takeAlong", "", tr("Ta&ke along…"), {},
                              tr("Write the project with its runs as one file, to train it on another machine"));
    QAction* bringBack = make("bringBack", "", tr("Br&ing back…"), {},
                              tr("Unpack such a file: a project, or runs that join those they left"));
    QAction* startPage = make("startPage", "home", tr("S&tart page"), {QKeySequence(Qt::CTRL | Qt::Key_Home)},
                              tr("Examples and recent projects"));
    QAction* quit =
        make("quit", "", tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, tr("Leave; unsaved changes are kept"));

    // Edit
    QAction* undo = make("undo", "undo", tr("&Undo"), {QKeySequence(Qt::CTRL | Qt::Key_Z)}, tr("Undo"));
    QAction* redo =
        make("redo", "redo", tr("&Redo"),
             {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)}, tr("Redo"));
    QAction* copyChange =
        make("copyChange", "", tr("Copy the last change as a ter&minal command"), {},
             tr("Copy the last change as a command of residua-cli, which makes it in the saved project"));
    QAction* copyUnsaved = make("copyUnsaved", "", tr("Copy unsa&ved changes as a terminal command"), {},
                                tr("Copy all changes since the last save as one command of residua-cli"));
    QAction* prune = make("prune", "", tr("&Delete"), {QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)},
                          tr("Prune the selected shortcuts, or take the selected layers, nodes and wires out"));
    QAction* freeze =
        make("freeze", "", tr("&Freeze or thaw shortcuts"), {QKeySequence(Qt::Key_F)},
             tr("Keep the selected shortcuts at what the run in front has learned, or let them learn again"));
    QAction* freezeAtStart =
        make("freezeAtStart", "", tr("Freeze at the s&tart's value"), {QKeySequence(Qt::SHIFT | Qt::Key_F)},
             tr("Keep the selected shortcuts at the value that a new run starts from"));
    QAction* selectAll =
        make("selectAll", "", tr("Select &all"), {QKeySequence::SelectAll}, tr("Select everything on the canvas"));
    QAction* deselect = make("deselect", "", tr("&Deselect"), {QKeySequence(Qt::Key_Escape)},
                             tr("Give up a drag, then the selection; leave the block"));
    QAction* fit = make("fit", "fit", tr("&Fit"), {QKeySequence(Qt::Key_Period), QKeySequence(Qt::Key_F)},
                        tr("Show the whole network"));
    QAction* zoomToSelection =
        make("zoomToSelection", "", tr("&Zoom to selection"), {QKeySequence(Qt::Key_Z)}, tr("Show what is selected"));

    // Towers and losses
    QAction* nextTower = make("nextTower", "", tr("Show the next to&wer"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
                              tr("Show the tower that runs after the shown one, or the first"));
    QAction* addTower =
        make("addTower", "", tr("&Add a tower"), {}, tr("Add a copy of the shown tower that has no loss of its own"));
    QAction* duplicateTower =
        make("duplicateTower", "", tr("&Duplicate the tower"), {}, tr("Add a copy of the shown tower with its loss"));
    QAction* removeTower =
        make("removeTower", "", tr("&Remove the tower"), {}, tr("Remove the shown tower, unless others read it"));
    QAction* joinStack =
        make("joinStack", "", tr("&Join a further stack after this one"), {},
             tr("A copy of the shown tower runs before it, and the shown one reads its output through a joint"));
    QAction* addLoss =
        make("addLoss", "", tr("Add a &loss…"), {},
             tr("Compare the shown tower's output with another value, and choose which in the inspector"));
    QAction* removeLoss = make("removeLoss", "", tr("Remove the l&oss"), {}, tr("Remove the selected loss"));
    QAction* teach = make("teach", "", tr("&Teach by a trained run…"), {},
                          tr("Make a run that learns from the outputs of a trained run too"));
    QAction* loadWeights = make("loadWeights", "", tr("Begin &with the weights of a file…"), {},
                                tr("Make a run whose first weights are the tensors of a file that fit"));

    // The view of the document
    QAction* nextPanel =
        make("nextPanel", "", tr("&Next panel"), {QKeySequence(Qt::Key_F6)}, tr("Move the keys to the next panel"));
    QAction* previousPanel = make("previousPanel", "", tr("Pre&vious panel"), {QKeySequence(Qt::SHIFT | Qt::Key_F6)},
                                  tr("Move the keys to the panel before"));
    QAction* showWeights = make("showWeights", "", tr("Shortcuts show their &weights"), {},
                                tr("Canvases and heatmap show the recorded weights"));
    QAction* showChanges = make("showChanges", "", tr("Shortcuts show their &change since start"), {},
                                tr("Canvases and heatmap show each weight less its first"));
    QAction* showLogs = make("showLogs", "", tr("Shortcuts show &log(p / row maximum)"), {},
                             tr("Canvases and heatmap show the logarithm of each weight over the largest of its row"));
    QAction* rowShares = make("rowShares", "", tr("Colour shortcuts by &row share"), {},
                              tr("Colour each shortcut by its share of what its layer reads, not by its weight"));
    QAction* effectColours =
        make("effectColours", "", tr("Colour shortcuts by &effect"), {},
             tr("Colour each shortcut by the rise of the loss without it, as a knock-out measured"));
    QAction* theme = make("theme", "theme", tr("&Dark theme"), {QKeySequence(Qt::CTRL | Qt::Key_T)},
                          tr("Switch between light and dark"));
    QList<std::pair<QAction*, const Layout*>> layouts = makeLayouts(); ///< of the panels
    QAction* commands =
        make("commands", "", tr("&Commands…"), {QKeySequence(Qt::CTRL | Qt::Key_K)}, tr("Find any command"));
    QAction* keys = make("keys", "", tr("&Keyboard shortcuts…"), {}, tr("See and change the keys of every command"));

    // Runs
    QAction* enqueue = make("enqueue", "", tr("Add to the &queue"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
                            tr("Train the project as it is now once the runs before it have ended"));
    QAction* goOnWithQueue = make("goOnWithQueue", "", tr("&Go on with the queue"), {},
                                  tr("Train the queued runs, one after the other, after Stop has held them back"));
    QAction* skip = make("skip", "", tr("S&kip to the next run"), {},
                         tr("Write a checkpoint, end this run and go on with the next in the queue"));
    QAction* goOnWired = make("goOnWired", "", tr("Go on with this w&iring…"), {},
                              tr("A copy of the run in front goes on wired as the project is now, its weights kept"));
    QAction* goOnWithout = make("goOnWithout", "", tr("Go on with&out the selection…"), {},
                                tr("A copy of the run in front goes on without the selected shortcuts and layers"));
    QAction* knockOut =
        make("knockOut", "", tr("K&nock-out…"), {},
             tr("Measure what the run in front loses without each of its shortcuts, layers or streams"));
    QAction* whatIf = make("whatIf", "", tr("W&hat if without it…"), {},
                           tr("Measure on one held-out batch what the run in front loses without each selected part"));
    QAction* selectWeakest =
        make("selectWeakest", "", tr("Se&lect the weakest…"), {},
             tr("Select the shortcuts of the run in front that matter least, to go on without them"));
    QAction* visits = make("measureVisits", "", tr("&Visits of a loop…"), {},
                           tr("Measure a loop of the run in front, or of the project at its start, over its visits"));
    QAction* sweep = make("sweep", "", tr("S&weep a field…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_W)},
                          tr("Train the project once for each of several values of a field"));
    QAction* fed =
        make("fed", "", tr("Show what is &fed first…"), {},
             tr("Show the first batch of training: pictures after their random changes, text as it is hidden"));

    // Views and their contents
    QAction* depth = make("depth", "", tr("D&epth canvas"), {QKeySequence(Qt::CTRL | Qt::Key_1)},
                          tr("The stack of layers, its shortcuts as arcs"));
    QAction* matrix = make("matrix", "", tr("&Matrix"), {QKeySequence(Qt::CTRL | Qt::Key_2)},
                           tr("The shortcuts as a grid: row = target, column = source"));
    QAction* block = make("block", "", tr("&Block canvas"), {QKeySequence(Qt::CTRL | Qt::Key_3)},
                          tr("The nodes and wires inside a block, stem or head"));
    QAction* schedule = make("schedule", "stages", tr("&Schedule of stages"), {QKeySequence(Qt::CTRL | Qt::Key_4)},
                             tr("Show and edit which layers train when"));
    QAction* saveBlock =
        make("saveBlock", "", tr("Save the &block…"), {}, tr("Keep the block that is shown under a name"));
    QAction* exportPlot = make("exportPlot", "", tr("Export the &plot…"), {},
                               tr("Write the plot in front as a picture, a document or numbers"));
    QAction* exportFigure = make("exportFigure", "", tr("Export fi&gure…"), {},
                                 tr("Write the canvas in front as PDF, SVG or TikZ, in the width of a column"));
    QAction* floatPanel =
        make("floatPanel", "", tr("F&loat or dock the panel"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D)},
             tr("Tear the panel in front off the window, or put it back"));
    QAction* exportReport = make("exportReport", "", tr("Export a run's &report…"), {},
                                 tr("Write the chosen run's plots, heatmaps and tables as one page"));
    QAction* clearQueue = make("clearQueue", "", tr("&Clear the queue"), {}, tr("Forget the runs that have not begun"));
    QAction* palette = make("palette", "", tr("Search the &palette"), {QKeySequence(Qt::CTRL | Qt::Key_L)},
                            tr("Find a topology, a block or a node"));
    QAction* backToPreset = make("backToPreset", "", tr("Back to the &preset"), {},
                                 tr("Undo every change to the wiring since its preset was chosen"));

    // Help
    QAction* explain = make("explain", "", tr("&What this computes"), {QKeySequence(Qt::Key_F1)},
                            tr("Explain what is selected: its equation, start, cost and source"));
    QAction* methods = make("methods", "", tr("&Methods"), {}, tr("What each method computes, page by page"));
    QAction* fiveMinutes =
        make("fiveMinutes", "", tr("&Five minutes"), {}, tr("From a first start to a topology of one's own"));
    QAction* about = make("about", "", tr("&About Residua"), {}, tr("Version and licence"));

    RunActions run{
        make("run", "run", tr("Run"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, tr("Train, or go on")),
        make("pause", "pause", tr("Pause"), {QKeySequence(Qt::CTRL | Qt::Key_P)}, tr("Pause after this step")),
        make("step", "step", tr("Step"), {QKeySequence(Qt::Key_F10)}, tr("Train one step")),
        make("stop", "stop", tr("Stop"), {QKeySequence(Qt::CTRL | Qt::Key_Period)},
             tr("Write a checkpoint and end the run"))};

    /// Commands of the canvas, whose keys have another meaning in a text field.
    [[nodiscard]] QList<QAction*> ofCanvas() const
    {
        return {prune, freeze, freezeAtStart, selectAll, deselect, fit, zoomToSelection};
    }
    /// Commands on towers and losses.
    [[nodiscard]] QList<QAction*> ofTowers() const
    {
        return {addTower, duplicateTower, joinStack, removeTower, addLoss, removeLoss, teach, loadWeights};
    }
    /// Commands that need an open project.
    [[nodiscard]] QList<QAction*> ofProject() const;
};

/// The parts of the menus beside the fixed commands.
struct WindowMenus {
    QMenu* edit;
    QMenu* examples;
    QMenu* recent;
    QMenu* panels;
    QMenu* places; ///< where runs train
    QMenu* runs;   ///< for the runs selected in their list
};
[[nodiscard]] WindowMenus fillMenus(QMenuBar& bar, const WindowActions& actions);

class DocumentSession;
class DocumentViews;
class Workspace;

/// Returns the entries of the open document for the command palette: each topology with its change in parameters, and
/// each field with its value, also those of nodes and layers. Taking a topology applies it; taking a field moves the
/// cursor into it in the inspector. A field without effect is disabled. Empty while no document is open. GUI thread;
/// the arguments must outlive the palette.
[[nodiscard]] std::vector<PaletteEntry> documentEntries(const DocumentSession& session, DocumentViews& documents,
                                                        Workspace& workspace);

} // namespace residua::app
