// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/optimiser.h"
#include "projects/model/stack.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace residua::projects {

/// A parameter of a wiring, with its start.
struct WiringParameter : TrainedParameter {
    /// The start of a vector: one number for all elements, one for each index of the first dimension, or one for each
    /// element. Empty for a matrix, which is drawn with `deviation`, or if that is 0 by the document's law.
    std::vector<double> values = {};
    double deviation = 0;
    std::string follows = {}; ///< the activation that all readers apply to the output of a matrix; empty: none

    [[nodiscard]] double elements() const;
};
using ParameterVisitor = std::function<void(WiringParameter&&)>;

/// Calls `visit` with the parameters of a wiring of `layers` layers, in the order of their declaration. `width` is d. A
/// parameter may come in parts, which are to be concatenated along their first dimension.
void visitParameters(const Wiring& wiring, std::int64_t layers, std::int64_t width, const ParameterVisitor& visit);
/// Visits the parameters of a stack's wiring, without those of its loops. Visits that share the weights of a mix have
/// the rows of sharedTerms().
void visitParameters(const Stack& stack, const ParameterVisitor& visit);
/// Visits the parts of the parameters that a reader of `modules` modules has.
void visitParameters(const DepthMix& mix, const DepthReader& reader, std::int64_t modules, std::int64_t width,
                     const ParameterVisitor& visit);
/// Visits the parameters of the loops of a stack. Their names begin with "topology.loop.1.":
/// - "injection.weight" [d, 2d], "embedding" and "gate" [visits, d], "norm.weight" [d], "exit.weight" [1, d],
/// "exit.bias"
///   [1];
/// - of n lanes: "lanes.read" and "lanes.write" [visits, n], "lanes.mix" [visits, n, n];
/// - of n gated streams, for reads, writes and kept shares in this order: "streams.weight" [visits, 3n, n·d],
///   "streams.bias" [visits, 3n], "streams.scale" [visits, 3].
void visitLoopParameters(const Stack& stack, const ParameterVisitor& visit);
/// Returns the name of a loop's parameter without "topology.". `loop` counts from 0.
[[nodiscard]] std::string loopParameter(std::size_t loop, const std::string& rest);

/// The factors of PostNormScale.
struct PostNormFactors {
    double residual = 1; ///< α
    double start = 1;    ///< β
};
/// Returns the factors of the stack's post-norms; 1 for another wiring.
[[nodiscard]] PostNormFactors postNormFactors(const Stack& stack);

/// Returns the whole parameters of a stack's wiring, then those of its loops.
[[nodiscard]] std::vector<WiringParameter> parametersOf(const Stack& stack);
/// Returns the whole parameters of a stack's wiring alone.
[[nodiscard]] std::vector<WiringParameter> wiringParametersOf(const Stack& stack);
/// Returns the whole parameters of a wiring.
[[nodiscard]] std::vector<WiringParameter> parametersOf(const Wiring& wiring, std::int64_t layers, std::int64_t width);

} // namespace residua::projects
