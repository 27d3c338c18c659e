// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/axis.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_style.h"

#include <QString>
#include <QStringList>
#include <qcustomplot.h>

#include <optional>
#include <utility>
#include <vector>

namespace residua::visualizers {

class CellLabels;

/// A matrix as coloured cells. For weights, rows are targets j, from 1 at the top, and columns are sources i, from 0.
/// For a confusion matrix, rows are the true classes and columns the predicted ones. Pointer and keys move from cell to
/// cell. GUI thread.
class HeatmapGrid final : public Plot {
    Q_OBJECT
public:
    /// `invitation` is shown while there is no matrix.
    HeatmapGrid(const QString& invitation, QWidget* parent);

    struct Picture {
        int rows = 0;
        int columns = 0;
        std::vector<float> cells;  ///< [rows, columns]; NaN where there is no shortcut
        std::vector<float> shades; ///< values for the cells' colours, between low and high
        double low = 0;
        double high = 1;
        std::optional<double> centre; ///< of signed values, which use a diverging map around it
        QString label;                ///< of the colour bar
        bool fromStart = false;       ///< true if shades are distances from initial values; the bar has signs
        QStringList classes = {};     ///< names of both the rows and the columns, which are classes then
    };
    void setPicture(const Picture& picture);
    void setNothing();
    void setTheme(resources::Theme theme);
    /// Marks a cell without hovering it; -1 for none.
    void outline(int row, int column);
    /// Moves to the next cell in this direction that has a shortcut.
    void moveCell(int rows, int columns);

signals:
    /// Emitted when the pointer or the keys move to another cell, with its row and column from 0, or -1.
    void cellPointed(int row, int column);
    /// Emitted with the value of the marked cell, "2:5 = 0.31", or an empty text if no cell is marked.
    void readingChanged(const QString& reading);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitLabel();
    void nameAxes();
    void setColours(const Picture& picture);
    void hover(const QPointF& position);
    void point(int row, int column);
    void setAnyVisible(bool any);
    /// True if the cell exists.
    [[nodiscard]] bool holds(int row, int column) const;
    /// Returns the value of a cell. Precondition: the cell exists.
    [[nodiscard]] double numberOf(int row, int column) const;

    QLabel* m_invitation;
    QCPColorMap* m_map;
    QCPColorScale* m_scale;
    CellLabels* m_labels;
    QString m_label;              ///< of the colour bar
    QStringList m_classes;        ///< Picture::classes
    std::vector<float> m_numbers; ///< the cells' values, row by row
    QCPItemRect* m_outline;
    resources::Theme m_theme = resources::Theme::Light;
    bool m_any = false;
    int m_pointedRow = -1;
    int m_pointedColumn = -1;
};

/// Returns the decimals that distinguish numbers from `low` to `high`: 2, or more if they differ by less.
[[nodiscard]] int decimalsFor(double low, double high);
/// Formats the number with `decimals` decimals; never "-0.00".
[[nodiscard]] QString cellText(double value, int decimals);

/// The numbers of a colour map's cells, drawn in the cells if there is room.
class CellLabels final : public QCPAbstractItem {
public:
    explicit CellLabels(QCPColorMap* map);

    /// Sets the numbers of the map's cells, row by row.
    void setNumbers(std::vector<float> numbers) { m_numbers = std::move(numbers); }

    double selectTest(const QPointF& position, bool onlySelectable, QVariant* details) const override;

protected:
    void draw(QCPPainter* painter) override;

private:
    QCPColorMap* m_map;
    std::vector<float> m_numbers;
};

} // namespace residua::visualizers
