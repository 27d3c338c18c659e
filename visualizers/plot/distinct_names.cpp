// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/distinct_names.h"

#include <QSet>

#include <algorithm>

namespace residua::visualizers {
namespace {

qsizetype countDifferent(const QStringList& names)
{
    return QSet<QString>(names.begin(), names.end()).size();
}

QStringList elided(const QStringList& names, const QFontMetrics& metrics, int width, Qt::TextElideMode mode)
{
    QStringList shown;
    for (const QString& name : names) {
        shown << metrics.elidedText(name, mode, width);
    }
    return shown;
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

} // namespace

QStringList distinctNames(const QStringList& names, const QFontMetrics& metrics, int width)
{
    const qsizetype different = countDifferent(names);
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
