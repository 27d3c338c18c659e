// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/arc_thumbnail.h"

#include "app/look/theme.h"
#include "projects/depth/depth_names.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace residua::app {

namespace {

constexpr double kMargin = 10;
constexpr double kBoxHeight = 16;
constexpr double kLargestBox = 16;

/// Returns the shortcuts drawn as arcs, as on the depth canvas. Empty without a mix, and for a running sum.
std::vector<projects::DrawnShortcut> arcsOf(const projects::Project& project)
{
    const auto* mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
    std::vector<projects::DrawnShortcut> arcs;
    if (mix != nullptr) {
        arcs = drawnShortcuts(*mix, projects::modulesOf(project));
        std::erase_if(arcs, [](const projects::DrawnShortcut& each) {
            return each.kind == projects::ShortcutKind::Stream || each.kind == projects::ShortcutKind::Pruned;
        });
    }
    return arcs;
}

} // namespace

ArcThumbnail::ArcThumbnail(const projects::Project& project, const Look& look, QWidget* parent)
    : QWidget(parent), m_look(look), m_depth(projects::modulesOf(project)), m_arcs(arcsOf(project))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void ArcThumbnail::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = m_look.theme();
    const auto places = static_cast<double>(m_depth + 2); // the stem, the layers, the head
    const double pitch = (width() - 2 * kMargin) / places;
    const double box = std::min(kLargestBox, pitch * 0.62);
    const double top = height() - kMargin - kBoxHeight;
    const auto centre = [&](std::int64_t place) { return kMargin + pitch * (static_cast<double>(place) + 0.5); };

    painter.setPen(QPen(theme.colour(QStringLiteral("borderStrong")), 1.4));
    painter.drawLine(QPointF(centre(0), top + kBoxHeight / 2), QPointF(centre(m_depth + 1), top + kBoxHeight / 2));

    const double span = std::max(1.0, places - 1);
    const double reach = std::min(1.0, 24.0 / static_cast<double>(m_arcs.size() + 1)); // many arcs are drawn fainter
    painter.setBrush(Qt::NoBrush);
    for (const auto& [shortcut, kind] : m_arcs) {
        const double length = static_cast<double>(shortcut.target - shortcut.source);
        QColor colour = kind == projects::ShortcutKind::Fixed
                            ? theme.colour(QStringLiteral("borderStrong"))
                            : toColour(resources::magnitude(0.25 + 0.65 * (1 - length / span), theme.kind()));
        colour.setAlphaF(static_cast<float>(0.35 + 0.5 * reach));
        painter.setPen(QPen(colour, length == 1 ? 1.1 : 1.4));
        const double rise = (top - kMargin) * (0.16 + 0.84 * (length - 1) / std::max(1.0, span - 1)) / 0.75;
        const QPointF from(centre(shortcut.source), top);
        const QPointF to(centre(shortcut.target), top);
        QPainterPath arc(from);
        arc.cubicTo(QPointF(from.x(), top - rise), QPointF(to.x(), top - rise), to);
        painter.drawPath(arc);
    }
    painter.setPen(QPen(theme.colour(QStringLiteral("borderStrong")), 1));
    for (std::int64_t place = 0; place <= m_depth + 1; ++place) {
        const bool end = place == 0 || place == m_depth + 1;
        painter.setBrush(theme.colour(end ? QStringLiteral("hover") : QStringLiteral("selected")));
        painter.drawRoundedRect(QRectF(centre(place) - box / 2, top, box, kBoxHeight), 2.5, 2.5);
    }
}

} // namespace residua::app
