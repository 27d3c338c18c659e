// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <QStringList>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace residua::visualizers {

/// The results of theorems for a model, for people.
struct TheoryNumbers {
    struct Row {
        QString name;
        std::vector<double> values; ///< one per column; NaN: none
    };
    QString about;       ///< the model in one line
    QStringList columns; ///< kinds of network
    std::vector<Row> rows;
    QStringList notes;                        ///< missing results, with the reasons
    std::vector<std::array<double, 3>> gains; ///< lower bounds for GRN-v1 to -v3 over a ResNet, at r* = 1, 2, …
    std::int64_t rank = 0;                    ///< r* of the model
};

/// The theorems of DeepCrossAttention §4 for the open project: the results for each kind of network, and the savings of
/// a GRN at each collective rank (figure 5, left). GUI thread.
class TheoryView : public PlotView {
    Q_OBJECT
public:
    explicit TheoryView(QWidget* parent = nullptr);
    ~TheoryView() override;

    void setNumbers(const TheoryNumbers& numbers);
    /// Shows the reason why there are no results.
    void setReason(const QString& reason);

    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
