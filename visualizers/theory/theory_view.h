// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <QStringList>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace residua::visualizers {

/// What theorems say of a model, for people.
struct TheoryNumbers {
    struct Row {
        QString name;
        std::vector<double> values; ///< one for each column; NaN: none
    };
    QString about;       ///< the model in one line
    QStringList columns; ///< kinds of network
    std::vector<Row> rows;
    QStringList notes;                        ///< what is not there, and why
    std::vector<std::array<double, 3>> gains; ///< at least, of GRN-v1 to -v3 over a ResNet, at r* = 1, 2, …
    std::int64_t rank = 0;                    ///< r* of the model
};

/// The theorems of DeepCrossAttention §4 on the open project: their numbers for each kind of network, and how much a
/// GRN saves at each collective rank (figure 5, left). GUI thread.
class TheoryView : public PlotView {
    Q_OBJECT
public:
    explicit TheoryView(QWidget* parent = nullptr);
    ~TheoryView() override;

    void setNumbers(const TheoryNumbers& numbers);
    /// Shows no numbers but the reason why there are none.
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
