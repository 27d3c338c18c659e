// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <qcustomplot.h>

#include <QColor>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace residua::visualizers {

class Plot;

/// The legend of a plot. It is drawn within the axes if a corner has the room and contains no curve and no text, and
/// otherwise beside the axes, so that it is always visible. It reports the entry under the pointer and clicks. GUI
/// thread.
class PlotLegend final : public QCPLayoutElement {
    Q_OBJECT
public:
    struct Entry {
        QString key = {}; ///< identifies the entry; empty: it cannot be hovered or clicked
        QString text = {};
        QColor colour = {};
        Qt::PenStyle line = Qt::SolidLine;
        QCPScatterStyle::ScatterShape marks = QCPScatterStyle::ssNone;
        bool area = false;
        std::size_t number = 0; ///< of the colour, for the dashes of a solid line (curvePen)
        bool hidden = false;    ///< true if its curves are hidden; it is struck out, and absent from pictures
        bool operator==(const Entry&) const = default;
    };

    /// Whether the legend may be within the axes.
    enum class Room { Anywhere, Beside };

    /// Puts a legend into the plot, which owns it.
    explicit PlotLegend(Plot& plot, Room room = Room::Anywhere);

    void setEntries(std::vector<Entry> entries);
    [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }
    /// Returns the texts as they are drawn, column after column.
    [[nodiscard]] const QStringList& shownTexts() const { return m_form.texts; }
    [[nodiscard]] bool isBeside() const { return m_beside; }
    /// Returns the area of the text with this index, in pixels of the plot.
    [[nodiscard]] QRect cell(int index) const;
    void setTheme(resources::Theme theme) { m_theme = theme; }
    /// If true, hidden entries are omitted, as in a picture of the plot.
    void setForPicture(bool forPicture);
    /// Returns the key of the entry under the pointer, or an empty text.
    [[nodiscard]] const QString& pointed() const { return m_pointed; }

    /// Measures the legend for the plot's size. The plot calls it before each layout.
    void arrange();
    /// Moves a legend that covers something in a plot that is laid out. Returns true if it moved.
    bool settle();

    [[nodiscard]] QSize minimumOuterSizeHint() const override;
    [[nodiscard]] QSize maximumOuterSizeHint() const override;

signals:
    void clicked(const QString& key);
    void pointedChanged();

protected:
    void draw(QCPPainter* painter) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// The layout of the entries: down the first column, then down the next.
    struct Form {
        QStringList texts;
        int rows = 0;
        std::vector<int> columns; ///< their widths in pixels
        [[nodiscard]] int width() const;
    };

    [[nodiscard]] std::vector<Entry> shown() const;
    [[nodiscard]] std::optional<Form> wholeForm(QSize room) const;
    [[nodiscard]] Form shortForm(QSize room) const;
    [[nodiscard]] Form filled(QStringList texts, int rows) const;
    [[nodiscard]] int rowHeight() const;
    [[nodiscard]] const Entry* entryAt(QPointF position) const;
    [[nodiscard]] bool covers(Qt::Alignment corner) const;
    void drawEntry(QCPPainter& painter, const Entry& entry, const QString& text, const QRect& place) const;
    void drawSample(QCPPainter& painter, const Entry& entry, const QRect& place) const;
    void goBeside();
    void goInside();
    void point(const QString& key);
    void explain(const QHelpEvent& event) const;

    Plot& m_plot;
    Room m_room;
    std::vector<Entry> m_entries;
    Form m_form;
    Qt::Alignment m_corner = Qt::AlignTop | Qt::AlignRight;
    bool m_beside = false;
    bool m_changed = true; ///< since it was arranged
    QSize m_arrangedFor;
    bool m_forPicture = false;
    QString m_pointed;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
