// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/front_names.h"

#include "visualizers/pareto/pareto_view.h"
#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>

namespace residua::visualizers {

QStringList namesOf(const std::vector<ParetoRun>& runs)
{
    const auto agree = [&](std::string projects::Membership::*part) {
        return std::ranges::all_of(runs, [&](const ParetoRun& run) {
            return run.membership && *run.membership.*part == *runs.front().membership.*part;
        });
    };
    const bool oneProject = agree(&projects::Membership::project);
    const bool oneSweep = agree(&projects::Membership::sweep);
    QStringList names;
    for (const ParetoRun& run : runs) {
        if (!oneProject) {
            names << run.name;
            continue;
        }
        const QString label = QString::fromStdString(run.membership->label());
        const QString sweep = QString::fromStdString(run.membership->sweep);
        names << (oneSweep || sweep.isEmpty() ? label : sweep + QStringLiteral(" · ") + label);
    }
    return names;
}

FrontNames::FrontNames(QCustomPlot& plot) : m_plot(plot)
{
    QObject::connect(&plot, &QCustomPlot::afterLayout, &plot, [this] { spread(); });
}

void FrontNames::setNames(const std::vector<Name>& names, resources::Theme theme)
{
    for (QCPItemText* label : m_labels) {
        m_plot.removeItem(label);
    }
    m_labels.clear();
    for (const Name& name : names) {
        auto* label = new QCPItemText(&m_plot);
        label->position->setCoords(name.at);
        label->setPadding(QMargins(7, 0, 7, 3));
        label->setText(name.text);
        label->setColor(toQColor(resources::themeColours(theme).muted));
        label->setFont(m_plot.font());
        m_labels.push_back(label);
    }
}

/// Omits names without room, because the pointer shows them.
void FrontNames::spread()
{
    const QFontMetrics metrics(m_plot.font());
    std::vector<QRectF> taken;
    for (QCPItemText* label : m_labels) {
        const QPointF at = label->position->pixelPosition();
        const bool right = at.x() > m_plot.axisRect()->center().x();
        label->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
        const QSizeF size = metrics.size(0, label->text()).grownBy(label->padding());
        const QRectF room(QPointF(right ? at.x() - size.width() : at.x(), at.y() - size.height()), size);
        const bool covers = std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(room); });
        label->setVisible(!covers);
        if (!covers) {
            taken.push_back(room);
        }
    }
}

} // namespace residua::visualizers
