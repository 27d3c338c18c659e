// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_legend.h"

#include "projects/base/ranges.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/series.h"

#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kClear = 4;          ///< pixels between the legend and things that it must not cover
constexpr double kMostHeight = 0.4;   ///< share of the axes' height that it may take within them
constexpr double kMostWidth = 0.6;    ///< share of their width
constexpr double kMostBeside = 0.4;   ///< share of the plot's width that it may take beside them
constexpr int kNarrowestColumn = 110; ///< pixels, if names have to be shortened
constexpr int kSampleWidth = 30;      ///< pixels of a curve's sample
constexpr int kNameGap = 6;           ///< pixels between the sample and the name
constexpr int kColumnGap = 14;        ///< pixels between two columns
constexpr int kLeading = 4;           ///< pixels between two rows
constexpr int kLegendPadding = 4;     ///< pixels around the entries
constexpr double kSampleLine = 1.5;   ///< pixels
constexpr int kMarkSize = 5;
constexpr double kHiddenOpacity = 0.35;

/// Returns true if the line from `a` to `b`, which is not left of `a`, meets the rectangle.
bool crosses(const QRectF& rect, QPointF a, QPointF b)
{
    const double left = std::max(a.x(), rect.left());
    const double right = std::min(b.x(), rect.right());
    if (left > right) {
        return false;
    }
    const auto at = [&](double x) {
        return b.x() > a.x() ? a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x()) : a.y();
    };
    const auto [top, bottom] = b.x() > a.x() ? std::minmax({at(left), at(right)}) : std::minmax({a.y(), b.y()});
    return top <= rect.bottom() && bottom >= rect.top();
}

template <class Points>
bool anyIn(const QRectF& rect, const QCustomPlot& plot, const Points& points, bool isLine)
{
    QPointF before;
    bool any = false;
    for (auto point = points.constBegin(); point != points.constEnd(); ++point) {
        if (std::isnan(point->value)) {
            any = false;
            continue;
        }
        const QPointF at(plot.xAxis->coordToPixel(point->key), plot.yAxis->coordToPixel(point->value));
        if (crosses(rect, isLine && any ? before : at, at)) {
            return true;
        }
        before = at;
        any = true;
    }
    return false;
}

bool anyCurveIn(const QRectF& rect, QCustomPlot& plot)
{
    for (int i = 0; i < plot.plottableCount(); ++i) {
        const QCPAbstractPlottable* plottable = plot.plottable(i);
        const auto* graph = qobject_cast<const QCPGraph*>(plottable);
        const auto* curve = qobject_cast<const QCPCurve*>(plottable);
        if (plottable->visible() &&
            ((graph && anyIn(rect, plot, *graph->data(), graph->lineStyle() != QCPGraph::lsNone)) ||
             (curve && anyIn(rect, plot, *curve->data(), true)))) {
            return true;
        }
    }
    return false;
}

/// Texts of the overlay layer follow the pointer and are ignored.
bool anyTextIn(const QRectF& rect, QCustomPlot& plot)
{
    for (int i = 0; i < plot.itemCount(); ++i) {
        const auto* text = qobject_cast<const QCPItemText*>(plot.item(i));
        if (text && text->visible() && text->layer()->name() != QLatin1String("overlay") &&
            rect.intersects(QRectF(text->topLeft->pixelPosition(), text->bottomRight->pixelPosition()))) {
            return true;
        }
    }
    return false;
}

} // namespace

PlotLegend::PlotLegend(Plot& plot, Room room) : QCPLayoutElement(&plot), m_plot(plot), m_room(room)
{
    setLayer(QStringLiteral("legend"));
    plot.axisRect()->insetLayout()->addElement(this, m_corner);
    plot.setPlotLegend(this);
    plot.installEventFilter(this);
    plot.setMouseTracking(true);
}

void PlotLegend::setEntries(std::vector<Entry> entries)
{
    if (entries != m_entries) {
        m_entries = std::move(entries);
        m_changed = true;
        const auto isPointed = [this](const Entry& entry) { return entry.key == m_pointed; };
        point(std::ranges::any_of(m_entries, isPointed) ? m_pointed : QString());
    }
}

void PlotLegend::setForPicture(bool forPicture)
{
    m_forPicture = forPicture;
    m_changed = true;
}

int PlotLegend::Form::width() const
{
    int width = 0;
    for (const int column : columns) {
        width += column + kSampleWidth + kNameGap + (width > 0 ? kColumnGap : 0);
    }
    return width;
}

int PlotLegend::rowHeight() const
{
    return m_plot.fontMetrics().height() + kLeading;
}

std::vector<PlotLegend::Entry> PlotLegend::shown() const
{
    std::vector<Entry> shown = m_entries;
    if (m_forPicture) {
        std::erase_if(shown, [](const Entry& entry) { return entry.hidden; });
    }
    return shown;
}

PlotLegend::Form PlotLegend::filled(QStringList texts, int rows) const
{
    Form form{std::move(texts), rows, {}};
    for (qsizetype i = 0; i < form.texts.size(); ++i) {
        if (i % rows == 0) {
            form.columns.push_back(0);
        }
        form.columns.back() = std::max(form.columns.back(), m_plot.fontMetrics().horizontalAdvance(form.texts[i]));
    }
    return form;
}

/// Returns the form in which all names are whole, or nullopt if that does not fit.
std::optional<PlotLegend::Form> PlotLegend::wholeForm(QSize room) const
{
    auto texts = mapped<QStringList>(shown(), &Entry::text);
    const int count = static_cast<int>(texts.size());
    const int most = (room.height() - 2 * kLegendPadding) / rowHeight();
    if (most < 1) {
        return std::nullopt;
    }
    const int columns = (count + most - 1) / most;
    Form form = filled(std::move(texts), columns > 0 ? (count + columns - 1) / columns : 1);
    return form.width() + 2 * kLegendPadding <= room.width() ? std::optional(form) : std::nullopt;
}

/// Returns a form with shortened names. Entries that have no room are counted in the last row.
PlotLegend::Form PlotLegend::shortForm(QSize room) const
{
    const std::vector<Entry> entries = shown();
    const int count = static_cast<int>(entries.size());
    const int rows = std::max((room.height() - 2 * kLegendPadding) / rowHeight(), 1);
    const int columns = std::clamp((count + rows - 1) / rows, 1, std::max(room.width() / kNarrowestColumn, 1));
    const int width =
        (room.width() - 2 * kLegendPadding - (columns - 1) * kColumnGap) / columns - kSampleWidth - kNameGap;
    auto texts = mapped<QStringList>(entries, &Entry::text);
    texts = distinctNames(texts, m_plot.fontMetrics(), width);
    if (count > rows * columns) {
        texts.resize(rows * columns - 1);
        texts << tr("… %n more", nullptr, count - static_cast<int>(texts.size()));
    }
    return filled(std::move(texts), std::min(rows, (static_cast<int>(texts.size()) + columns - 1) / columns));
}

void PlotLegend::arrange()
{
    const QSize size = m_plot.viewport().size();
    if (!m_changed && size == m_arrangedFor) {
        return;
    }
    m_changed = false;
    m_arrangedFor = size;
    const QSize axes = size - kAxesRoom;
    const auto inside = wholeForm({static_cast<int>(axes.width() * kMostWidth), //
                                   static_cast<int>(axes.height() * kMostHeight)});
    if (inside && m_room == Room::Anywhere) {
        m_form = *inside;
        goInside();
    } else {
        goBeside();
    }
    setVisible(!m_form.texts.isEmpty());
}

void PlotLegend::goInside()
{
    if (m_beside) {
        m_beside = false;
        m_plot.plotLayout()->take(this);
        m_plot.plotLayout()->simplify();
        m_plot.axisRect()->insetLayout()->addElement(this, m_corner);
    }
}

void PlotLegend::goBeside()
{
    const QSize room(static_cast<int>(m_arrangedFor.width() * kMostBeside), m_arrangedFor.height());
    m_form = wholeForm(room).value_or(shortForm(room));
    if (!m_beside) {
        m_beside = true;
        m_plot.axisRect()->insetLayout()->take(this);
        m_plot.plotLayout()->addElement(0, 1, this);
    }
}

bool PlotLegend::covers(Qt::Alignment corner) const
{
    const QRectF room = m_plot.axisRect()->insetLayout()->rect();
    QRectF rect(room.topLeft(), minimumOuterSizeHint());
    if (corner & Qt::AlignRight) {
        rect.moveRight(room.right());
    }
    if (corner & Qt::AlignBottom) {
        rect.moveBottom(room.bottom());
    }
    rect.adjust(-kClear, -kClear, kClear, kClear);
    return anyCurveIn(rect, m_plot) || anyTextIn(rect, m_plot);
}

/// A legend beside the axes stays there until it is arranged anew, so that it seldom moves while curves grow.
bool PlotLegend::settle()
{
    if (m_beside || m_form.texts.isEmpty() || !covers(m_corner)) {
        return false;
    }
    for (const Qt::Alignment corner : {Qt::AlignTop | Qt::AlignRight, Qt::AlignBottom | Qt::AlignLeft,
                                       Qt::AlignBottom | Qt::AlignRight, Qt::AlignTop | Qt::AlignLeft}) {
        if (!covers(corner)) {
            m_corner = corner;
            QCPLayoutInset& inset = *m_plot.axisRect()->insetLayout();
            inset.take(this);
            inset.addElement(this, m_corner);
            return true;
        }
    }
    goBeside();
    return true;
}

QSize PlotLegend::minimumOuterSizeHint() const
{
    return m_form.texts.isEmpty()
               ? QSize()
               : QSize(m_form.width() + 2 * kLegendPadding, m_form.rows * rowHeight() + 2 * kLegendPadding);
}

QSize PlotLegend::maximumOuterSizeHint() const
{
    return {minimumOuterSizeHint().width(), QWIDGETSIZE_MAX}; // the axes beside it may have any height
}

QRect PlotLegend::cell(int index) const
{
    const int column = index / m_form.rows;
    QPoint corner = rect().topLeft() + QPoint(kLegendPadding, kLegendPadding + index % m_form.rows * rowHeight());
    for (int before = 0; before < column; ++before) {
        corner.rx() += m_form.columns[static_cast<std::size_t>(before)] + kSampleWidth + kNameGap + kColumnGap;
    }
    return {corner, QSize(kSampleWidth + kNameGap + m_form.columns[static_cast<std::size_t>(column)], rowHeight())};
}

void PlotLegend::draw(QCPPainter* painter)
{
    const auto& c = resources::themeColours(m_theme);
    const std::vector<Entry> entries = shown();
    if (!m_beside) {
        painter->fillRect(rect(), toQColor(c.surface, 0.85));
    }
    painter->setFont(m_plot.font());
    for (int i = 0; i < m_form.texts.size(); ++i) {
        const bool counts = i + 1 == m_form.texts.size() && static_cast<std::size_t>(i) + 1 < entries.size();
        drawEntry(*painter, counts ? Entry{.line = Qt::NoPen} : entries[static_cast<std::size_t>(i)], m_form.texts[i],
                  cell(i));
    }
}

void PlotLegend::drawEntry(QCPPainter& painter, const Entry& entry, const QString& text, const QRect& place) const
{
    const auto& c = resources::themeColours(m_theme);
    painter.setAntialiasing(true);
    painter.setOpacity(entry.hidden ? kHiddenOpacity : 1);
    drawSample(painter, entry, QRect(place.topLeft(), QSize(kSampleWidth, place.height())));
    painter.setOpacity(1);
    QFont font = m_plot.font();
    font.setStrikeOut(entry.hidden);
    painter.setFont(font);
    painter.setPen(QPen(toQColor(entry.hidden ? c.muted : c.text)));
    painter.drawText(place.adjusted(kSampleWidth + kNameGap, 0, kLeading, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
}

void PlotLegend::drawSample(QCPPainter& painter, const Entry& entry, const QRect& place) const
{
    const QPointF middle = QRectF(place).center();
    if (entry.area) {
        const double half = place.height() / 4.0;
        painter.fillRect(QRectF(place).adjusted(0, half, 0, -half), entry.colour);
    }
    if (entry.line != Qt::NoPen) {
        const QPen solid = curvePen(entry.number, resources::Stroke::Solid, entry.colour, kSampleLine);
        painter.setPen(entry.line == Qt::SolidLine ? solid : QPen(entry.colour, kSampleLine, entry.line));
        painter.drawLine(QPointF(place.left(), middle.y()), QPointF(place.right(), middle.y()));
    }
    if (entry.marks != QCPScatterStyle::ssNone) {
        const QCPScatterStyle style(entry.marks, QPen(entry.colour, 1.4), Qt::NoBrush, kMarkSize);
        style.applyTo(&painter, QPen(entry.colour));
        style.drawShape(&painter, middle);
    }
}

const PlotLegend::Entry* PlotLegend::entryAt(QPointF position) const
{
    for (int i = 0; visible() && i < m_form.texts.size() && static_cast<std::size_t>(i) < m_entries.size(); ++i) {
        if (cell(i).contains(position.toPoint())) {
            return &m_entries[static_cast<std::size_t>(i)];
        }
    }
    return nullptr;
}

void PlotLegend::point(const QString& key)
{
    if (m_pointed != key) {
        m_pointed = key;
        m_plot.setCursor(key.isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
        emit pointedChanged();
    }
}

void PlotLegend::explain(const QHelpEvent& event) const
{
    const Entry* entry = entryAt(event.pos());
    QString text = entry ? entry->text : QString();
    if (entry && !entry->key.isEmpty()) {
        text += QLatin1Char('\n') + (entry->hidden ? tr("Click to show") : tr("Click to hide"));
    }
    QToolTip::showText(event.globalPos(), text, &m_plot);
}

bool PlotLegend::eventFilter(QObject* /*watched*/, QEvent* event)
{
    switch (event->type()) {
    case QEvent::MouseMove: {
        const Entry* entry = entryAt(static_cast<QMouseEvent*>(event)->position());
        point(entry ? entry->key : QString());
        return false;
    }
    case QEvent::Leave:
        point({});
        return false;
    case QEvent::ToolTip:
        explain(*static_cast<QHelpEvent*>(event));
        return true;
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const Entry* entry = mouse->button() == Qt::LeftButton ? entryAt(mouse->position()) : nullptr;
        if (entry && !entry->key.isEmpty()) {
            emit clicked(QString(entry->key)); // a copy, because the entries may change meanwhile
        }
        return entry != nullptr;
    }
    default:
        return false;
    }
}

} // namespace residua::visualizers
