// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/edit/history.h"
#include "projects/schedule/stage_schedule.h"

#include <QWidget>

#include <cstdint>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace residua::app {

class Look;
class ScheduleRibbon;

/// The stages of training: the ribbon, its summary, the chosen stage's numbers, and generators of whole schedules. A
/// view of the document, which emits the schedule that the user wants. GUI thread.
class SchedulePage : public QWidget {
    Q_OBJECT
public:
    explicit SchedulePage(const Look& look, QWidget* parent = nullptr);
    ~SchedulePage() override;

    /// `cost` is the project's; nullopt while it cannot be computed. A hidden page is updated when it is shown.
    void setProject(projects::ProjectSnapshot project, const std::optional<projects::CostReport>& cost);
    /// Drops the input of a schedule that was not made.
    void clearInput();
    [[nodiscard]] ScheduleRibbon& ribbon() { return *m_ribbon; }

signals:
    void edited(const residua::projects::StageSchedule& schedule);
    void refused(const QString& reason);

protected:
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] QWidget* makePresetRow();
    [[nodiscard]] QWidget* makeUnitField();
    [[nodiscard]] QWidget* makeStageRow();
    [[nodiscard]] QWidget* makeGeneratorRow();
    [[nodiscard]] QWidget* makeEmpty();
    void showProject();
    void workOutCosts();
    void showSummary();
    void showPreset();
    void showStage();
    void setStart();
    void setLength();
    void setAlways();
    void generate();
    void addStages();
    void usePreset(int index);
    void take(const Result<projects::StageSchedule>& schedule);

    projects::ProjectSnapshot m_project = std::make_shared<const projects::Project>();
    projects::Project m_previewed; ///< the project with the ribbon's schedule, also during a drag
    std::optional<projects::CostReport> m_cost;
    projects::ProjectSnapshot m_shown;           ///< the project that the widgets show; null: none yet
    bool m_stale = true;                         ///< true if they do not show m_project and m_cost
    std::vector<projects::SpanCost> m_spanCosts; ///< of the ribbon's schedule; empty if unknown
    ScheduleRibbon* m_ribbon;
    QLabel* m_summary;
    QWidget* m_empty = nullptr;
    QWidget* m_stageRow = nullptr;
    QWidget* m_generatorRow = nullptr;
    QLabel* m_stageTitle = nullptr;
    QLabel* m_stageCost = nullptr;
    QLineEdit* m_start = nullptr;
    QLineEdit* m_length = nullptr;
    QLineEdit* m_always = nullptr;
    QLineEdit* m_lengths = nullptr;
    QComboBox* m_split = nullptr;
    QComboBox* m_preset = nullptr;
    QWidget* m_unitField = nullptr;
    QComboBox* m_unit = nullptr;
    QLineEdit* m_target = nullptr;
};

/// Parses a list of layers by their names, "1, 12, 3@2", to executed layers in ascending order. The number of a stored
/// layer of a loop means all of its visits. Returns nullopt for any other text.
[[nodiscard]] std::optional<std::vector<std::int64_t>> layersFrom(const projects::Stack& stack, const QString& text);

} // namespace residua::app
