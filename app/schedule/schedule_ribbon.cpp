// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/schedule_ribbon.h"

#include "app/look/format.h"
#include "app/look/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr double kTickWidth = 90;     ///< room for one label of the step axis
constexpr std::int64_t kNudges = 100; ///< a key moves a border by a hundredth of the training
constexpr std::size_t kRateColour = 1;

/// Black or white, whichever stands out more (WCAG's relative luminance, its gamma taken as 2).
QColor inkOn(const QColor& ground)
{
    const auto light = [](float c) { return c * c; };
    const float luminance =
        0.2126F * light(ground.redF()) + 0.7152F * light(ground.greenF()) + 0.0722F * light(ground.blueF());
    return luminance > 0.18F ? Qt::black : Qt::white;
}

QString probability(double p)
{
    return QString::number(p, 'f', 2);
}

} // namespace

ScheduleRibbon::ScheduleRibbon(const Look& look, QWidget* parent) : QWidget(parent), m_look(look)
{
    setObjectName(QStringLiteral("scheduleRibbon"));
    setAccessibleName(tr("Stages of training; Left and Right choose one, Up and Down change its length, with Ctrl Left "
                         "and Right move its start, Insert divides and Delete removes it"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setFont(textFont());
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void ScheduleRibbon::setPlan(const projects::StageSchedule& schedule, const projects::TrainingPlan& plan,
                             std::int64_t depth)
{
    m_plan = plan;
    m_depth = depth;
    m_schedule = schedule;
    m_drag = {};
    m_chosen = schedule.stages.empty() ? 0 : std::min(m_chosen, schedule.stages.size() - 1);
    preview(schedule);
    emit chosenChanged();
}

void ScheduleRibbon::setCursorStep(std::optional<std::int64_t> step)
{
    if (step != m_step) {
        m_step = step;
        update();
    }
}

std::optional<std::size_t> ScheduleRibbon::chosen() const
{
    return m_shown.stages.empty() ? std::nullopt : std::optional(m_chosen);
}

void ScheduleRibbon::choose(std::size_t stage)
{
    if (stage != m_chosen && stage < m_shown.stages.size()) {
        m_chosen = stage;
        update();
        emit chosenChanged();
    }
}

void ScheduleRibbon::layOut()
{
    const QFontMetricsF metrics(font());
    m_scene.setPlan(m_shown, m_plan, m_depth);
    m_scene.setRoom(size(), metrics.horizontalAdvance(QStringLiteral("0.00000")) + 14, metrics.height() + 8);
    update();
}

void ScheduleRibbon::preview(projects::StageSchedule schedule)
{
    m_shown = std::move(schedule);
    layOut();
    emit previewed();
}

void ScheduleRibbon::commit(projects::StageSchedule schedule)
{
    if (schedule != m_schedule) {
        emit edited(schedule);
    }
}

void ScheduleRibbon::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layOut();
}

void ScheduleRibbon::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        layOut();
    }
}

void ScheduleRibbon::mousePressEvent(QMouseEvent* event)
{
    const RibbonHit hit = m_scene.hit(event->position());
    if (event->button() == Qt::LeftButton && hit.part != RibbonPart::None) {
        choose(hit.stage);
        m_drag = hit;
    }
}

void ScheduleRibbon::mouseMoveEvent(QMouseEvent* event)
{
    if (m_drag.part == RibbonPart::Border) {
        preview(projects::withStart(m_schedule, m_drag.stage, m_scene.stepAt(event->position().x()), m_plan.steps));
    } else if (m_drag.part == RibbonPart::Top) {
        preview(projects::withLength(m_schedule, m_drag.stage, m_scene.layersAt(event->position().y()), m_depth));
    } else if (event->buttons() == Qt::NoButton) {
        const RibbonPart part = m_scene.hit(event->position()).part;
        setCursor(part == RibbonPart::Border ? Qt::SplitHCursor
                  : part == RibbonPart::Top  ? Qt::SplitVCursor
                                             : Qt::ArrowCursor);
    }
}

void ScheduleRibbon::mouseReleaseEvent(QMouseEvent*)
{
    if (std::exchange(m_drag, {}).part != RibbonPart::None) {
        commit(m_shown);
    }
}

void ScheduleRibbon::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (!m_shown.stages.empty() && m_scene.barBox().contains(event->position())) {
        divideAt(m_scene.stepAt(event->position().x()));
    }
}

void ScheduleRibbon::moveChosen(std::int64_t steps)
{
    const std::int64_t start = m_schedule.stages.at(m_chosen).start;
    commit(projects::withStart(m_schedule, m_chosen, start + steps, m_plan.steps));
}

void ScheduleRibbon::stretchChosen(double layers)
{
    const double length = m_schedule.stages.at(m_chosen).averageLength;
    commit(projects::withLength(m_schedule, m_chosen, length + layers, m_depth));
}

void ScheduleRibbon::divideAt(std::int64_t step)
{
    m_drag = {};
    commit(projects::withSplit(m_schedule, step, m_depth));
}

void ScheduleRibbon::removeChosen()
{
    commit(projects::withoutStage(m_schedule, m_chosen));
}

void ScheduleRibbon::keyPressEvent(QKeyEvent* event)
{
    if (m_schedule.stages.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const std::int64_t nudge = std::max<std::int64_t>(m_plan.steps / kNudges, 1);
    const bool moves = event->modifiers().testFlag(Qt::ControlModifier);
    const std::int64_t end =
        m_chosen + 1 < m_schedule.stages.size() ? m_schedule.stages[m_chosen + 1].start : m_plan.steps;
    switch (event->key()) {
    case Qt::Key_Left:
        return moves ? moveChosen(-nudge) : choose(m_chosen == 0 ? 0 : m_chosen - 1);
    case Qt::Key_Right:
        return moves ? moveChosen(nudge) : choose(m_chosen + 1);
    case Qt::Key_Up:
        return stretchChosen(1);
    case Qt::Key_Down:
        return stretchChosen(-1);
    case Qt::Key_Insert:
    case Qt::Key_Plus:
        return divideAt((m_schedule.stages[m_chosen].start + end) / 2);
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        return removeChosen();
    case Qt::Key_Escape:
        m_drag = {};
        return preview(m_schedule);
    default:
        QWidget::keyPressEvent(event);
    }
}

void ScheduleRibbon::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), m_look.theme().colour(QStringLiteral("surface")));
    paintAxes(painter);
    paintRate(painter);
    paintBars(painter);
    paintCursor(painter);
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_look.theme().colour(QStringLiteral("accent")), 1));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void ScheduleRibbon::paintAxes(QPainter& painter) const
{
    const QRectF bars = m_scene.barBox();
    const QRectF rate = m_scene.rateBox();
    const double height = painter.fontMetrics().height();
    const auto left = [&](double y, const QString& text) {
        painter.drawText(QRectF(0, y - height / 2, bars.left() - 8, height), Qt::AlignRight | Qt::AlignVCenter, text);
    };
    painter.setPen(QPen(toColour(resources::themeColours(m_look.theme().kind()).grid), 1));
    for (const std::int64_t step : m_scene.ticks(static_cast<int>(bars.width() / kTickWidth))) {
        const double x = m_scene.xOf(static_cast<double>(step));
        painter.drawLine(QPointF(x, rate.top()), QPointF(x, bars.bottom()));
    }
    for (const double layers : {0.0, static_cast<double>(m_depth)}) {
        painter.drawLine(QPointF(bars.left(), m_scene.yOf(layers)), QPointF(bars.right(), m_scene.yOf(layers)));
    }
    painter.setPen(m_look.theme().colour(QStringLiteral("muted")));
    if (m_depth > 0) { // else it would be written over the zero
        left(m_scene.yOf(static_cast<double>(m_depth)), QString::number(m_depth));
    }
    left(m_scene.yOf(0), QStringLiteral("0"));
    left(bars.center().y(), tr("layers"));
    left(rate.top(), formatReal(m_scene.largestRate()));
    left(rate.bottom(), QStringLiteral("0"));
    const double labelY = bars.bottom() + 4;
    double free = bars.left() - 30;
    for (const std::int64_t step : m_scene.ticks(static_cast<int>(bars.width() / kTickWidth))) {
        const QString text = formatWhole(step);
        const double half = painter.fontMetrics().horizontalAdvance(text) / 2.0;
        const double x = std::min(m_scene.xOf(static_cast<double>(step)), width() - half - 3);
        if (x - half > free) {
            painter.drawText(QRectF(x - half - 2, labelY, 2 * half + 4, height), Qt::AlignCenter, text);
            free = x + half + 8;
        }
    }
}

void ScheduleRibbon::paintRate(QPainter& painter) const
{
    const auto line = m_scene.rateLine();
    QPainterPath path;
    for (std::size_t i = 0; i < line.size(); ++i) {
        i == 0 ? path.moveTo(line[i]) : path.lineTo(line[i]);
    }
    const QColor colour = toColour(resources::curveColour(kRateColour, m_look.theme().kind()));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, 1.6));
    painter.drawPath(path);
    painter.setPen(m_look.theme().colour(QStringLiteral("muted")));
    painter.drawText(m_scene.rateBox().adjusted(0, 0, -4, 0), Qt::AlignRight | Qt::AlignTop, tr("learning rate"));
}

QString ScheduleRibbon::labelOf(const RibbonScene::Bar& bar, QSizeF room) const
{
    const QFontMetrics metrics = fontMetrics();
    QStringList candidates;
    if (bar.span.stage == projects::StageSpan::kFull) {
        candidates = {tr("every layer"), tr("all")};
    } else if (bar.span.isStage()) {
        const projects::Stage& stage = m_shown.stages[bar.span.stage];
        const QString length = formatReal(stage.averageLength);
        candidates = {
            tr("%1 of %2 layers\nothers kept with p = %3")
                .arg(length)
                .arg(m_depth)
                .arg(probability(projects::keepProbability(stage, m_depth))),
            tr("%1 of %2\np = %3").arg(length).arg(m_depth).arg(probability(projects::keepProbability(stage, m_depth))),
            length};
    }
    for (const QString& text : candidates) {
        const QSize size = metrics.size(0, text);
        if (size.width() + 10 <= room.width() && size.height() + 8 <= room.height()) {
            return text;
        }
    }
    return {};
}

void ScheduleRibbon::paintBars(QPainter& painter) const
{
    for (const RibbonScene::Bar& bar : m_scene.bars()) {
        paintBar(painter, bar);
    }
}

/// Colour by how often a layer is kept, as every probability here.
void ScheduleRibbon::paintBar(QPainter& painter, const RibbonScene::Bar& bar) const
{
    const bool full = bar.span.stage == projects::StageSpan::kFull;
    const double depth = static_cast<double>(std::max<std::int64_t>(m_depth, 1));
    const double keep = bar.span.isStage() ? projects::keepProbability(m_shown.stages[bar.span.stage], m_depth)
                                           : bar.span.averageLength / depth;
    const ThemeKind kind = m_look.theme().kind();
    const QColor fill =
        full ? m_look.theme().colour(QStringLiteral("hover")) : toColour(resources::magnitude(keep, kind));
    const QColor text = full ? m_look.theme().colour(QStringLiteral("muted")) : inkOn(fill);
    const bool isChosen = bar.span.isStage() && bar.span.stage == m_chosen;
    const QRectF box = bar.box.adjusted(0.5, 0, -0.5, 0);
    painter.setBrush(fill);
    painter.setPen(bar.span.stage == projects::StageSpan::kCurve ? fill
                                                                 : m_look.theme().colour(QStringLiteral("border")));
    painter.drawRect(box);
    if (isChosen) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_look.theme().colour(QStringLiteral("accent")), 2));
        painter.drawRect(box.adjusted(1, 1, -1, -1));
    }
    painter.setPen(text);
    painter.drawText(box.adjusted(4, 6, -4, -4), Qt::AlignHCenter | Qt::AlignTop, labelOf(bar, box.size()));
}

void ScheduleRibbon::paintCursor(QPainter& painter) const
{
    if (!m_step) {
        return;
    }
    const double x = m_scene.xOf(static_cast<double>(std::min(*m_step, m_plan.steps)));
    painter.setPen(QPen(m_look.theme().colour(QStringLiteral("text")), 1.5));
    painter.drawLine(QPointF(x, m_scene.rateBox().top()), QPointF(x, m_scene.barBox().bottom()));
    const QString text = tr("step %1").arg(formatWhole(*m_step));
    const double wide = painter.fontMetrics().horizontalAdvance(text) + 8;
    const bool left = x + wide > width();
    painter.drawText(QRectF(left ? x - wide : x + 4, m_scene.rateBox().bottom() - painter.fontMetrics().height(), wide,
                            painter.fontMetrics().height()),
                     left ? Qt::AlignRight : Qt::AlignLeft, text);
}

} // namespace residua::app
