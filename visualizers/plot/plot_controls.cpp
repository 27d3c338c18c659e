// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_controls.h"

#include "visualizers/plot/arrange.h"

#include <QAbstractItemView>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QVBoxLayout>
#include <QWidget>

#include <algorithm>

namespace residua::visualizers {

namespace {

constexpr int kNarrowestChoice = 100;
constexpr int kNarrowestSlider = 36;
constexpr int kWidestSlider = 120;

} // namespace

PlotChoice::PlotChoice(QWidget* parent) : QComboBox(parent)
{
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(this, &QComboBox::currentTextChanged, this, &QWidget::updateGeometry);
}

/// The box's own hint fits the longest text.
QSize PlotChoice::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    int longest = 0;
    for (int i = 0; i < count(); ++i) {
        longest = std::max(longest, metrics.horizontalAdvance(itemText(i)));
    }
    const QSize whole = QComboBox::sizeHint();
    return {whole.width() - longest + metrics.horizontalAdvance(currentText()), whole.height()};
}

QSize PlotChoice::minimumSizeHint() const
{
    return {std::min(kNarrowestChoice, sizeHint().width()), sizeHint().height()};
}

void PlotChoice::showPopup()
{
    view()->setMinimumWidth(QComboBox::sizeHint().width());
    QComboBox::showPopup();
}

QLabel* inviteOver(QWidget& plot, const QString& text)
{
    auto* label = new QLabel(text, &plot);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    makeColumn(&plot, {QMargins(32, 16, 32, 16), -1}, {label});
    return label;
}

QWidget* captioned(const QString& caption, QWidget& control)
{
    auto* both = new QWidget(control.parentWidget());
    makeRow(both, kNoMargins, {new QLabel(caption, both), &control});
    return both;
}

void giveWay(QSlider& slider)
{
    slider.setMinimumWidth(kNarrowestSlider);
    slider.setMaximumWidth(kWidestSlider);
}

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

TurningSplit::TurningSplit(int low, QWidget* parent) : QSplitter(Qt::Vertical, parent), m_low(low)
{
    setChildrenCollapsible(false);
}

void TurningSplit::setShares(const QList<int>& beside, const QList<int>& below)
{
    m_beside = beside;
    m_below = below;
    share();
}

QSize TurningSplit::minimumSizeHint() const
{
    int height = 0;
    for (int i = 0; i < count(); ++i) {
        const QWidget& part = *widget(i);
        height = std::max({height, part.minimumHeight(), part.minimumSizeHint().height()});
    }
    const QSize hint = QSplitter::minimumSizeHint();
    return {hint.width(), std::min(hint.height(), height)};
}

void TurningSplit::share()
{
    if (!m_below.isEmpty()) { // else it has one part
        setSizes(isBeside() ? m_beside : m_below);
    }
}

void TurningSplit::resizeEvent(QResizeEvent* event)
{
    const Qt::Orientation wanted = height() < m_low ? Qt::Horizontal : Qt::Vertical;
    const bool turns = orientation() != wanted;
    if (turns) {
        setOrientation(wanted);
    }
    QSplitter::resizeEvent(event);
    if (turns) {
        share();
        emit turned();
    }
}

} // namespace residua::visualizers
