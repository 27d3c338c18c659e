// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/equation_text.h"

#include <algorithm>

namespace residua::app {

namespace {

using Letters = QTextCharFormat::VerticalAlignment;
using Shape = EquationPart::Shape;

/// The share of its width that Qt takes from a letter that is raised or lowered.
constexpr double kNarrower = 1.0 / 3.0;
constexpr qsizetype kWord = 3; ///< letters; a slash between two words of this length is one of a path

const QString kOpening = QStringLiteral("([{⟨");
const QString kClosing = QStringLiteral(")]}⟩");
const QString kBetween = QStringLiteral("/·+−-=≤≥<>~≈⊙⊗∈←→,;:…±"); ///< ends an operand
const QString kSums = QStringLiteral("Σ∏Π");

/// True for a letter or digit that can be part of an index; false for a raised letter such as ᵀ.
bool isPlain(QChar c)
{
    return (c.isLetter() && c.category() != QChar::Letter_Modifier) || c.isDigit();
}

/// Returns the place of the bracket that closes the one at `open`; -1 if it is missing.
qsizetype closeOf(QStringView line, qsizetype open)
{
    qsizetype depth = 0;
    for (qsizetype at = open; at < line.size(); ++at) {
        depth += kOpening.contains(line[at]) ? 1 : kClosing.contains(line[at]) ? -1 : 0;
        if (depth == 0) {
            return at;
        }
    }
    return -1;
}

/// Returns the end of the operand that begins at `from`: names, numbers, brackets and norms without a gap.
qsizetype operandEnd(QStringView line, qsizetype from)
{
    qsizetype at = from;
    while (at < line.size()) {
        const QChar c = line[at];
        const bool isNorm = c == QChar(u'‖') || c == QLatin1Char('|');
        if (kClosing.contains(c) || kBetween.contains(c) || c.isSpace()) {
            break;
        }
        const qsizetype close = isNorm ? line.indexOf(c, at + 1) : kOpening.contains(c) ? closeOf(line, at) : at;
        if (close < 0) {
            break;
        }
        at = close + 1;
    }
    return at;
}

/// Returns the end of the sign of a sum at `from` with its index.
qsizetype sumEnd(QStringView line, qsizetype from)
{
    return from + 1 < line.size() && line[from + 1] == QLatin1Char('_') ? operandEnd(line, from + 1) : from + 1;
}

/// Returns the end of what a slash divides by. A sum includes the product after its sign.
qsizetype divisorEnd(QStringView line, qsizetype from)
{
    if (from >= line.size() || !kSums.contains(line[from])) {
        return operandEnd(line, from);
    }
    const qsizetype sign = sumEnd(line, from);
    qsizetype end = operandEnd(line, sign + (sign < line.size() && line[sign].isSpace() ? 1 : 0));
    while (end < line.size() && line[end] == QChar(u'·')) {
        end = operandEnd(line, end + 1);
    }
    return end;
}

/// Returns `text` without the pair of round brackets around it, if there is one.
QString withoutBrackets(const QString& text)
{
    return text.startsWith('(') && closeOf(text, 0) == text.size() - 1 ? text.mid(1, text.size() - 2) : text;
}

class EquationReader {
public:
    EquationReader(const QString& line, const WidthOfPart& widthOf) : m_line(line), m_widthOf(widthOf) {}

    std::vector<EquationPart> read()
    {
        while (m_at < m_line.size()) {
            if (!readIndex() && !(m_widthOf && (readFraction() || readSum() || readRoot() || readBrackets()))) {
                readLetter();
            }
        }
        return std::move(m_parts);
    }

private:
    [[nodiscard]] QChar at(qsizetype i) const { return i >= 0 && i < m_line.size() ? m_line[i] : QChar(); }
    [[nodiscard]] QString between(qsizetype from, qsizetype to) const { return m_line.mid(from, to - from); }

    void add(const QString& text, Letters place)
    {
        if (!m_parts.empty() && m_parts.back().shape == Shape::Letters && m_parts.back().place == place) {
            m_parts.back().text += text;
        } else if (!text.isEmpty()) {
            m_parts.push_back({text, place});
        }
    }

    /// Adds a part of two dimensions that the page writes up to `end`.
    bool addPart(EquationPart part, qsizetype end)
    {
        part.source = between(m_at, end);
        m_missing += static_cast<double>(part.source.size()) - m_widthOf(part);
        m_parts.push_back(std::move(part));
        m_indexEnd = m_at = end;
        return true;
    }

    /// True if the mark at the current place follows what can have an index.
    [[nodiscard]] bool followsBase() const
    {
        const QChar base = at(m_at - 1);
        const auto isName = [&](qsizetype i) { return isPlain(at(i)) || at(i) == QLatin1Char('_'); };
        if (at(m_at) == QLatin1Char('^') && at(m_at + 1) == QLatin1Char('(') && isPlain(base)) {
            return true; // a power of a name
        }
        if (base.isLetter()) {
            return !isName(m_at - 2);
        }
        if (base == QLatin1Char('\'')) {
            return at(m_at - 2).isLetter() && !isName(m_at - 3);
        }
        return !base.isNull() && QStringView(u")]}‖⟩Σ∏Π").contains(base);
    }

    /// Returns the end of the index that begins at `from`, after its mark.
    [[nodiscard]] qsizetype endOfIndex(qsizetype from) const
    {
        qsizetype end = from + (at(from) == QChar(u'−') ? 1 : 0);
        while (isPlain(at(end)) || QStringView(u"¼½¾").contains(at(end)) ||
               (at(end) == QLatin1Char('\'') && end > from)) {
            ++end;
        }
        return end;
    }

    bool readIndex()
    {
        const QChar mark = at(m_at);
        if ((mark != QLatin1Char('_') && mark != QLatin1Char('^')) || (m_indexEnd != m_at && !followsBase())) {
            return false;
        }
        const bool braced = at(m_at + 1) == QLatin1Char('{') || at(m_at + 1) == QLatin1Char('(');
        const qsizetype begin = m_at + (braced ? 2 : 1);
        const qsizetype end = braced ? closeOf(m_line, m_at + 1) : endOfIndex(begin);
        if (end <= begin) {
            return false;
        }
        add(between(begin, end),
            mark == QLatin1Char('_') ? QTextCharFormat::AlignSubScript : QTextCharFormat::AlignSuperScript);
        m_missing += (braced ? 3 : 1) + kNarrower * static_cast<double>(end - begin);
        m_indexEnd = m_at = end + (braced ? 1 : 0);
        return true;
    }

    bool readFraction()
    {
        const QChar before = at(m_at - 1);
        const bool begins = m_at == 0 || before.isSpace() || kOpening.contains(before) || kBetween.contains(before);
        const qsizetype end = begins ? operandEnd(m_line, m_at) : m_at;
        const qsizetype slash = end + (at(end).isSpace() ? 1 : 0);
        const qsizetype from = slash + (at(slash + 1).isSpace() ? 2 : 1);
        const qsizetype last = at(slash) == QLatin1Char('/') ? divisorEnd(m_line, from) : from;
        if (end == m_at || last <= from || isPath(end, from, last)) {
            return false;
        }
        return addPart({.text = {},
                        .shape = Shape::Fraction,
                        .first = withoutBrackets(between(m_at, end)),
                        .second = withoutBrackets(between(from, last))},
                       last);
    }

    /// True if the slash at `slash` is between words, as in "runs/first".
    [[nodiscard]] bool isPath(qsizetype slash, qsizetype from, qsizetype last) const
    {
        const auto isWord = [](const QString& text) {
            return text.size() >= kWord && std::ranges::all_of(text.left(kWord), [](QChar c) { return c.isLetter(); });
        };
        return from == slash + 1 && isWord(between(m_at, slash)) && isWord(between(from, last));
    }

    bool readSum()
    {
        const QChar next = at(m_at + 1);
        if (!kSums.contains(at(m_at)) || (next != QLatin1Char('_') && !next.isSpace())) {
            return false;
        }
        const qsizetype end = sumEnd(m_line, m_at);
        QString lower = end > m_at + 1 ? between(m_at + 2, end) : QString();
        if (lower.startsWith(QLatin1Char('{'))) {
            lower = lower.mid(1, lower.size() - 2);
        }
        QString upper;
        if (const qsizetype dots = lower.indexOf(QChar(u'…')); dots > lower.indexOf('=') && lower.contains('=')) {
            upper = lower.mid(dots + 1);
            lower.truncate(dots);
        }
        return addPart({.text = at(m_at), .shape = Shape::Sum, .first = lower, .second = upper}, end);
    }

    bool readRoot()
    {
        const bool ofBrackets = at(m_at + 1) == QLatin1Char('(');
        const qsizetype end = at(m_at) != QChar(u'√') ? m_at
                              : ofBrackets            ? closeOf(m_line, m_at + 1) + 1
                                                      : operandEnd(m_line, m_at + 1);
        return end > m_at + 1 &&
               addPart({.text = {}, .shape = Shape::Root, .first = withoutBrackets(between(m_at + 1, end))}, end);
    }

    /// Brackets around a fraction alone are left out, unless they are those of a function or a power.
    bool readBrackets()
    {
        const QChar open = at(m_at);
        const qsizetype close = open == QLatin1Char('(') || open == QLatin1Char('[') ? closeOf(m_line, m_at) : -1;
        if (close < 0) {
            return false;
        }
        const QString inner = between(m_at + 1, close);
        const std::vector<EquationPart> parts = equationParts(inner, m_widthOf);
        if (std::ranges::all_of(parts, [](const auto& part) { return part.shape == Shape::Letters; })) {
            return false;
        }
        const QChar before = at(m_at - 1);
        const QChar after = at(close + 1);
        const bool alone = parts.size() == 1 && parts.front().shape == Shape::Fraction && open == QLatin1Char('(') &&
                           !isPlain(before) && m_indexEnd != m_at &&
                           (after.isNull() || QStringView(u" ·)").contains(after));
        return addPart(
            alone ? parts.front()
                  : EquationPart{.text = QString(open) + m_line[close], .shape = Shape::Brackets, .first = inner},
            close + 1);
    }

    void readLetter()
    {
        const QChar c = at(m_at);
        const bool endsClause = at(m_at - 1) == QLatin1Char(','); // what follows is no column
        if (!endsClause && c.isSpace() && at(m_at + 1).isSpace() && at(m_at - 1) != c) {
            const int filled = std::max(qRound(m_missing), 0);
            add(QString(filled, QLatin1Char(' ')), QTextCharFormat::AlignNormal);
            m_missing -= filled;
        }
        add(c, QTextCharFormat::AlignNormal);
        ++m_at;
    }

    const QString& m_line;
    const WidthOfPart& m_widthOf;
    std::vector<EquationPart> m_parts;
    qsizetype m_at = 0;
    qsizetype m_indexEnd = -1; ///< the end of the last index or part, which a further index may follow
    double m_missing = 0;      ///< the columns that the line has become narrower since the last gap
};

} // namespace

std::vector<EquationPart> equationParts(const QString& line, const WidthOfPart& widthOf)
{
    return EquationReader(line, widthOf).read();
}

} // namespace residua::app
