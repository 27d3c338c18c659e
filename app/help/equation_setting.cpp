// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/equation_setting.h"

#include <QAbstractTextDocumentLayout>
#include <QFont>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QTextDocument>

#include <algorithm>

namespace residua::app {

namespace {

using Shape = EquationPart::Shape;

constexpr int kObject = QTextFormat::UserObject + 1;
constexpr int kPart = QTextFormat::UserProperty + 1;
constexpr double kInFraction = 0.92; ///< size of letters, of the size around them
constexpr double kInIndex = 0.72;
constexpr double kSumSign = 1.4;
constexpr double kGap = 2;     ///< pixels between a bar and what is above and below it
constexpr double kStroke = 1;  ///< pixels
constexpr double kBracket = 5; ///< width in pixels
constexpr double kRoot = 8;

/// The extent of something on a line: its width, and its height above and below the baseline.
struct Extent {
    double width = 0;
    double above = 0;
    double below = 0;
    [[nodiscard]] double height() const { return above + below; }
};

QFont scaled(QFont font, double factor)
{
    font.setPixelSize(std::max(qRound(font.pixelSize() * factor), 8));
    return font;
}

/// Draws at places of the baseline; without a painter, it measures alone.
class PartSetter {
public:
    explicit PartSetter(QPainter* painter = nullptr) : m_painter(painter) {}

    Extent set(const QString& equation, const QFont& font, QPointF at) const
    {
        const double letter = QFontMetricsF(font).horizontalAdvance(QLatin1Char('x'));
        Extent all;
        const auto width = [&](const EquationPart& part) { return EquationSetting::widthOf(part, font) / letter; };
        for (const EquationPart& part : equationParts(equation, width)) {
            const Extent one = set(part, font, at + QPointF(all.width, 0));
            all = {all.width + one.width, std::max(all.above, one.above), std::max(all.below, one.below)};
        }
        return all;
    }

    Extent set(const EquationPart& part, const QFont& font, QPointF at) const
    {
        switch (part.shape) {
        case Shape::Letters:
            return setLetters(part, font, at);
        case Shape::Fraction:
            return setFraction(part, font, at);
        case Shape::Sum:
            return setSum(part, font, at);
        case Shape::Root:
            return setRoot(part, font, at);
        case Shape::Brackets:
            return setBrackets(part, font, at);
        }
        return {};
    }

private:
    [[nodiscard]] static Extent extentOf(const QString& equation, const QFont& font)
    {
        return PartSetter().set(equation, font, {});
    }

    Extent setLetters(const EquationPart& part, const QFont& font, QPointF at) const
    {
        const bool isIndex = part.place != QTextCharFormat::AlignNormal;
        const QFont own = isIndex ? scaled(font, kInIndex) : font;
        const QFontMetricsF metrics(own);
        const double height = QFontMetricsF(font).capHeight();
        const double shift = part.place == QTextCharFormat::AlignSubScript     ? height / 3
                             : part.place == QTextCharFormat::AlignSuperScript ? -height / 2
                                                                               : 0.0;
        if (m_painter != nullptr) {
            m_painter->setFont(own);
            m_painter->drawText(at + QPointF(0, shift), part.text);
        }
        return {metrics.horizontalAdvance(part.text), metrics.capHeight() + kGap - shift,
                metrics.descent() - kStroke + std::max(shift, 0.0)};
    }

    /// The bar is at half the height of a small letter.
    Extent setFraction(const EquationPart& part, const QFont& font, QPointF at) const
    {
        const QFont own = scaled(font, kInFraction);
        const double axis = QFontMetricsF(font).xHeight() / 2;
        const Extent over = extentOf(part.first, own);
        const Extent under = extentOf(part.second, own);
        const double width = std::max(over.width, under.width) + 2 * kGap;
        if (m_painter != nullptr) {
            const double bar = at.y() - axis;
            set(part.first, own, {at.x() + (width - over.width) / 2, bar - kGap - over.below});
            set(part.second, own, {at.x() + (width - under.width) / 2, bar + kGap + under.above});
            m_painter->drawLine(QPointF(at.x() + 1, bar), QPointF(at.x() + width - 1, bar));
        }
        return {width, axis + kGap + over.height(), kGap + under.height() - axis};
    }

    Extent setSum(const EquationPart& part, const QFont& font, QPointF at) const
    {
        const QFont sign = scaled(font, kSumSign);
        const QFont own = scaled(font, kInIndex);
        const QFontMetricsF metrics(sign);
        const double axis = QFontMetricsF(font).capHeight() / 2;
        const double half = metrics.capHeight() / 2;
        const Extent lower = extentOf(part.first, own);
        const Extent upper = extentOf(part.second, own);
        const double signWidth = metrics.horizontalAdvance(part.text);
        const double width = std::max({signWidth, lower.width, upper.width}) + kGap;
        if (m_painter != nullptr) {
            m_painter->setFont(sign);
            m_painter->drawText(QPointF(at.x() + (width - signWidth) / 2, at.y() - axis + half), part.text);
            set(part.first, own, {at.x() + (width - lower.width) / 2, at.y() - axis + half + kGap + lower.above});
            set(part.second, own, {at.x() + (width - upper.width) / 2, at.y() - axis - half - kGap - upper.below});
        }
        return {width, axis + half + (part.second.isEmpty() ? 0 : kGap + upper.height()),
                half - axis + (part.first.isEmpty() ? 0 : kGap + lower.height())};
    }

    Extent setRoot(const EquationPart& part, const QFont& font, QPointF at) const
    {
        const Extent inside = extentOf(part.first, font);
        const double above = inside.above + kGap;
        if (m_painter != nullptr) {
            QPainterPath sign(at + QPointF(0, -above / 3));
            sign.lineTo(at + QPointF(kRoot / 4, -above / 3 - 1));
            sign.lineTo(at + QPointF(kRoot / 2, inside.below));
            sign.lineTo(at + QPointF(kRoot - 1, -above));
            sign.lineTo(at + QPointF(kRoot + inside.width, -above));
            m_painter->drawPath(sign);
            set(part.first, font, at + QPointF(kRoot, 0));
        }
        return {kRoot + inside.width + kGap, above + kStroke, inside.below};
    }

    Extent setBrackets(const EquationPart& part, const QFont& font, QPointF at) const
    {
        const Extent inside = extentOf(part.first, font);
        const double right = kBracket + inside.width;
        if (m_painter != nullptr) {
            const bool round = part.text.startsWith(QLatin1Char('('));
            for (const double side : {0.0, 1.0}) {
                const double inner = at.x() + (side > 0 ? right + 1 : kBracket - 1);
                const double outer = at.x() + (side > 0 ? right + kBracket - 1 : 1);
                const double top = at.y() - inside.above;
                const double bottom = at.y() + inside.below;
                QPainterPath bracket({inner, top});
                if (round) {
                    bracket.quadTo({2 * outer - inner, (top + bottom) / 2}, {inner, bottom});
                } else {
                    bracket.lineTo(outer, top);
                    bracket.lineTo(outer, bottom);
                    bracket.lineTo(inner, bottom);
                }
                m_painter->drawPath(bracket);
            }
            set(part.first, font, at + QPointF(kBracket, 0));
        }
        return {right + kBracket, inside.above, inside.below};
    }

    QPainter* m_painter;
};

EquationPart partOf(const QTextFormat& format)
{
    return format.property(kPart).value<EquationPart>();
}

/// Qt centres a letter with AlignMiddle a quarter of a small letter above the baseline.
double centreOf(const QFont& font)
{
    return QFontMetrics(font).xHeight() / 4.0;
}

} // namespace

EquationSetting::EquationSetting(QTextDocument& document) : QObject(&document)
{
    document.documentLayout()->registerHandler(kObject, this);
}

void EquationSetting::show(QTextCharFormat& format, const EquationPart& part)
{
    format.setObjectType(kObject);
    format.setProperty(kPart, QVariant::fromValue(part));
    format.setVerticalAlignment(QTextCharFormat::AlignMiddle);
}

QString EquationSetting::sourceOf(const QTextCharFormat& format)
{
    return format.objectType() == kObject ? partOf(format).source : QString();
}

double EquationSetting::widthOf(const EquationPart& part, const QFont& font)
{
    return PartSetter().set(part, font, {}).width;
}

void* EquationSetting::qt_metacast(const char* name)
{
    const bool isInterface = qstrcmp(name, qobject_interface_iid<QTextObjectInterface*>()) == 0;
    return isInterface ? static_cast<QTextObjectInterface*>(this) : QObject::qt_metacast(name);
}

QSizeF EquationSetting::intrinsicSize(QTextDocument*, int, const QTextFormat& format)
{
    const QFont font = format.toCharFormat().font();
    const Extent extent = PartSetter().set(partOf(format), font, {});
    const double centre = centreOf(font);
    return {extent.width, 2 * std::max(extent.above - centre, extent.below + centre)};
}

void EquationSetting::drawObject(QPainter* painter, const QRectF& room, QTextDocument*, int, const QTextFormat& format)
{
    const QTextCharFormat letter = format.toCharFormat();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(letter.foreground(), kStroke));
    painter->setBrush(Qt::NoBrush);
    PartSetter(painter).set(partOf(format), letter.font(), {room.left(), room.center().y() + centreOf(letter.font())});
    painter->restore();
}

} // namespace residua::app
