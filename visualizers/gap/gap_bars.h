// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "resources/colours.h"
#include "visualizers/gap/gap_model.h"
#include "visualizers/plot/plot.h"

#include <set>
#include <vector>

namespace residua::visualizers {

/// A group of bars for each weight, one for each method. GUI thread.
class GapBars final : public Plot {
    Q_OBJECT
public:
    explicit GapBars(QWidget* parent);

    void setGap(const engine::Gap& gap, const std::vector<std::size_t>& order, GapMeasure measure);
    /// Marks these weights with a background in the accent colour.
    void mark(const std::set<std::size_t>& weights);
    void setTheme(resources::Theme theme);
    [[nodiscard]] bool isEmpty() const { return m_gap.weights.empty(); }
    /// Shows the weights from this place in the order on, if there are too many to show all at once.
    void showFrom(int first);

signals:
    /// Emitted when so many of all weights can be shown at once.
    void roomChanged(int shown, int all);
    void weightClicked(std::size_t weight);

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void draw();
    void drawBars();
    void drawBound();
    void fillLegend();
    void fitHeight();
    void toggle(const QString& key);
    void drawMarks();
    void labelWeights();
    [[nodiscard]] int roomForWeights() const;
    /// Returns the index in the order that the pointer is over; −1: none.
    [[nodiscard]] std::ptrdiff_t placeAt(QPointF position) const;
    [[nodiscard]] QString readingOf(std::size_t weight) const;

    engine::Gap m_gap;
    std::vector<std::size_t> m_order;
    GapMeasure m_measure = GapMeasure::FunctionError;
    int m_room = 0;  ///< roomForWeights() as drawn
    int m_first = 0; ///< place of the first weight that is shown
    std::set<std::size_t> m_marked;
    std::vector<QCPItemRect*> m_marks;
    QCPBarsGroup* m_group;
    std::vector<QCPBars*> m_bars;
    QCPGraph* m_bound;
    std::set<QString> m_hidden; ///< methods, by their titles
    resources::Theme m_theme = resources::Theme::Light;
};

/// Returns the colour of a method, as counted by curveColour(). It is the same in all views.
[[nodiscard]] std::size_t colourOf(projects::LowRankMethod method);

} // namespace residua::visualizers
