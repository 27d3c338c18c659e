// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// What a run is judged by: its validation loss; where that is NaN, none was taken, and it is the training loss.
[[nodiscard]] double judgedLoss(double training, double validation);

/// A loss in nats per token in the other measures that papers print.
struct LossMeasures {
    double perplexity = 0; ///< e^loss
    /// loss / ln 2, where each token is a byte. Of other tokenisers the bytes of a token are not known here.
    std::optional<double> bitsPerByte;
};
/// Nothing for other objectives, and for what is no loss.
[[nodiscard]] std::optional<LossMeasures> measuresOf(const projects::Project& project, double loss);
/// "perplexity 12.3, 3.62 bits a byte"; empty where there are none.
[[nodiscard]] std::string measuresText(const projects::Project& project, double loss);

/// When a run first had a loss.
struct Reached {
    std::int64_t step = 0;
    std::optional<double> seconds; ///< of training time, where it was recorded
    bool operator==(const Reached&) const = default;
};
/// The first point of `losses` that is at most `target`, and the last of `seconds` (metric::kSeconds) up to its step.
/// Both ascend by step. DeepCrossAttention's table 1 compares such times.
[[nodiscard]] std::optional<Reached> firstReached(const std::vector<MetricPoint>& losses, double target,
                                                  const std::vector<MetricPoint>& seconds);

} // namespace residua::engine
