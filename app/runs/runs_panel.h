// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/runs_model.h"
#include "app/runs/go_on_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QList>
#include <QSortFilterProxyModel>
#include <QWidget>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

class QAction;
class QTreeView;

namespace residua::app {

class RunController;
class RunTable;

/// Shows the number of waiting runs and the reason why they wait, with the queue's commands. Hidden if no run waits.
class QueueStrip : public QWidget {
    Q_OBJECT
public:
    explicit QueueStrip(QWidget* parent = nullptr);

    /// The commands belong to the window.
    void follow(const RunController& controller, QAction* goOn, QAction* skip, QAction* clear);

private:
    void refresh(const RunController& controller);

    QLabel* m_text;
};

/// The runs as a tree of forks, with a filter. The check box overlays a run's curves; double-click or Enter shows its
/// coefficients. The current row is the chosen run of `shown`. Two selected runs can be compared.
class RunsPanel : public QWidget {
    Q_OBJECT
public:
    /// The number of runs that are shown side by side.
    static constexpr std::size_t kFewestBeside = 2;
    static constexpr std::size_t kMostBeside = 4;

    /// Both arguments must outlive the panel.
    RunsPanel(RunsModel& model, visualizers::ShownRuns& shown, QWidget* parent = nullptr);

    /// Shows all runs again.
    void clearFilter();
    [[nodiscard]] QueueStrip& queue() { return *m_queue; }
    [[nodiscard]] RunTable& table() { return *m_table; }
    /// What can be done with the runs that are selected, for menus.
    [[nodiscard]] QList<QAction*> commands() const { return {m_show, m_resume, m_fork, m_compare, m_remove}; }
    /// Returns the commands that are only in the menu of a run.
    [[nodiscard]] QList<QAction*> furtherCommands() const { return m_further; }

    /// The runs that a command acts on.
    enum class When { Any, AtRest, UnderWay, Elsewhere };
    struct Words {
        QString text;
        QString toolTip;
        QString icon = {};
    };
    /// Adds a command on the current run to its menu, with a name such as "run:export". It calls `carryOut` with the
    /// run's directory while `receiver` exists.
    void addCommand(const char* name, When when, const Words& words, QObject* receiver,
                    const std::function<void(const std::string& directory)>& carryOut);

signals:
    /// Emitted to continue the run in one of these ways, after a dialog.
    void goOnRequested(const std::string& directory, residua::app::GoOnKind kind);
    /// Emitted to continue from the checkpoint of `step` as a new run.
    void forkRequested(const std::string& directory, std::int64_t step);
    /// Emitted to show two to four runs side by side.
    void sidesRequested(const std::vector<std::string>& directories);
    void compareRequested(const std::string& first, const std::string& second);
    /// The user wants a text of the current run's model.
    void sampleRequested();
    void removeRequested(const std::vector<std::string>& directories);

private:
    [[nodiscard]] const engine::RunInfo* current() const;
    /// Returns the directory of the current run, or an empty text.
    [[nodiscard]] std::string currentDirectory() const;
    /// Makes the row of the chosen run the current one, unless it is filtered out.
    void followChosen();
    /// Returns the runs of the selected rows.
    [[nodiscard]] std::vector<const engine::RunInfo*> selected() const;
    void makeBar();
    void fitTree();
    void connectButtons();
    void openMenu(const QPoint& position);
    void rename();
    void toggleBaseline();
    /// Returns the key of the current row's run, or of its group.
    [[nodiscard]] std::string currentUnit() const;
    void reveal();
    void updateState();
    void leaveOut();
    void fillCheckpoints();
    void showCheckpoints(const Result<GoOnSource>& source);

    RunsModel& m_model;
    visualizers::ShownRuns& m_shown;
    bool m_following = false; ///< true while the current row is set to the chosen run
    QSortFilterProxyModel* m_filter = new QSortFilterProxyModel(this);
    QueueStrip* m_queue = new QueueStrip(this);
    QWidget* m_bar = new QWidget(this);
    QLineEdit* m_search = new QLineEdit(this);
    QTreeView* m_tree;
    RunTable* m_table = nullptr;
    QLabel* m_empty = new QLabel(this);
    QAction* m_show;
    QAction* m_resume;
    QAction* m_fork;
    QAction* m_sample;
    QAction* m_compare;
    QAction* m_baseline; ///< of the differences in plots and in the list
    QAction* m_sides;
    QAction* m_remove;
    QAction* m_rename;
    std::vector<std::pair<QAction*, When>> m_ofOneRun; ///< see addCommand()
    QList<QAction*> m_further;
    QAction* m_reveal; ///< opens its folder in the system's file manager
};

} // namespace residua::app
