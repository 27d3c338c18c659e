// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_note.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

namespace residua::visualizers {
namespace {

constexpr int kNotePadding = 6; ///< pixels

} // namespace

PlotNote::PlotNote(QCustomPlot& plot) : m_plot(plot), m_item(new QCPItemText(&plot))
{
    m_item->setLayer(QStringLiteral("legend")); // above the curves
    m_item->setVisible(false);
    m_item->position->setType(QCPItemPosition::ptAxisRectRatio);
    m_item->position->setCoords(0, 1);
    m_item->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    m_item->setPadding(QMargins(kNotePadding, 2, kNotePadding, 2));
    m_item->setTextAlignment(Qt::AlignLeft);
    QObject::connect(&plot, &QCustomPlot::afterLayout, m_item, [this] { wrap(); });
}

void PlotNote::setText(const QString& text)
{
    m_text = text;
    m_item->setVisible(!text.isEmpty());
    wrap();
}

void PlotNote::setTheme(resources::Theme theme)
{
    const auto& c = resources::themeColours(theme);
    m_item->setColor(toQColor(c.muted));
    m_item->setBrush(toQColor(c.surface, 0.8));
    m_item->setPen(Qt::NoPen);
    m_item->setFont(m_plot.font());
}

/// Breaks lines, because an item of a plot does not.
void PlotNote::wrap()
{
    const int room = m_plot.axisRect()->width() - 2 * kNotePadding;
    const QFontMetrics metrics(m_item->font());
    QString wrapped;
    QString line;
    for (const QString& word : m_text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
        if (!line.isEmpty() && metrics.horizontalAdvance(longer) > room) {
            wrapped += line + QLatin1Char('\n');
            line = word;
        } else {
            line = longer;
        }
    }
    m_item->setText(wrapped + line);
}

} // namespace residua::visualizers
