// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/cost_view.h"

#include "app/look/format.h"
#include "app/look/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <array>

namespace residua::app {

namespace {

struct CostRow {
    QString title;
    QString (*text)(const projects::Cost&);
};

enum Column { Title, Selected, Whole };

QLabel* numberLabel(const QString& text)
{
    auto* label = new QLabel(text);
    label->setFont(numberFont());
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

QLabel* mutedLabel(const QString& text, Qt::Alignment alignment)
{
    auto* label = new QLabel(text);
    label->setProperty("role", QStringLiteral("muted"));
    label->setAlignment(alignment | Qt::AlignVCenter);
    return label;
}

} // namespace

CostView::CostView(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout), m_memory(new QLabel(this))
{
    auto* heading = new QLabel(tr("Cost"), this);
    heading->setProperty("role", QStringLiteral("group"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(heading);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnStretch(Title, 1);
    layout->addLayout(m_grid);
    m_memory->setProperty("role", QStringLiteral("muted"));
    m_memory->setWordWrap(true);
    layout->addWidget(m_memory);
}

void CostView::setCost(const std::optional<projects::Cost>& whole, const std::optional<projects::Cost>& selected,
                       const QString& unit)
{
    m_whole = whole;
    m_selected = selected;
    m_unit = unit;
    fill();
}

void CostView::setDeviceMemory(double bytes)
{
    m_deviceBytes = bytes;
    fill();
}

void CostView::fill()
{
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (!m_whole) {
        m_memory->setText(tr("Not known while the shapes do not fit: see the problems."));
        return;
    }
    const std::array<CostRow, 6> rows{{
        {tr("Parameters"), [](const projects::Cost& c) { return formatCount(static_cast<double>(c.parameters)); }},
        {tr("Forward FLOP / %1").arg(m_unit), [](const projects::Cost& c) { return formatCount(c.forwardFlops); }},
        {tr("Training FLOP / %1").arg(m_unit), [](const projects::Cost& c) { return formatCount(c.trainFlops); }},
        {tr("Activations"), [](const projects::Cost& c) { return formatBytes(c.activationBytes); }},
        {tr("Weights"), [](const projects::Cost& c) { return formatBytes(c.weightBytes); }},
        {tr("Optimiser, gradients"), [](const projects::Cost& c) { return formatBytes(c.optimiserBytes); }},
    }};
    if (m_selected) {
        m_grid->addWidget(mutedLabel(tr("selection"), Qt::AlignRight), 0, Selected);
    }
    m_grid->addWidget(mutedLabel(tr("whole"), Qt::AlignRight), 0, Whole);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const int line = static_cast<int>(i) + 1;
        m_grid->addWidget(mutedLabel(rows[i].title, Qt::AlignLeft), line, Title);
        if (m_selected) {
            m_grid->addWidget(numberLabel(rows[i].text(*m_selected)), line, Selected);
        }
        m_grid->addWidget(numberLabel(rows[i].text(*m_whole)), line, Whole);
    }
    const double needed = m_whole->activationBytes + m_whole->weightBytes + m_whole->optimiserBytes;
    m_memory->setText(
        m_deviceBytes > 0
            ? tr("About %1 of the device's %2 of memory.").arg(formatBytes(needed), formatBytes(m_deviceBytes))
            : tr("About %1 of memory.").arg(formatBytes(needed)));
}

} // namespace residua::app
