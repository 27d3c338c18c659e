// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/control_rows.h"

#include <QWidget>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr QMargins kMargins(8, 4, 8, 0);
constexpr int kBetween = 8;     ///< controls of a row
constexpr int kBetweenRows = 4; ///< pixels

} // namespace

ControlRows::ControlRows(QWidget* parent) : QLayout(parent)
{
    setContentsMargins(kMargins);
    setSpacing(kBetween);
}

ControlRows::~ControlRows()
{
    qDeleteAll(m_items);
}

void ControlRows::addItem(QLayoutItem* item)
{
    m_items.append(item);
}

void ControlRows::putFirst(QWidget* control)
{
    addWidget(control);
    m_items.prepend(m_items.takeLast());
    invalidate();
}

QLayoutItem* ControlRows::takeAt(int index)
{
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

QSize ControlRows::sizeHint() const
{
    const QMargins margins = contentsMargins();
    QSize row(-spacing(), 0);
    for (const QLayoutItem* item : m_items) {
        if (!item->isEmpty()) {
            row.rwidth() += item->sizeHint().width() + spacing();
            row.setHeight(std::max(row.height(), item->sizeHint().height()));
        }
    }
    return row.expandedTo({0, 0}).grownBy(margins);
}

QSize ControlRows::minimumSize() const
{
    QSize widest(0, 0);
    for (const QLayoutItem* item : m_items) {
        if (!item->isEmpty()) {
            widest = widest.expandedTo(item->minimumSize());
        }
    }
    return widest.grownBy(contentsMargins());
}

/// The controls that are seen, in rows that are no wider than this.
std::vector<ControlRows::Row> ControlRows::rowsFor(int width) const
{
    std::vector<Row> rows;
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) {
            continue;
        }
        const QSize size = item->sizeHint();
        if (rows.empty() || rows.back().width + spacing() + size.width() > width) {
            rows.push_back({{}, -spacing(), 0});
        }
        Row& row = rows.back();
        row.items.append(item);
        row.width += spacing() + size.width();
        row.height = std::max(row.height, size.height());
    }
    return rows;
}

int ControlRows::heightForWidth(int width) const
{
    const QMargins margins = contentsMargins();
    int height = 0;
    for (const Row& row : rowsFor(width - margins.left() - margins.right())) {
        height += row.height + (height > 0 ? kBetweenRows : 0);
    }
    return height > 0 ? margins.top() + height + margins.bottom() : 0;
}

void ControlRows::setGeometry(const QRect& area)
{
    QLayout::setGeometry(area);
    const QRect inside = area.marginsRemoved(contentsMargins());
    int top = inside.top();
    for (const Row& row : rowsFor(inside.width())) {
        int left = inside.left();
        for (QLayoutItem* item : row.items) {
            const int width = std::min(item->sizeHint().width(), inside.width());
            item->setGeometry({left, top, width, row.height});
            left += width + spacing();
        }
        top += row.height + kBetweenRows;
    }
}

} // namespace residua::visualizers
