// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/sweeps/sweep_fields.h"
#include "app/sweeps/sweep_grid_model.h"
#include "app/sweeps/sweep_halving.h"
#include "engine/base/api/values.h"
#include "projects/edit/edit.h"
#include "projects/edit/history.h"

#include <QComboBox>
#include <QSplitter>
#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

class QCheckBox;
class QLabel;
class QPushButton;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace residua::app {

class PaletteModel;
class RunsModel;
class SweepAxisRow;

/// The document's sweeps, one at a time: the fields and their values on the left, the grid with the cost of each member
/// on the right. A document without a sweep shows a draft over its topology with three seeds, which enters the document
/// once it is changed or queued. A view of the document, which emits the edits that it requests. The grid is computed
/// on another thread. GUI thread.
class SweepPanel : public QWidget {
    Q_OBJECT
public:
    /// `runs` are the project's runs, whose newest gives the progress of each member; `palette` has the topologies with
    /// their prices. Both must outlive the panel.
    SweepPanel(const RunsModel& runs, const PaletteModel& palette, QWidget* parent = nullptr);

    void setProject(projects::ProjectSnapshot project);
    /// Sets the FLOP per second that a run has reached here; 0: unknown.
    void setRate(double flopPerSecond);
    /// Sets the queued runs of the project, which are not queued again.
    void setQueued(std::vector<engine::StartRun> runs);
    /// Adds a field to the shown sweep, or to a new one if it has no room.
    void addAxis(const projects::SweepAxis& axis);
    /// Moves the cursor to the first field.
    void begin();

signals:
    void editRequested(const residua::projects::Edit& edit);
    void queueRequested(const std::vector<residua::projects::SweepMember>& members);
    /// Requests to train the sweep by successive halving.
    void halvingRequested(const residua::app::HalvedSweep& sweep);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QWidget* makeForm();
    [[nodiscard]] QWidget* makeGrid();
    [[nodiscard]] QWidget* makeAdders(QWidget* form);
    /// Returns the shown sweep of the document, or null for the draft.
    [[nodiscard]] const projects::Sweep* current() const;
    [[nodiscard]] const projects::Sweep& shown() const;
    void showSweep();
    void showRows(const projects::Sweep& sweep);
    /// Removes the rows from the end until `count` are left.
    void removeRows(std::size_t count);
    void previewSoon();
    void preview();
    void takeGrid(const Result<std::vector<projects::SweepMember>>& grid);
    void showColumns();
    void showTotal();
    /// Returns the rungs if the losers are to be stopped early, else none.
    [[nodiscard]] projects::Rungs rungs() const;
    void onRunsChanged();
    void readStatuses();
    void change(projects::Sweep sweep);
    void createSweep(std::vector<projects::SweepAxis> axes);
    void addToShown(const projects::SweepAxis& axis);
    void removeSweep();
    void rename();
    void queue();

    projects::ProjectSnapshot m_project = std::make_shared<const projects::Project>();
    std::string m_name; ///< of the shown sweep
    std::vector<SweepAxisRow*> m_rows;
    std::vector<SweepField> m_fields;
    projects::Sweep m_draft; ///< shown if the document has no sweep
    bool m_isDraft = false;  ///< true while it is shown
    SweepGridModel m_grid;
    const RunsModel& m_runs;
    const PaletteModel& m_palette;
    std::vector<std::pair<std::string, engine::RunStatus>> m_known; ///< of the runs, when the statuses were last read
    std::uint64_t m_statusesAsked = 0;                              ///< as m_asked, for the members' statuses
    std::uint64_t m_asked = 0;                                      ///< requests; older answers are dropped
    std::uint64_t m_gridOf = 0;                                     ///< the request that m_grid shows
    std::uint64_t m_queueOf = 0;                                    ///< the request to queue when it is answered
    QTimer m_soon{this};
    bool m_stale = true;
    QSplitter* m_split = new QSplitter(Qt::Horizontal, this);
    QComboBox* m_sweeps = new QComboBox(this);
    QVBoxLayout* m_rowColumn = nullptr;
    std::vector<std::pair<std::string, QPushButton*>> m_adders; ///< by the field; empty: any
    QToolButton* m_remove = nullptr;
    QPushButton* m_queue = nullptr;
    QCheckBox* m_halve = nullptr;
    QLabel* m_total = nullptr;
    std::vector<std::string> m_warnings; ///< of axes that change nothing
    QTableView* m_table = nullptr;
};

} // namespace residua::app
