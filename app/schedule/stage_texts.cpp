// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/stage_texts.h"

#include "app/look/format.h"
#include "projects/schedule/kept_parts.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace residua::app {

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
