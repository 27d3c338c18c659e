// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "resources/colours.h"
#include "visualizers/plot/plot.h"

#include <cstddef>
#include <vector>

namespace residua::visualizers {

/// The effects of a knock-out with their standard errors over batches: against the size of the weights, or as a bar for
/// each part. GUI thread.
class EffectsPlot final : public Plot {
    Q_OBJECT
public:
    explicit EffectsPlot(QWidget* parent);

    enum class As { AgainstWeights, Parts };
    /// Shows the rows with finite numbers.
    void setRows(const std::vector<engine::KnockoutRow>& rows, As as);
    void setTheme(resources::Theme theme);
    /// Returns the number of points, or of bars.
    [[nodiscard]] std::size_t count() const { return m_rows.size(); }

signals:
    /// Emitted when the pointer moves to another part, with its place among the rows, or −1.
    void pointed(int row);

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitAxes();
    void fitLabel();
    void labelParts();
    void point(int at);
    /// Returns the index among the drawn rows that the pointer is over; −1: none.
    [[nodiscard]] int partAt(QPointF position) const;

    struct Drawn {
        int row = 0; ///< its place among the rows that were set
        QString name;
        double x = 0;
        double rise = 0;
        double error = 0; ///< NaN if unknown
    };
    std::vector<Drawn> m_rows;
    As m_as = As::AgainstWeights;
    QCPGraph* m_points;
    QCPBars* m_bars;
    QCPErrorBars* m_errors;
    QCPItemTracer* m_mark; ///< at the part under the pointer
    int m_pointed = -1;
};

} // namespace residua::visualizers
