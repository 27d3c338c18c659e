// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/measure_queries.h"
#include "engine/base/api/values.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A loss in nats per token, converted to the other measures in papers.
struct LossMeasures {
    double perplexity = 0; ///< e^loss
    /// loss / ln 2 if each token is a byte. For other tokenisers the bytes per token are not known here.
    std::optional<double> bitsPerByte;
};

/// Returns the measures; nullopt for other objectives, and if `loss` is not a number.
[[nodiscard]] std::optional<LossMeasures> measuresOf(const projects::Project& project, double loss);
/// Returns a text such as "perplexity 12.3, 3.62 bits a byte"; empty if there are no measures.
[[nodiscard]] std::string measuresText(const projects::Project& project, double loss);

/// Returns a sentence about made images that were compared with a part of the data (EvaluateRequest::features). It
/// names the network that has the features.
[[nodiscard]] std::string comparisonText(const EvaluationReady& compared, Split split);

/// The first time that a run reached a value.
struct Reached {
    std::int64_t step = 0;
    std::optional<double> seconds; ///< of training time, if it was recorded
    bool operator==(const Reached&) const = default;
};

/// Returns the first point of `points` that is `target` or better, with the last of `seconds` (metric::kSeconds) up to
/// its step. Both must be ascending by step. DeepCrossAttention's table 1 compares such times.
[[nodiscard]] std::optional<Reached> firstReached(const std::vector<MetricPoint>& points, double target,
                                                  const std::vector<MetricPoint>& seconds,
                                                  const projects::Judge& judge = {});

} // namespace residua::engine
