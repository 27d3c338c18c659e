// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/ranges.h"
#include "visualizers/plot/series.h"

#include <QSet>

#include <algorithm>
#include <iterator>

namespace residua::visualizers {
namespace {

qsizetype countDifferent(const QStringList& names)
{
    return QSet<QString>(names.begin(), names.end()).size();
}

QStringList elided(const QStringList& names, const QFontMetrics& metrics, int width, Qt::TextElideMode mode)
{
    return mapped<QStringList>(names, [&](const QString& name) { return metrics.elidedText(name, mode, width); });
}

/// Returns the length of the longest start that `name` shares with a different name.
qsizetype sharedStart(const QString& name, const QStringList& names)
{
    qsizetype longest = 0;
    for (const QString& other : names) {
        const auto end = std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first;
        longest = other == name ? longest : std::max<qsizetype>(longest, end - name.begin());
    }
    return longest;
}

/// Returns the length of the parts that all of these names begin with: "project, " of "project, ANCRe" and "project,
/// DCA".
qsizetype sharedParts(const QStringList& names)
{
    qsizetype shared = names.value(0).size();
    for (const QString& name : names) {
        shared =
            std::mismatch(name.begin(), name.end(), names[0].begin(), names[0].begin() + shared).first - name.begin();
    }
    const QStringView start = QStringView(names.value(0)).left(shared);
    const auto endOf = [start](const QString& divider) {
        const qsizetype at = start.lastIndexOf(divider);
        return at < 0 ? 0 : at + divider.size();
    };
    return std::max(endOf(QStringLiteral(", ")), endOf(QStringLiteral(" · ")));
}

/// Shortens the names that are too wide by the parts that all of them begin with, and then at their ends. Returns an
/// empty list if there are no such parts.
QStringList withoutSharedParts(const QStringList& names, const QFontMetrics& metrics, int width)
{
    QStringList wide;
    std::ranges::copy_if(names, std::back_inserter(wide),
                         [&](const QString& name) { return metrics.horizontalAdvance(name) > width; });
    const qsizetype shared = countDifferent(wide) > 1 ? sharedParts(wide) : 0;
    auto cut = mapped<QStringList>(shared > 0 ? names : QStringList(), [&](const QString& name) {
        return (wide.contains(name) ? QStringLiteral("…") + name.mid(shared) : name);
    });
    return elided(cut, metrics, width, Qt::ElideRight);
}

} // namespace

QStringList distinctNames(const QStringList& names, const QFontMetrics& metrics, int width)
{
    const qsizetype different = countDifferent(names);
    if (QStringList shown = withoutSharedParts(names, metrics, width); countDifferent(shown) == different) {
        return shown;
    }
    for (const Qt::TextElideMode mode : {Qt::ElideMiddle, Qt::ElideLeft, Qt::ElideRight}) {
        QStringList shown = elided(names, metrics, width, mode);
        if (countDifferent(shown) == different) {
            return shown;
        }
    }
    QStringList cut;
    for (const QString& name : names) {
        const bool fits = metrics.horizontalAdvance(name) <= width;
        cut << (fits ? name : QStringLiteral("…") + name.mid(sharedStart(name, names)));
    }
    return elided(cut, metrics, width, Qt::ElideRight);
}

} // namespace residua::visualizers
