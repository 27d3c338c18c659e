// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/equation_text.h"

#include <algorithm>

namespace residua::app {

namespace {

using Letters = QTextCharFormat::VerticalAlignment;

/// The share of its width that Qt takes from a letter that is raised or lowered.
constexpr double kNarrower = 1.0 / 3.0;

/// True for a letter or digit that can be part of an index; false for a raised letter such as ᵀ.
bool isPlain(QChar c)
{
    return (c.isLetter() && c.category() != QChar::Letter_Modifier) || c.isDigit();
}

/// True if the mark at `at` follows what can have an index.
bool followsBase(const QString& line, qsizetype at)
{
    const QChar base = at > 0 ? line[at - 1] : QChar();
    const auto isName = [&](qsizetype i) { return i >= 0 && (isPlain(line[i]) || line[i] == QLatin1Char('_')); };
    if (base.isLetter()) {
        return !isName(at - 2);
    }
    if (base == QLatin1Char('\'')) {
        return at > 1 && line[at - 2].isLetter() && !isName(at - 3);
    }
    return QStringView(u")]}‖⟩Σ∏Π").contains(base);
}

/// Returns the end of the index that begins at `from`, after its mark.
qsizetype endOfIndex(const QString& line, qsizetype from)
{
    qsizetype end = from;
    while (end < line.size() && (isPlain(line[end]) || (line[end] == QLatin1Char('\'') && end > from))) {
        ++end;
    }
    return end;
}

} // namespace

std::vector<EquationPart> equationParts(const QString& line)
{
    std::vector<EquationPart> parts;
    const auto add = [&](const QString& text, Letters place) {
        if (!parts.empty() && parts.back().place == place) {
            parts.back().text += text;
        } else if (!text.isEmpty()) {
            parts.push_back({text, place});
        }
    };
    double missing = 0;      // the columns that the line has become narrower since the last gap
    qsizetype indexEnd = -1; // the end of the last index, which a second one may follow
    for (qsizetype at = 0; at < line.size();) {
        const QChar c = line[at];
        const bool isMark = c == QLatin1Char('_') || c == QLatin1Char('^');
        if (isMark && (indexEnd == at || followsBase(line, at))) {
            const bool braced = at + 1 < line.size() && line[at + 1] == QLatin1Char('{');
            const qsizetype close = braced ? line.indexOf(QLatin1Char('}'), at) : -1;
            const qsizetype begin = at + (braced ? 2 : 1);
            const qsizetype end = braced ? close : endOfIndex(line, begin);
            if (end > begin) {
                add(line.mid(begin, end - begin),
                    c == QLatin1Char('_') ? QTextCharFormat::AlignSubScript : QTextCharFormat::AlignSuperScript);
                missing += (braced ? 3 : 1) + kNarrower * static_cast<double>(end - begin);
                indexEnd = at = end + (braced ? 1 : 0);
                continue;
            }
        }
        const bool endsClause = at > 0 && line[at - 1] == QLatin1Char(','); // what follows is no column
        const bool isGap = !endsClause && line.mid(at, 2) == QStringLiteral("  ") && (at == 0 || line[at - 1] != c);
        if (isGap) {
            const int filled = std::max(qRound(missing), 0);
            add(QString(filled, QLatin1Char(' ')), QTextCharFormat::AlignNormal);
            missing -= filled;
        }
        add(c, QTextCharFormat::AlignNormal);
        ++at;
    }
    return parts;
}

} // namespace residua::app
