// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/schedule_ribbon.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "projects/schedule/kept_parts.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr double kTickWidth = 90;     ///< room for one label of the step axis
constexpr std::int64_t kNudges = 100; ///< a key moves a border by a hundredth of the training
constexpr std::size_t kRateColour = 1;

/// Returns black or white, whichever has more contrast (WCAG's relative luminance, with a gamma of 2).
QColor inkOn(const QColor& ground)
{
    const auto light = [](float c) { return c * c; };
    const float luminance =
        0.2126F * light(ground.redF()) + 0.7152F * light(ground.greenF()) + 0.0722F * light(ground.blueF());
    return luminance > 0.18F ? Qt::black : Qt::white;
}

/// Returns the first corner of the box, starting at the upper right, in which a text of this size does not cover the
/// curve; the upper right one if every corner does.
QRectF freeCorner(const QRectF& box, const QPainterPath& curve, const QSizeF& text)
{
    const double left = box.left();
    const double right = box.right() - text.width();
    const double bottom = box.bottom() - text.height();
    const QPainterPath drawn = QPainterPathStroker(QPen(Qt::black, 2)).createStroke(curve);
    for (const QPointF corner :
         {QPointF(right, box.top()), QPointF(right, bottom), QPointF(left, box.top()), QPointF(left, bottom)}) {
        if (const QRectF place(corner, text); !drawn.intersects(place)) {
            return place;
        }
    }
    return {QPointF(right, box.top()), text};
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

void ScheduleRibbon::setPlan(const projects::Stack& stack, const projects::TrainingPlan& plan)
{
    const projects::StageSchedule& schedule = stack.schedule;
    const bool same = stack == m_stack && plan == m_plan;
    if (same && m_drag.part != RibbonPart::None) {
        emit previewed(); // the costs may have changed; the drag continues
        return;
    }
    m_plan = plan;
    m_stack = stack;
    m_depth = stack.depth();
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

void ScheduleRibbon::setCosts(std::vector<projects::SpanCost> costs)
{
    m_costs = std::move(costs);
    update();
}

void ScheduleRibbon::setBorders(std::vector<engine::StageRecord> borders)
{
    m_borders = std::move(borders);
    update();
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
    if (schedule != m_stack.schedule) {
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

/// A tooltip shows the text that does not fit in a narrow bar.
bool ScheduleRibbon::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* const help = static_cast<QHelpEvent*>(event);
    const std::vector<RibbonScene::Bar> bars = m_scene.bars();
    QString text;
    for (std::size_t i = 0; i < bars.size(); ++i) {
        if (bars[i].box.contains(help->pos())) {
            text = textsOf(bars[i], i).value(0);
        }
    }
    QToolTip::showText(help->globalPos(), text, this);
    return true;
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
        preview(
            projects::withStart(m_stack.schedule, m_drag.stage, m_scene.stepAt(event->position().x()), m_plan.steps));
    } else if (m_drag.part == RibbonPart::Top) {
        preview(projects::withLength(m_stack.schedule, m_drag.stage, m_scene.layersAt(event->position().y()), m_depth));
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
    const std::int64_t start = m_stack.schedule.stages.at(m_chosen).start;
    commit(projects::withStart(m_stack.schedule, m_chosen, start + steps, m_plan.steps));
}

void ScheduleRibbon::stretchChosen(double layers)
{
    const double length = m_stack.schedule.stages.at(m_chosen).averageLength;
    commit(projects::withLength(m_stack.schedule, m_chosen, length + layers, m_depth));
}

void ScheduleRibbon::divideAt(std::int64_t step)
{
    m_drag = {};
    commit(projects::withSplit(m_stack.schedule, step, m_depth));
}

void ScheduleRibbon::removeChosen()
{
    commit(projects::withoutStage(m_stack.schedule, m_chosen));
}

void ScheduleRibbon::keyPressEvent(QKeyEvent* event)
{
    if (m_stack.schedule.stages.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const std::int64_t nudge = std::max<std::int64_t>(m_plan.steps / kNudges, 1);
    const bool moves = event->modifiers().testFlag(Qt::ControlModifier);
    const std::int64_t end =
        m_chosen + 1 < m_stack.schedule.stages.size() ? m_stack.schedule.stages[m_chosen + 1].start : m_plan.steps;
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
        return divideAt((m_stack.schedule.stages[m_chosen].start + end) / 2);
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        return removeChosen();
    case Qt::Key_Escape:
        m_drag = {};
        return preview(m_stack.schedule);
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
    paintLosses(painter);
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
    const bool layers = projects::leavesOutLayers(m_shown.axis);
    if (m_depth > 0) { // otherwise it would cover the zero
        left(m_scene.yOf(static_cast<double>(m_depth)), layers ? QString::number(m_depth) : tr("100 %"));
    }
    left(m_scene.yOf(0), QStringLiteral("0"));
    left(bars.center().y(), layers ? tr("layers") : tr("kept"));
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
    const QRectF name = freeCorner(m_scene.rateBox().adjusted(4, 0, -4, 0), path,
                                   painter.fontMetrics().size(Qt::TextSingleLine, tr("learning rate")));
    painter.drawText(name, Qt::AlignCenter, tr("learning rate"));
}

QStringList ScheduleRibbon::textsOf(const RibbonScene::Bar& bar, std::size_t index) const
{
    const auto cost = index < m_costs.size() ? std::optional(m_costs[index]) : std::nullopt;
    return spanTexts(projects::drawnSchedule(m_shown, m_stack), bar.span, m_depth, m_plan.steps, cost);
}

QString ScheduleRibbon::fitting(const QStringList& texts, QSizeF room) const
{
    const QFontMetrics metrics = fontMetrics();
    for (const QString& text : texts) {
        const QSize size = metrics.size(0, text);
        if (size.width() + 10 <= room.width() && size.height() + 8 <= room.height()) {
            return text;
        }
    }
    return {};
}

void ScheduleRibbon::paintBars(QPainter& painter) const
{
    const std::vector<RibbonScene::Bar> bars = m_scene.bars();
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const bool curve = bars[i].span.stage == projects::StageSpan::kCurve; // its spans share one text
        paintBar(painter, bars[i], curve ? QStringList() : textsOf(bars[i], i));
    }
    if (m_shown.course == projects::DropCourse::Curve) {
        paintCurve(painter);
    }
}

/// Paints the curve's text at the foot of the bars, on its own background, because the bars differ in colour.
void ScheduleRibbon::paintCurve(QPainter& painter) const
{
    const QRectF bars = m_scene.barBox();
    const QString text = fitting(curveTexts(m_shown, m_depth, m_plan.steps, m_costs), bars.size());
    if (text.isEmpty()) {
        return;
    }
    const QSizeF size = QSizeF(fontMetrics().size(0, text)) + QSizeF(10, 4);
    const QRectF box(QPointF(bars.center().x() - size.width() / 2, bars.bottom() - size.height() - 4), size);
    painter.fillRect(box, m_look.theme().colour(QStringLiteral("surface")));
    painter.setPen(m_look.theme().colour(QStringLiteral("text")));
    painter.drawText(box, Qt::AlignCenter, text);
}

/// Paints the losses above the bar that begins at the border, if there is room.
void ScheduleRibbon::paintLosses(QPainter& painter) const
{
    painter.setPen(m_look.theme().colour(QStringLiteral("text")));
    const double top = m_scene.rateBox().bottom();
    for (const RibbonScene::Bar& bar : m_scene.bars()) {
        const auto border = std::ranges::find(m_borders, bar.span.from, &engine::StageRecord::step);
        if (bar.span.from > 0 && border != m_borders.end()) {
            const QRectF room(bar.box.left(), top, bar.box.width(), m_scene.barBox().top() - top);
            const QSizeF line(room.width(), height()); // as high as a line, even if there is less room
            painter.drawText(room.adjusted(4, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip,
                             fitting(borderTexts(*border), line));
        }
    }
}

/// The colour depends on the probability that a layer is kept, as for all probabilities here.
void ScheduleRibbon::paintBar(QPainter& painter, const RibbonScene::Bar& bar, const QStringList& texts) const
{
    const bool full = bar.span.stage == projects::StageSpan::kFull;
    const double depth = static_cast<double>(std::max<std::int64_t>(m_depth, 1));
    const bool alike =
        m_shown.sampling == projects::DropSampling::Bernoulli || m_shown.sampling == projects::DropSampling::FixedSize;
    const double keep = alike && bar.span.isStage() ? projects::keepProbability(m_shown.stages[bar.span.stage], m_depth)
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
    painter.drawText(box.adjusted(4, 6, -4, -4), Qt::AlignHCenter | Qt::AlignTop, fitting(texts, box.size()));
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
