// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/curve_look.h"

#include "visualizers/plot/plot_style.h"

#include <algorithm>
#include <utility>

namespace residua::visualizers {
namespace {

using Entry = PlotLegend::Entry;

void addOnce(std::vector<Entry>& entries, Entry entry, const std::set<QString>& hidden)
{
    if (!entry.text.isEmpty() && std::ranges::find(entries, entry.key, &Entry::key) == entries.end()) {
        entry.hidden = hidden.contains(entry.key);
        entries.push_back(std::move(entry));
    }
}

} // namespace

QString groupKey(const CurveLook& look)
{
    return QStringLiteral("group ") + look.group;
}

QString numberKey(const CurveLook& look)
{
    return QStringLiteral("number ") + look.number;
}

std::vector<Entry> legendEntries(std::vector<const CurveLook*> looks, const std::set<QString>& hidden,
                                 resources::Theme theme)
{
    std::ranges::stable_sort(looks, {}, [](const CurveLook* look) { return look->place; });
    std::vector<Entry> entries;
    std::vector<Entry> numbers;
    const QColor neutral = toQColor(resources::themeColours(theme).muted);
    for (const CurveLook* look : looks) {
        addOnce(entries, {.key = groupKey(*look), .text = look->name, .colour = toQColor(look->colour)}, hidden);
        addOnce(numbers,
                {.key = numberKey(*look),
                 .text = look->number,
                 .colour = neutral,
                 .line = look->line,
                 .marks = look->marks ? QCPScatterStyle::ssDisc : QCPScatterStyle::ssNone},
                hidden);
    }
    if (numbers.size() > 1) {
        entries.insert(entries.end(), numbers.begin(), numbers.end());
    }
    return entries;
}

} // namespace residua::visualizers
