// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/axis.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_style.h"

#include <QString>

#include <optional>
#include <vector>

namespace residua::visualizers {

class CellLabels;

/// A matrix of weights as coloured cells: row = target j, from 1 at the top, column = source i, from 0. Pointer or keys
/// go from cell to cell. GUI thread.
class HeatmapGrid final : public Plot {
    Q_OBJECT
public:
    /// `invitation` stands where there is nothing to show.
    HeatmapGrid(const QString& invitation, QWidget* parent);

    struct Picture {
        int rows = 0;
        int columns = 0;
        std::vector<float> cells;  ///< [rows, columns]; NaN where there is no shortcut
        std::vector<float> shades; ///< what each cell is coloured by, between low and high
        double low = 0;
        double high = 1;
        std::optional<double> centre; ///< of signed values: a diverging map around it instead of low to high
        QString label;                ///< of the colour bar
        bool fromStart = false;       ///< the shades are distances from starts, and the bar's numbers have signs
    };
    void setPicture(const Picture& picture);
    void setNothing();
    void setTheme(resources::Theme theme);
    /// Marks a cell without pointing at it; -1 for none.
    void outline(int row, int column);
    /// Points at the next cell that way which has a shortcut.
    void moveCell(int rows, int columns);

signals:
    /// The pointer or the keys went to another cell: its row and column from 0, or -1.
    void cellPointed(int row, int column);
    /// What the marked cell holds, "2:5 = 0.31"; empty for none.
    void readingChanged(const QString& reading);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitLabel();
    void setColours(const Picture& picture);
    void hover(const QPointF& position);
    void point(int row, int column);
    void setAnyVisible(bool any);
    /// Whether there is such a cell.
    [[nodiscard]] bool holds(int row, int column) const;
    /// What it shows. Precondition: it is there.
    [[nodiscard]] double numberOf(int row, int column) const;

    QLabel* m_invitation;
    QCPColorMap* m_map;
    QCPColorScale* m_scale;
    CellLabels* m_labels;
    QString m_label;              ///< of the colours
    std::vector<float> m_numbers; ///< what the cells show, row by row
    QCPItemRect* m_outline;
    resources::Theme m_theme = resources::Theme::Light;
    bool m_any = false;
    int m_pointedRow = -1;
    int m_pointedColumn = -1;
};

} // namespace residua::visualizers
