// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <QStringList>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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
    QStringList notes;                                ///< missing results, with the reasons
    using Gains = std::vector<std::array<double, 3>>; ///< lower bounds for GRN-v1 to -v3 over a ResNet
    Gains byRank;                                     ///< at r* = 1, 2, …
    Gains byComplexity;                               ///< at equal steps of λ_min/λ_max, from the first to 1
    double rank = 0;                                  ///< r* of the model
    double complexity = 0;                            ///< λ_min/λ_max of the model; 0 if unknown
};

/// The theorems of DeepCrossAttention §4 for the open project, or for a model of the user's numbers: the results for
/// each kind of network, and the savings of a GRN by collective rank or by the target's complexity (figure 5). The
/// owner computes the results. GUI thread.
class TheoryView : public PlotView {
    Q_OBJECT
public:
    /// A model by numbers.
    struct Model {
        std::int64_t dimension = 100;
        std::int64_t rank = 50;
        std::int64_t layers = 10;
        double kappa = 0.5;
        double lambdaMax = 10;
        bool operator==(const Model&) const = default;
    };

    explicit TheoryView(QWidget* parent = nullptr);
    ~TheoryView() override;

    /// The model to compute; nullopt: that of the open project.
    [[nodiscard]] std::optional<Model> asked() const;
    void setNumbers(const TheoryNumbers& numbers);
    /// Shows the reason why there are no results.
    void setReason(const QString& reason);

    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

signals:
    void askedChanged();

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
