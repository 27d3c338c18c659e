// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/schedule/ribbon_scene.h"
#include "engine/base/api/values.h"
#include "projects/cost/stage_cost.h"

#include <QWidget>

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::app {

class Look;

/// The stages of training on the step axis: bars whose borders (start) and upper edges (average length) can be dragged,
/// the learning rate above them, a cursor at the current step of a run, and the change of the loss at the run's
/// borders. It shows a drag itself and emits the result once. Keys: Left and Right choose a stage, with Ctrl they move
/// its start, Up and Down change its length; Insert or a double click divides, Delete removes, Esc cancels a drag. GUI
/// thread.
class ScheduleRibbon : public QWidget {
    Q_OBJECT
public:
    explicit ScheduleRibbon(const Look& look, QWidget* parent = nullptr);

    void setPlan(const projects::Stack& stack, const projects::TrainingPlan& plan);
    /// Sets the costs of the spans of shown(); empty if unknown.
    void setCosts(std::vector<projects::SpanCost> costs);
    /// Sets the stage borders of a run. The ribbon shows the run's losses at borders that are also its own.
    void setBorders(std::vector<engine::StageRecord> borders);
    /// Sets the step of the running training; nullopt: no cursor.
    void setCursorStep(std::optional<std::int64_t> step);
    /// Returns the chosen stage; nullopt without stages.
    [[nodiscard]] std::optional<std::size_t> chosen() const;
    void choose(std::size_t stage);
    [[nodiscard]] const RibbonScene& scene() const { return m_scene; }
    /// Returns the shown schedule, which during a drag is its result so far.
    [[nodiscard]] const projects::StageSchedule& shown() const { return m_shown; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 120}; }

signals:
    void edited(const residua::projects::StageSchedule& schedule);
    void chosenChanged();
    /// Emitted when shown() differs from the schedule that was set.
    void previewed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    void layOut();
    void preview(projects::StageSchedule schedule);
    void commit(projects::StageSchedule schedule);
    void moveChosen(std::int64_t steps);
    void stretchChosen(double layers);
    void divideAt(std::int64_t step);
    void removeChosen();
    void paintAxes(QPainter& painter) const;
    void paintRate(QPainter& painter) const;
    void paintBars(QPainter& painter) const;
    void paintBar(QPainter& painter, const RibbonScene::Bar& bar, const QStringList& texts) const;
    void paintCurve(QPainter& painter) const;
    void paintLosses(QPainter& painter) const;
    void paintCursor(QPainter& painter) const;
    [[nodiscard]] QStringList textsOf(const RibbonScene::Bar& bar, std::size_t index) const;
    /// Returns the first text that has room; empty if none has.
    [[nodiscard]] QString fitting(const QStringList& texts, QSizeF room) const;

    const Look& m_look;
    RibbonScene m_scene;
    projects::Stack m_stack; ///< of the document
    projects::StageSchedule m_shown;
    projects::TrainingPlan m_plan;
    std::int64_t m_depth = 1;
    std::size_t m_chosen = 0;
    RibbonHit m_drag;
    std::optional<std::int64_t> m_step;
    std::vector<projects::SpanCost> m_costs;
    std::vector<engine::StageRecord> m_borders;
};

} // namespace residua::app
