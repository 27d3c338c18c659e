// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/reading_table.h"

#include "projects/base/ranges.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/series.h"

#include <algorithm>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kPointerGap = 10; ///< pixels between the pointer and the table
constexpr int kTablePadding = 6;   ///< pixels around the table
constexpr int kColourWidth = 10;   ///< pixels of a row's colour
constexpr int kColourGap = 6;      ///< pixels between the colour and the name
constexpr int kValueGap = 12;      ///< pixels between two columns
constexpr double kMostRows = 24;   ///< maximum number of rows

} // namespace

ReadingTable::ReadingTable(QCustomPlot& plot) : QCPAbstractItem(&plot)
{
    setClipToAxisRect(false);
    setLayer(QStringLiteral("overlay")); // above the curves
    setVisible(false);
}

void ReadingTable::setRows(const QString& title, const QStringList& columns, std::vector<Row> rows)
{
    m_title = title;
    m_columns = columns;
    m_rows = std::move(rows);
}

QString ReadingTable::text() const
{
    QStringList lines{m_title};
    for (const Row& row : m_rows) {
        QStringList words{row.name};
        for (qsizetype i = 0; i < row.values.size(); ++i) {
            if (!row.values[i].isEmpty()) {
                words << m_columns[i] + QLatin1Char(' ') + row.values[i];
            }
        }
        lines << words.join(QStringLiteral("   "));
    }
    return lines.join(QLatin1Char('\n'));
}

int ReadingTable::lineHeight() const
{
    return mParentPlot->fontMetrics().height() + 2;
}

/// The title and the column names come before the rows. If rows are omitted, their number comes after them.
std::size_t ReadingTable::fittingRows() const
{
    const double room = std::min((mParentPlot->height() - 2.0 * kTablePadding) / lineHeight() - 2, kMostRows);
    const auto fits = static_cast<std::size_t>(std::max(room, 1.0));
    return m_rows.size() <= fits ? m_rows.size() : std::max<std::size_t>(fits - 1, 1);
}

int ReadingTable::nameWidth() const
{
    int width = 0;
    for (const Row& row : m_rows) {
        width = std::max(width, mParentPlot->fontMetrics().horizontalAdvance(row.name));
    }
    return std::min(width, mParentPlot->width() / 3);
}

int ReadingTable::columnWidth(qsizetype column) const
{
    int width = mParentPlot->fontMetrics().horizontalAdvance(m_columns[column]);
    for (const Row& row : m_rows) {
        width = std::max(width, mParentPlot->fontMetrics().horizontalAdvance(row.values.value(column)));
    }
    return width;
}

QRectF ReadingTable::rect() const
{
    double width = kColourWidth + kColourGap + nameWidth();
    for (qsizetype column = 0; column < m_columns.size(); ++column) {
        width += kValueGap + columnWidth(column);
    }
    width = std::max<double>(width, mParentPlot->fontMetrics().horizontalAdvance(m_title)) + 2 * kTablePadding;
    const bool leavesOut = fittingRows() < m_rows.size();
    const double lines = 2.0 + static_cast<double>(fittingRows()) + (leavesOut ? 1 : 0);
    const QSizeF size(width, lines * lineHeight() + 2 * kTablePadding);
    const QRectF axes = mParentPlot->axisRect()->rect();
    const bool right = m_pointer.x() > axes.center().x();
    const double beside = right ? m_pointer.x() - kPointerGap - width : m_pointer.x() + kPointerGap;
    const double left = std::max(std::min(beside, axes.right() - width), axes.left());
    const double lowest = std::max(mParentPlot->height() - size.height(), 0.0);
    const double top = std::clamp(m_pointer.y() - size.height() / 2, 0.0, lowest);
    return {QPointF(left, top), size};
}

void ReadingTable::draw(QCPPainter* painter)
{
    const auto& c = resources::themeColours(m_theme);
    const QRectF box = rect();
    auto shownNames = mapped<QStringList>(m_rows, &Row::name);
    shownNames = distinctNames(shownNames, mParentPlot->fontMetrics(), nameWidth());
    painter->setFont(mParentPlot->font());
    painter->setPen(QPen(toQColor(c.border)));
    painter->setBrush(toQColor(c.raised)); // it may be above the legend
    painter->drawRect(box);
    QRectF line(box.left() + kTablePadding, box.top() + kTablePadding, box.width() - 2 * kTablePadding, lineHeight());
    const auto write = [&](double x, double width, const QString& text, Qt::Alignment side, resources::Rgb colour) {
        painter->setPen(QPen(toQColor(colour)));
        painter->drawText(QRectF(x, line.top(), width, line.height()), static_cast<int>(side | Qt::AlignVCenter), text);
    };
    write(line.left(), line.width(), m_title, Qt::AlignLeft, c.text);
    const double names = line.left() + kColourWidth + kColourGap;
    const auto columns = [&](const auto& textOf, resources::Rgb colour) {
        double x = names + nameWidth();
        for (qsizetype column = 0; column < m_columns.size(); ++column) {
            const int width = columnWidth(column);
            write(x + kValueGap, width, textOf(column), Qt::AlignRight, colour);
            x += kValueGap + width;
        }
    };
    line.translate(0, lineHeight());
    columns([this](qsizetype column) { return m_columns[column]; }, c.muted);
    for (std::size_t i = 0; i < fittingRows(); ++i) {
        const Row& row = m_rows[i];
        line.translate(0, lineHeight());
        painter->fillRect(QRectF(line.left(), line.center().y() - 2, kColourWidth, 4), row.colour);
        write(names, nameWidth(), shownNames[static_cast<qsizetype>(i)], Qt::AlignLeft, c.text);
        columns([&row](qsizetype column) { return row.values.value(column); }, c.text);
    }
    if (const auto more = static_cast<int>(m_rows.size() - fittingRows()); more > 0) {
        line.translate(0, lineHeight());
        write(names, line.right() - names, tr("… %n more", nullptr, more), Qt::AlignLeft, c.muted);
    }
}

double ReadingTable::selectTest(const QPointF& /*position*/, bool /*onlySelectable*/, QVariant* /*details*/) const
{
    return -1;
}

} // namespace residua::visualizers
