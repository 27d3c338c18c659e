// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/ribbon_scene.h"

#include "app/look/format.h"
#include "projects/base/real.h"
#include "projects/schedule/kept_parts.h"
#include "resources/axis.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace residua::app {

namespace {

constexpr double kRateShare = 0.28; ///< share of the height
constexpr double kGap = 24;         ///< room for the last label of the rate and the first of the layers
constexpr double kMargin = 12;
constexpr double kGrip = 5; ///< pixels on both sides of an edge in which it can be grabbed

} // namespace

void RibbonScene::setPlan(const projects::StageSchedule& schedule, const projects::TrainingPlan& plan,
                          std::int64_t depth)
{
    m_schedule = schedule;
    m_plan = plan;
    m_plan.steps = std::clamp<std::int64_t>(plan.steps, 1, kMostExactWhole);
    m_depth = std::max<std::int64_t>(depth, 1);
}

void RibbonScene::setRoom(QSizeF size, double left, double below)
{
    const double width = std::max(size.width() - left - kMargin, 1.0);
    const double height = std::max(size.height() - below - 2 * kMargin - kGap, 2.0);
    m_rate = QRectF(left, kMargin, width, height * kRateShare);
    m_bars = QRectF(left, m_rate.bottom() + kGap, width, height * (1 - kRateShare));
}

double RibbonScene::xOf(double step) const
{
    return m_bars.left() + m_bars.width() * step / static_cast<double>(m_plan.steps);
}

double RibbonScene::yOf(double layers) const
{
    return m_bars.bottom() - m_bars.height() * layers / static_cast<double>(m_depth);
}

std::int64_t RibbonScene::stepAt(double x) const
{
    const double share = std::clamp((x - m_bars.left()) / m_bars.width(), 0.0, 1.0);
    return std::llround(share * static_cast<double>(m_plan.steps));
}

double RibbonScene::layersAt(double y) const
{
    const double share = std::clamp((m_bars.bottom() - y) / m_bars.height(), 0.0, 1.0);
    return std::round(share * static_cast<double>(m_depth));
}

std::vector<RibbonScene::Bar> RibbonScene::bars() const
{
    std::vector<Bar> bars;
    for (const projects::StageSpan& span : projects::spansOf(m_schedule, m_depth, m_plan.steps)) {
        const double left = xOf(static_cast<double>(span.from));
        const double top = yOf(std::clamp(span.averageLength, 0.0, static_cast<double>(m_depth)));
        bars.push_back({span, QRectF(QPointF(left, top), QPointF(xOf(static_cast<double>(span.to)), m_bars.bottom()))});
    }
    return bars;
}

double RibbonScene::largestRate() const
{
    double largest = 0;
    const int columns = std::max(static_cast<int>(m_rate.width()), 1);
    for (int i = 0; i <= columns; ++i) {
        const std::int64_t step = stepAt(m_rate.left() + m_rate.width() * i / columns);
        largest = std::max(largest, learningRateAt(m_plan, m_schedule, std::max<std::int64_t>(step, 1)));
    }
    return std::max(
        largest,
        learningRateAt(m_plan, m_schedule, std::clamp<std::int64_t>(m_plan.learningRate.warmupSteps, 1, m_plan.steps)));
}

std::vector<QPointF> RibbonScene::rateLine() const
{
    const double largest = largestRate();
    std::vector<QPointF> line;
    const int columns = std::max(static_cast<int>(m_rate.width()), 1);
    for (int i = 0; i <= columns && largest > 0; ++i) {
        const double x = m_rate.left() + m_rate.width() * i / columns;
        const double rate = learningRateAt(m_plan, m_schedule, std::max<std::int64_t>(stepAt(x), 1));
        line.emplace_back(x, m_rate.bottom() - m_rate.height() * std::clamp(rate / largest, 0.0, 1.0));
    }
    return line;
}

RibbonHit RibbonScene::hit(QPointF position) const
{
    RibbonHit found;
    for (const Bar& bar : bars()) {
        if (!bar.span.isStage() || position.y() > bar.box.bottom()) {
            continue;
        }
        const bool beside = std::abs(position.x() - bar.box.left()) <= kGrip;
        if (beside && position.y() >= m_bars.top() - kGrip) {
            return {RibbonPart::Border, bar.span.stage};
        }
        if (position.x() < bar.box.left() || position.x() > bar.box.right()) {
            continue;
        }
        if (std::abs(position.y() - bar.box.top()) <= kGrip) {
            found = {RibbonPart::Top, bar.span.stage};
        } else if (bar.box.contains(position)) {
            found = {RibbonPart::Stage, bar.span.stage};
        }
    }
    return found;
}

std::vector<std::int64_t> RibbonScene::ticks(int count) const
{
    std::vector<std::int64_t> ticks;
    for (const auto& [step, label] : resources::linearTicks({0, static_cast<double>(m_plan.steps)}, count, 1)) {
        ticks.push_back(static_cast<std::int64_t>(step));
    }
    return ticks;
}

namespace {

constexpr int kLossDigits = 4;

struct StageTexts {
    Q_DECLARE_TR_FUNCTIONS(StageTexts)
};

QString percent(double share, int digits = 1)
{
    return QString::number(100 * share, 'f', digits);
}

QString probability(double p)
{
    return QString::number(p, 'f', 2);
}

/// Describes the rule that selects the parts that a step keeps; empty if it keeps everything.
QString ruleOf(const projects::StageSchedule& schedule, const projects::StageSpan& span, std::int64_t depth,
               std::int64_t steps)
{
    const projects::KeepShares kept = projects::keepShares(schedule, span, depth, steps);
    const std::vector<double>& shares = projects::leavesOutLayers(schedule.axis) ? kept.layers : kept.parts;
    std::vector<double> drawn;
    std::ranges::copy_if(shares, std::back_inserter(drawn), [](double share) { return share < 1; });
    if (drawn.empty()) {
        return {};
    }
    switch (schedule.sampling) {
    case projects::DropSampling::Bernoulli:
        return (drawn.size() < shares.size() ? StageTexts::tr("others kept with p = %1")
                                             : StageTexts::tr("each kept with p = %1"))
            .arg(probability(drawn.front()));
    case projects::DropSampling::FixedSize:
        return StageTexts::tr("as many in every step");
    case projects::DropSampling::DeeperSeldomer:
        return StageTexts::tr("p from %1 to %2 with the depth")
            .arg(probability(*std::ranges::max_element(drawn)), probability(*std::ranges::min_element(drawn)));
    case projects::DropSampling::First:
        return projects::leavesOutLayers(schedule.axis) ? StageTexts::tr("the first ones")
                                                        : StageTexts::tr("the first ones of each layer");
    }
    return {};
}

/// Returns the shortest name: the number of layers, or the share of heads and parts.
QString shortName(const projects::StageSchedule& schedule, const projects::StageSpan& span, std::int64_t depth)
{
    if (span.averageLength >= static_cast<double>(depth)) {
        return StageTexts::tr("all");
    }
    return projects::leavesOutLayers(schedule.axis)
               ? formatReal(std::round(span.averageLength * 100) / 100)
               : StageTexts::tr("%1 %").arg(
                     percent(span.averageLength / static_cast<double>(std::max<std::int64_t>(depth, 1)), 0));
}

/// Joins the non-empty parts as lines.
QString lines(QStringList parts)
{
    parts.removeAll(QString());
    return parts.join(QLatin1Char('\n'));
}

} // namespace

QStringList spanTexts(const projects::StageSchedule& schedule, const projects::StageSpan& span, std::int64_t depth,
                      std::int64_t steps, const std::optional<projects::SpanCost>& cost)
{
    const QString name = QString::fromStdString(projects::nameOf(schedule, span, depth));
    const QString brief = shortName(schedule, span, depth);
    QString flop;
    QString share;
    if (cost && cost->flopShare < 1) {
        flop =
            StageTexts::tr("%1 % of the FLOP, saves %2 %").arg(percent(cost->flopShare), percent(1 - cost->flopShare));
        share = StageTexts::tr("%1 % FLOP").arg(percent(cost->flopShare, 0));
    }
    QStringList texts{lines({name, ruleOf(schedule, span, depth, steps), flop}), lines({name, flop}),
                      lines({name, share}), lines({brief, share}), brief};
    texts.removeDuplicates();
    return texts;
}

QStringList curveTexts(const projects::StageSchedule& schedule, std::int64_t depth, std::int64_t steps,
                       const std::vector<projects::SpanCost>& costs)
{
    const std::vector<projects::StageSpan> spans = projects::spansOf(schedule, depth, steps);
    if (spans.empty()) {
        return {};
    }
    const QString course = StageTexts::tr("%1, falling to %2")
                               .arg(QString::fromStdString(projects::nameOf(schedule, spans.front(), depth)),
                                    shortName(schedule, spans.back(), depth));
    if (costs.size() != spans.size()) {
        return {course};
    }
    double whole = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        whole += costs[i].flopShare * static_cast<double>(spans[i].to - spans[i].from);
    }
    const double saved = 1 - whole / static_cast<double>(std::max<std::int64_t>(spans.back().to, 1));
    const QString saves = StageTexts::tr("saves %1 % of the FLOP").arg(percent(saved));
    return {lines({course,
                   StageTexts::tr("a step takes %1 to %2 % of the FLOP")
                       .arg(percent(costs.front().flopShare), percent(costs.back().flopShare)),
                   saves}),
            lines({course, saves}), saves};
}

QStringList borderTexts(const engine::StageRecord& border)
{
    const double jump = border.trainAfter - border.trainBefore;
    if (std::isnan(jump)) {
        return {};
    }
    const QString change = (jump > 0 ? QStringLiteral("+") : QString()) + formatLoss(jump, kLossDigits);
    const QString before = formatLoss(border.trainBefore, kLossDigits);
    const QString after = formatLoss(border.trainAfter, kLossDigits);
    return {StageTexts::tr("loss %1 → %2 (%3)").arg(before, after, change),
            StageTexts::tr("%1 → %2").arg(before, after), change};
}

QString memoryText(const projects::CostReport& report, const projects::SpanCost& cost)
{
    const double held = report.total.memoryBytes() - report.total.activationBytes;
    const QString expected = formatBytes(held + cost.activationBytes);
    const QString most = formatBytes(held + cost.peakActivationBytes);
    return expected == most ? expected : StageTexts::tr("%1, at most %2").arg(expected, most);
}

} // namespace residua::app
