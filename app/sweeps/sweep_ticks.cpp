// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_ticks.h"

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kTickHeight = 24;  ///< height in pixels
constexpr int kTickMargins = 40; ///< width of a box and its margins
constexpr int kNarrowestTick = 72;

QString tickText(const ValueTick& tick)
{
    return tick.price.isEmpty() ? tick.title : tick.title + QStringLiteral("  ") + tick.price;
}

} // namespace

SweepTicks::SweepTicks(QWidget* parent) : QListWidget(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFlow(QListView::LeftToRight);
    setWrapping(true);
    setResizeMode(QListView::Adjust);
    setSelectionMode(QAbstractItemView::NoSelection);
    setTextElideMode(Qt::ElideMiddle); // the price is at the end
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // the form scrolls as a whole
    connect(this, &QListWidget::itemClicked, this,
            [this](const QListWidgetItem* item) { toggle(row(item), m_pressed); });
}

void SweepTicks::setTicks(std::vector<ValueTick> proposed, const std::vector<projects::SweepValue>& chosen)
{
    setVisible(!proposed.empty());
    for (const projects::SweepValue& value : chosen) {
        const auto same = [&](const ValueTick& tick) { return tick.value.value == value.value; };
        if (const auto known = std::ranges::find_if(proposed, same); known != proposed.end()) {
            known->value = value; // with its label
        } else {
            proposed.push_back({value, QString::fromStdString(labelOf(value)), {}, {}});
        }
    }
    m_ticks = std::move(proposed);
    while (count() > static_cast<int>(m_ticks.size())) {
        delete takeItem(count() - 1);
    }
    int widest = 0;
    for (std::size_t i = 0; i < m_ticks.size(); ++i) {
        QListWidgetItem* shown = item(static_cast<int>(i));
        if (shown == nullptr) {
            shown = new QListWidgetItem(this);
            shown->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable); // toggle() ticks it, wherever it is clicked
        }
        const ValueTick& tick = m_ticks[i];
        shown->setText(tickText(tick));
        shown->setToolTip(tick.toolTip);
        const bool isTicked = std::ranges::find(chosen, tick.value) != chosen.end();
        shown->setCheckState(isTicked ? Qt::Checked : Qt::Unchecked);
        widest = std::max(widest, fontMetrics().horizontalAdvance(shown->text()));
    }
    m_widest = std::max(widest + kTickMargins, kNarrowestTick);
    fitHeight();
}

/// Makes room for every row of values, because the list does not scroll. A wider value would leave the first row empty.
void SweepTicks::fitHeight()
{
    setGridSize({std::min(m_widest, std::max(viewport()->width() - 1, kNarrowestTick)), kTickHeight});
    for (int row = 0; row < count(); ++row) {
        item(row)->setSizeHint(gridSize()); // an item is elided at its own width
    }
    doItemsLayout();
    const int bottom = count() > 0 ? visualItemRect(item(count() - 1)).bottom() + verticalOffset() + 1 : 0;
    setFixedHeight(bottom + 2 * frameWidth());
}

void SweepTicks::resizeEvent(QResizeEvent* event)
{
    QListWidget::resizeEvent(event);
    fitHeight();
}

void SweepTicks::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && currentRow() >= 0) {
        toggle(currentRow(), event->modifiers());
    } else {
        QListWidget::keyPressEvent(event);
    }
}

void SweepTicks::mousePressEvent(QMouseEvent* event)
{
    m_pressed = event->modifiers();
    QListWidget::mousePressEvent(event);
}

void SweepTicks::toggle(int row, Qt::KeyboardModifiers modifiers)
{
    const Qt::CheckState state = item(row)->checkState() == Qt::Checked ? Qt::Unchecked : Qt::Checked;
    const int first = modifiers.testFlag(Qt::ShiftModifier) ? std::min(m_last, row) : row;
    const int last = modifiers.testFlag(Qt::ShiftModifier) ? std::max(m_last, row) : row;
    std::vector<projects::SweepValue> values;
    for (int i = 0; i < count(); ++i) {
        if (i >= first && i <= last) {
            item(i)->setCheckState(state);
        }
        if (item(i)->checkState() == Qt::Checked) {
            values.push_back(m_ticks[static_cast<std::size_t>(i)].value);
        }
    }
    m_last = row;
    emit ticked(values);
}

} // namespace residua::app
