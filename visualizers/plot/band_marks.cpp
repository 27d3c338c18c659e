// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/band_marks.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr int kBefore = 4;        ///< pixels between a band's start and its name
constexpr int kAfter = 4;         ///< pixels between a name and the next band
constexpr int kFewestLetters = 4; ///< of a shortened name

} // namespace

QString BandMarks::nameAt(double x) const
{
    QString name;
    for (const Band& band : m_bands) {
        name = band.from <= x ? band.name : name;
    }
    return name;
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
        write(m_bands[i].name, std::max(m_bands[i].from, shown.lower), std::min(to, shown.upper), theme);
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

} // namespace residua::visualizers
