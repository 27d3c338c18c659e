// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"
#include "projects/depth/weight_scale.h"
#include "resources/axis.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/runs/shown_runs.h"

#include <QString>
#include <QStringList>
#include <qcustomplot.h>

#include <vector>

namespace residua::visualizers {

class CellLabels;

/// The meaning of the rows and columns of a matrix.
enum class HeatmapAxes {
    Shortcuts, ///< targets j from 1 by sources i from 0
    Classes,   ///< true classes by predicted ones; the cells are counts
    Layers,    ///< one row; layers from 1
    Streams,   ///< layers from 1 by streams from 1
    Places,    ///< y by x of a world
    Other,     ///< counted from 1
};
[[nodiscard]] HeatmapAxes axesOf(const engine::MatrixName& name);

/// A matrix as coloured cells, with its first row at the top. Pointer and keys move from cell to cell. GUI thread.
class HeatmapGrid final : public Plot {
    Q_OBJECT
public:
    /// `invitation` is shown while there is no matrix.
    HeatmapGrid(const QString& invitation, QWidget* parent);

    struct Picture {
        int rows = 0;
        int columns = 0;
        std::vector<float> cells; ///< [rows, columns]; NaN where there is no number
        projects::WeightScale scale;
        QString label; ///< of the colour bar
        HeatmapAxes axes = HeatmapAxes::Shortcuts;
        QStringList classes = {}; ///< names of both the rows and the columns, for HeatmapAxes::Classes
        ShownRuns::LayerNames layerNames = {};
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
    void setColours();
    void tellReading();
    [[nodiscard]] QString nameOfCell(int row, int column) const;
    /// Returns the names of the rows or columns; empty if they are numbered.
    [[nodiscard]] QStringList namesOf(Qt::Orientation direction) const;
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
    Picture m_picture; ///< the last one that was set
    QCPItemRect* m_outline;
    int m_markedRow = -1; ///< outlined
    int m_markedColumn = -1;
    resources::Theme m_theme = resources::Theme::Light;
    bool m_any = false;
    int m_pointedRow = -1;
    int m_pointedColumn = -1;
};

/// Formats the number with `decimals` decimals; never "-0.00".
[[nodiscard]] QString cellText(double value, int decimals);

/// The numbers of a colour map's cells, drawn in the cells if there is room. All have the same number of decimals.
class CellLabels final : public QCPAbstractItem {
public:
    explicit CellLabels(QCPColorMap* map);

    /// Sets the numbers of the map's cells, row by row. They are drawn with `decimals` decimals, or with fewer, but at
    /// least `fewest`, if there is no room for these.
    void setNumbers(std::vector<float> numbers, int decimals, int fewest);

    double selectTest(const QPointF& position, bool onlySelectable, QVariant* details) const override;

protected:
    void draw(QCPPainter* painter) override;

private:
    [[nodiscard]] double widthOf(const QFontMetrics& metrics, int decimals) const;

    QCPColorMap* m_map;
    std::vector<float> m_numbers;
    int m_decimals = 2;
    int m_fewest = 2;
    double m_low = 0; ///< of the finite numbers
    double m_high = 0;
};

} // namespace residua::visualizers
