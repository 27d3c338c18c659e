// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/cost_view.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QGridLayout>
#include <QStyle>
#include <QVBoxLayout>

#include <array>

namespace residua::app {

namespace {

enum CostColumn { Measure, Selected, Whole };

struct Figure {
    const char* title; ///< %1 is the unit of FLOP figures
    QString (*text)(const projects::Cost&);
};
constexpr std::array<Figure, 7> kFigures{{
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Parameters"),
     [](const projects::Cost& c) { return formatCount(static_cast<double>(c.parameters)); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Forward FLOP / %1"),
     [](const projects::Cost& c) { return formatCount(c.forwardFlops); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Training FLOP / %1"),
     [](const projects::Cost& c) { return formatCount(c.trainFlops); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Activations"),
     [](const projects::Cost& c) { return formatBytes(c.activationBytes); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Weights"),
     [](const projects::Cost& c) { return formatBytes(c.weightBytes); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Optimiser, gradients"),
     [](const projects::Cost& c) { return formatBytes(c.optimiserBytes); }},
    {QT_TRANSLATE_NOOP("residua::app::CostView", "Loss, at its peak"),
     [](const projects::Cost& c) { return formatBytes(c.lossBytes); }},
}};

} // namespace

CostView::CostView(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(m_table))
{
    auto* heading = new QLabel(tr("Cost"), this);
    heading->setProperty("role", QStringLiteral("group"));
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(14);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnStretch(Measure, 1);
    visualizers::makeRemark(*m_memory);
    visualizers::makeColumn(this, {QMargins(), 6}, {heading, m_table, m_memory});
    for (int line = 0; line <= static_cast<int>(kFigures.size()); ++line) {
        for (const int column : {Measure, Selected, Whole}) {
            auto* label = new QLabel(m_table);
            label->setAlignment((column == Measure ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            if (line > 0 && column != Measure) {
                label->setFont(numberFont());
            } else {
                label->setProperty("role", QStringLiteral("muted"));
            }
            m_grid->addWidget(label, line, column);
        }
    }
    cell(0, Selected).setText(tr("selection"));
    cell(0, Whole).setText(tr("whole"));
    m_table->hide();
}

QLabel& CostView::cell(int line, int column)
{
    return *static_cast<QLabel*>(m_grid->itemAtPosition(line, column)->widget());
}

void CostView::setCost(const std::optional<projects::Cost>& whole, const std::optional<projects::Cost>& selected,
                       const QString& unit)
{
    if (m_whole && whole == m_whole && selected == m_selected && unit == m_unit) {
        return;
    }
    m_whole = whole;
    m_selected = selected;
    m_unit = unit;
    fill();
}

void CostView::setDevice(const Device& device)
{
    m_device = device;
    fill();
}

void CostView::fill()
{
    m_table->setVisible(m_whole.has_value());
    if (!m_whole) {
        m_memory->setText(tr("Not known while the shapes do not fit: see the problems."));
        return;
    }
    for (int line = 0; line <= static_cast<int>(kFigures.size()); ++line) {
        cell(line, Selected).setVisible(m_selected.has_value());
        if (line == 0) {
            continue;
        }
        const Figure& figure = kFigures[static_cast<std::size_t>(line) - 1];
        const QString title = tr(figure.title);
        cell(line, Measure).setText(title.contains(QLatin1String("%1")) ? title.arg(m_unit) : title);
        cell(line, Selected).setText(m_selected ? figure.text(*m_selected) : QString());
        cell(line, Whole).setText(figure.text(*m_whole));
    }
    const double needed = m_whole->memoryBytes();
    m_memory->setText(
        m_device.bytes > 0
            ? tr("About %1 of the device's %2 of memory.").arg(formatBytes(needed), formatBytes(m_device.bytes))
            : tr("About %1 of memory.").arg(formatBytes(needed)));
    const bool tooMuch = m_device.bytes > 0 && needed > m_device.bytes;
    m_memory->setProperty("role", tooMuch ? QStringLiteral("error") : QStringLiteral("muted"));
    m_memory->style()->polish(m_memory);
}

} // namespace residua::app
