// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <qcustomplot.h>

#include <QColor>
#include <QString>
#include <QStringList>

#include <vector>

namespace residua::visualizers {

/// Values beside the pointer: a title, and a row for each curve with its colour, name and values. It stays within the
/// plot and omits the last rows if there is no room. GUI thread.
class ReadingTable final : public QCPAbstractItem {
    Q_OBJECT
public:
    struct Row {
        QColor colour;
        QString name;
        QStringList values; ///< in the order of the columns; empty: no value in that column
    };

    explicit ReadingTable(QCustomPlot& plot);

    /// `columns` name the values.
    void setRows(const QString& title, const QStringList& columns, std::vector<Row> rows);
    /// Places the table beside the pointer.
    void moveTo(QPointF pointer) { m_pointer = pointer; }
    void setTheme(resources::Theme theme) { m_theme = theme; }

    /// Returns the area in pixels.
    [[nodiscard]] QRectF rect() const;
    /// Returns a line for the title and for each row, as text.
    [[nodiscard]] QString text() const;
    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }

    double selectTest(const QPointF& position, bool onlySelectable, QVariant* details) const override;

protected:
    void draw(QCPPainter* painter) override;

private:
    [[nodiscard]] int lineHeight() const;
    [[nodiscard]] std::size_t fittingRows() const;
    [[nodiscard]] int nameWidth() const;
    [[nodiscard]] int columnWidth(qsizetype column) const;

    QString m_title;
    QStringList m_columns;
    std::vector<Row> m_rows;
    QPointF m_pointer;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
