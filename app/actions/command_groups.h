// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <filesystem>
#include <functional>

class QWidget;

namespace residua::app {

class Banner;
class DocumentSession;
class DocumentViews;
class EditCommands;
class EngineBridge;
class FetchCommands;
class LiveViews;
class Look;
class OpenCommands;
class RunArchive;
class RunBar;
class RunController;
class StartPage;
class StatusLine;
class Workspace;
struct WindowActions;
struct WindowMenus;

/// The folders for the window's data outside of projects.
struct WindowFolders {
    std::filesystem::path drafts;      ///< journals of unsaved projects
    std::filesystem::path projects;    ///< proposed folder of projects without a place, for Run and Save
    std::filesystem::path blocks = {}; ///< the user's own blocks; empty: no library
};

/// The parts of a window that its commands use. They outlive the commands.
struct WindowParts {
    const WindowFolders& folders;
    const WindowActions& actions;
    const WindowMenus& menus;
    Look& look;
    DocumentSession& session;
    EngineBridge& engine;
    RunController& controller;
    RunArchive& archive;
    StartPage& start;
    Workspace& workspace;
    DocumentViews& documents;
    LiveViews& live;
    RunBar& bar;
    Banner& banner;
    StatusLine& status;
    QWidget* window; ///< the parent of the commands and of their dialogs
};

/// A group of commands: it connects the actions and views of its subject when it is made. GUI thread.
class CommandGroup : public QObject {
protected:
    explicit CommandGroup(const WindowParts& parts);

    /// Shows in the banner why a command did not work.
    void refuse(const QString& reason);
    /// Shows the result of a command in the status line.
    void note(const QString& text);
    /// Returns the name of the shown tower, whose parts are selected; empty for the first.
    [[nodiscard]] std::string selectedTower() const;
    /// Enters a value that is being typed, as if its field lost the focus, so that it is saved or trained.
    void finishTyping() const;

private:
    const WindowParts m_parts;

protected:
    const WindowFolders& m_folders = m_parts.folders;
    const WindowActions& m_actions = m_parts.actions;
    const WindowMenus& m_menus = m_parts.menus;
    Look& m_look = m_parts.look;
    DocumentSession& m_session = m_parts.session;
    EngineBridge& m_engine = m_parts.engine;
    RunController& m_controller = m_parts.controller;
    Workspace& m_workspace = m_parts.workspace;
    DocumentViews& m_documents = m_parts.documents;
    RunBar& m_bar = m_parts.bar;
    Banner& m_banner = m_parts.banner;
    StatusLine& m_status = m_parts.status;
    QWidget* const m_window = m_parts.window;
};

// Groups that other code does not call. The window owns them.

/// Updates the block canvas's bar and runs its commands. Adds palette items where they are dropped, and saves blocks to
/// the project and to the user's library.
void addBlockCommands(const WindowParts& parts, EditCommands& commands);
/// Copies the last change, all unsaved changes, or a field of the inspector as a command for the terminal.
void addCopyCommands(const WindowParts& parts);
/// Runs the requests of the gap panel: computes gaps in the engine, links weights and canvases, and queues runs from
/// each start.
void addGapCommands(const WindowParts& parts);
/// The knock-outs of the run in front: measures and shows all or selected parts, and selects the weakest shortcuts.
void addKnockoutCommands(const WindowParts& parts, FetchCommands& fetch);
/// Explains the selection in the document or in the palette. Returns the function that searches the help for a text.
[[nodiscard]] std::function<void(const QString& text)> addHelpCommands(const WindowParts& parts);
/// Measures interventions on the parallel streams of the run selected in the list, in a dialog.
void addInterventionCommands(const WindowParts& parts, FetchCommands& fetch);
/// Measures a loop of the run in front, or of the open project, over its visits, in a dialog.
void addVisitsCommands(const WindowParts& parts, FetchCommands& fetch);
/// Chooses where runs train, and edits the named places. If the background engine has a run of a project that is
/// opened, chooses the background, so that the window shows that run and steers it.
void addRemoteCommands(const WindowParts& parts);
/// The pages about several runs, with the notes: keeps what is shown as a page, shows a page again, also one that
/// `open` is given, and exports it.
void addPageCommands(const WindowParts& parts, OpenCommands& open);
/// The commands on the records of runs: their trash, their reports, the comparison of two, and the settings and the
/// wiring of one, which can be taken over into the document.
void addRecordCommands(const WindowParts& parts);
/// The commands on the run selected in the list: continues it, lets its model continue texts, exports its network, and
/// stops it if another process trains it.
void addRunCommands(const WindowParts& parts, FetchCommands& fetch);
/// Shows the document's layers in their panel, whose selection is that of the canvas.
void addLayersCommands(const WindowParts& parts);
/// The sweeps of the document: their panel shows and edits them, a field of the inspector becomes an axis, and their
/// members are added to the queue.
void addSweepCommands(const WindowParts& parts);
/// Updates the theory panel from the open project, or from the numbers that it asks for. Eigenvalues are computed on
/// another thread, and only while the panel is visible.
void addTheoryCommands(const WindowParts& parts);
/// The towers and losses of the document: shows one tower by its tab, and adds, joins and removes them.
void addTowerCommands(const WindowParts& parts);
/// Trains a tokeniser on the open project's text and sets it in the document.
void addTokeniserCommands(const WindowParts& parts);
/// The run bar's choice of topology: shows the document's topology, applies the selected one, and restores the preset
/// that the wiring came from.
void addTopologyCommands(const WindowParts& parts);
/// Makes runs of the project whose first weights are those of a file, or that learn from a trained run, in a dialog.
void addWeightsCommands(const WindowParts& parts, OpenCommands& open);
/// The commands on the view of the document: the canvas in front and its display, the panels, the theme.
void addViewCommands(const WindowParts& parts);

} // namespace residua::app
