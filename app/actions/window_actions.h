// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/command_palette.h"
#include "app/runs/run_bar.h"
#include "app/workspace/layouts.h"

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QString>

#include <functional>
#include <utility>
#include <vector>

class QMenu;
class QMenuBar;
class QWidget;

namespace residua::app {

/// Every command of the window with its text, icon, shortcut and tooltip. They are connected elsewhere.
struct WindowActions {
    explicit WindowActions(QWidget& window);

    QAction* create;
    QAction* open;
    QAction* import;
    QAction* save;
    QAction* saveAs;
    QAction* revert;
    QAction* takeAlong;
    QAction* bringBack;
    QAction* startPage;
    QAction* quit;
    QAction* undo;
    QAction* redo;
    QAction* copyChange;
    QAction* copyUnsaved;
    QAction* prune;
    QAction* freeze;
    QAction* freezeAtStart;
    QAction* selectAll;
    QAction* deselect;
    QAction* fit;
    QAction* zoomToSelection;
    QAction* backToPreset;
    QAction* nextTower;
    QAction* addTower;
    QAction* duplicateTower;
    QAction* removeTower;
    QAction* joinStack;
    QAction* addLoss;
    QAction* removeLoss;
    QAction* commands;
    QAction* keys;
    QAction* palette;
    QAction* enqueue;
    QAction* goOnWithQueue;
    QAction* skip;
    QAction* goOnWired;
    QAction* goOnWithout;
    QAction* knockOut;
    QAction* whatIf;
    QAction* selectWeakest;
    QAction* sweep;
    QAction* fed;
    QAction* depth;
    QAction* matrix;
    QAction* block;
    QAction* schedule;
    QAction* saveBlock;
    QAction* exportPlot;
    QAction* exportFigure;
    QAction* floatPanel;
    QAction* exportReport;
    QAction* clearQueue;
    QAction* nextPanel;
    QAction* previousPanel;
    QAction* showWeights;
    QAction* showChanges;
    QAction* showLogs;
    QAction* rowShares;
    QAction* effectColours;
    QAction* theme;
    QList<std::pair<QAction*, const Layout*>> layouts; ///< of the panels
    QAction* explain;
    QAction* methods;
    QAction* fiveMinutes;
    QAction* about;
    RunActions run;

    /// Commands of the canvas, whose keys have another meaning in a text field.
    [[nodiscard]] QList<QAction*> ofCanvas() const
    {
        return {prune, freeze, freezeAtStart, selectAll, deselect, fit, zoomToSelection};
    }
    /// Commands on towers and losses.
    [[nodiscard]] QList<QAction*> ofTowers() const
    {
        return {addTower, duplicateTower, joinStack, removeTower, addLoss, removeLoss};
    }
    /// Commands that need an open project.
    [[nodiscard]] QList<QAction*> ofProject() const;

private:
    /// `name` is stored in the user's settings and must not change.
    using Make = std::function<QAction*(const char* name, const char* icon, const QString& text,
                                        const QList<QKeySequence>& keys, const QString& toolTip)>;

    void makeFile(const Make& make);
    void makeEdit(const Make& make);
    void makeTowers(const Make& make);
    void makeView(const Make& make);
    void makeRuns(const Make& make);
    /// Makes the actions of the views and of their contents.
    void makeCanvases(const Make& make);
    void makeHelp(const Make& make);
    void makeRunBar(const Make& make);
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
