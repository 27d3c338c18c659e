// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"

#include <QRegularExpression>

namespace residua::app {

QString EnglishPlurals::translate(const char*, const char* text, const char*, int n) const
{
    if (n != 1) {
        return {}; // the text as it is
    }
    static const QRegularExpression kCounted(QStringLiteral("^( |.*%n )(\\w+)s\\b( were\\b)?"));
    QString singular = QString::fromUtf8(text);
    const QRegularExpressionMatch match = kCounted.match(singular);
    if (!match.hasMatch()) {
        return {};
    }
    const QString verb = match.capturedLength(3) > 0 ? QStringLiteral(" was") : QString();
    return singular.replace(0, match.capturedLength(0), match.captured(1) + match.captured(2) + verb);
}

} // namespace residua::app
