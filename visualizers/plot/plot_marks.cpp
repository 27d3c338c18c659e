// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_marks.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr int kBefore = 4;        ///< pixels between a band's start and its name
constexpr int kAfter = 4;         ///< pixels between a name and the next band
constexpr int kFewestLetters = 4; ///< of a shortened name
constexpr int kNotePadding = 6;   ///< pixels

} // namespace

QString BandMarks::nameAt(double x) const
{
    std::string name;
    for (const resources::PlotBand& band : m_bands) {
        name = band.from <= x ? band.name : name;
    }
    return QString::fromStdString(name);
}

// The items are made anew, because the bands are few and their ends depend on the axis.
void BandMarks::draw(resources::Theme theme)
{
    for (QCPAbstractItem* item : m_items) {
        m_plot.removeItem(item);
    }
    m_items.clear();
    const QCPRange shown = m_plot.xAxis->range();
    for (std::size_t i = 0; i < m_bands.size(); ++i) {
        const double to = i + 1 < m_bands.size() ? m_bands[i + 1].from : std::max(shown.upper, m_bands[i].from);
        if (i % 2 == 1) {
            shade(m_bands[i].from, to, theme);
        }
        // The name of a band that begins before the picture is at the picture's edge.
        write(QString::fromStdString(m_bands[i].name), std::max(m_bands[i].from, shown.lower),
              std::min(to, shown.upper), theme);
    }
}

void BandMarks::shade(double from, double to, resources::Theme theme)
{
    auto* shade = new QCPItemRect(&m_plot);
    shade->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    shade->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
    shade->topLeft->setCoords(from, 0);
    shade->bottomRight->setCoords(to, 1);
    shade->setPen(Qt::NoPen);
    shade->setBrush(toQColor(resources::themeColours(theme).muted, 0.10));
    shade->setLayer(QStringLiteral("background"));
    m_items.push_back(shade);
}

void BandMarks::write(const QString& name, double from, double to, resources::Theme theme)
{
    const double room = m_plot.xAxis->coordToPixel(to) - m_plot.xAxis->coordToPixel(from) - kBefore - kAfter;
    const QString text = m_plot.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room));
    if (from >= to || (text != name && text.size() < kFewestLetters)) {
        return;
    }
    auto* label = new QCPItemText(&m_plot);
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    label->position->setCoords(from, 0);
    label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setPadding(QMargins(kBefore, 2, 0, 0));
    label->setText(text);
    label->setColor(toQColor(resources::themeColours(theme).muted));
    label->setFont(m_plot.font());
    m_items.push_back(label);
}

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
