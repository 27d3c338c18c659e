// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_loader.h"

#include <QWidget>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSlider;

namespace residua::app {

class Look;
class RunsModel;
struct Side;

/// Two to four runs side by side, each with its own wiring on a canvas and its own matrix, at one step and on one
/// colour scale. A run shows its last recorded step at or before that of the scrubber. GUI thread; files are read on
/// others.
class SidesPanel : public QWidget {
    Q_OBJECT
public:
    /// Both arguments must outlive the panel.
    SidesPanel(const Look& look, RunsModel& runs, QWidget* parent = nullptr);
    ~SidesPanel() override;

    /// Shows these runs, RunsPanel::kFewestBeside to kMostBeside directories; empty: none.
    void setRuns(const std::vector<std::string>& directories);

signals:
    /// Emitted when the user closes the view, by its button or Escape.
    void closed();

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void addSide(const std::string& directory);
    void load(const std::string& directory, const RunMark& since);
    void take(Side& side, const RunRecord& record);
    void follow();
    void refresh();
    void share();
    void draw(Side& side) const;
    void turn();
    void leave();
    [[nodiscard]] Side* find(const std::string& directory) const;

    const Look& m_look;
    RunsModel& m_runs;
    QLabel* m_invitation;
    QWidget* m_bar;
    QComboBox* m_kind;
    QComboBox* m_port;
    QComboBox* m_value;
    QSlider* m_scrubber;
    QLabel* m_step;
    QWidget* m_scroll;
    QHBoxLayout* m_columns;
    std::vector<std::unique_ptr<Side>> m_sides;
    std::vector<std::int64_t> m_steps; ///< at which any of the runs has the shown matrix; ascending
};

} // namespace residua::app
