// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/shown_effects.h"

#include "projects/base/text.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::visualizers {

using engine::KeptEffects;

namespace {

constexpr int kEffectDigits = 3;

QString effectNumber(double value)
{
    return QString::fromStdString(numberText(value, kEffectDigits));
}

QString partsOf(projects::KnockoutBy by)
{
    switch (by) {
    case projects::KnockoutBy::Term:
        return ShownEffects::tr("shortcuts");
    case projects::KnockoutBy::Layer:
        return ShownEffects::tr("layers");
    case projects::KnockoutBy::Half:
        return ShownEffects::tr("halves");
    case projects::KnockoutBy::Visits:
        return ShownEffects::tr("numbers of visits");
    case projects::KnockoutBy::Stream:
        break;
    }
    return ShownEffects::tr("streams");
}

} // namespace

void ShownEffects::setRun(const std::string& key, std::vector<engine::KeptEffects> results)
{
    const KeptEffects* const before = key == m_run ? shown() : nullptr;
    const auto kept = before == nullptr ? results.end() : std::ranges::find(results, before->key, &KeptEffects::key);
    m_place = kept == results.end() ? results.size() - (results.empty() ? 0 : 1)
                                    : static_cast<std::size_t>(kept - results.begin());
    m_run = key;
    m_all = std::move(results);
    emit changed();
}

void ShownEffects::add(engine::KeptEffects result)
{
    std::erase_if(m_all, [&](const engine::KeptEffects& other) { return other.key == result.key; });
    m_all.push_back(std::move(result));
    m_place = m_all.size() - 1;
    emit changed();
}

void ShownEffects::choose(std::size_t place)
{
    if (place < m_all.size() && place != m_place) {
        m_place = place;
        emit changed();
    }
}

const engine::KeptEffects* ShownEffects::shown() const
{
    return m_place < m_all.size() ? &m_all[m_place] : nullptr;
}

const engine::KeptEffects* ShownEffects::ofShortcuts() const
{
    const engine::KeptEffects* found = shown();
    for (auto each = m_all.rbegin(); each != m_all.rend(); ++each) {
        if (found != nullptr && found->key.by == projects::KnockoutBy::Term) {
            return found;
        }
        found = &*each;
    }
    return found != nullptr && found->key.by == projects::KnockoutBy::Term ? found : nullptr;
}

QString titleOf(const engine::KeptEffects& result)
{
    const QString step = QString::fromStdString(groupedText(result.measured.step));
    const QString batches = QString::fromStdString(groupedText(result.measured.batches));
    const QString parts = partsOf(result.key.by);
    const QString title = result.measured.batches == 1
                              ? ShownEffects::tr("%1, step %2, 1 batch").arg(parts, step)
                              : ShownEffects::tr("%1, step %2, %3 batches").arg(parts, step, batches);
    return result.key.renormalise ? ShownEffects::tr("%1, renormalised").arg(title) : title;
}

QString readingOf(const engine::KnockoutRow& row)
{
    const QString rise = (row.rise < 0 ? QString() : QStringLiteral("+")) + effectNumber(row.rise);
    const QString name = QString::fromStdString(row.name);
    QStringList lines{std::isnan(row.error)
                          ? ShownEffects::tr("%1: loss %2 without it").arg(name, rise)
                          : ShownEffects::tr("%1: loss %2 ± %3 without it").arg(name, rise, effectNumber(row.error))};
    if (!std::isnan(row.divergence)) {
        lines << ShownEffects::tr("KL %1 nats").arg(effectNumber(row.divergence));
    }
    if (!std::isnan(row.weight)) {
        lines << ShownEffects::tr("weight %1").arg(effectNumber(row.weight));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace residua::visualizers
