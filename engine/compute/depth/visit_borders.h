// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_program.h"
#include "projects/model/stack.h"

#include <cstddef>
#include <vector>

namespace residua::engine {

/// Returns the values that a step reads.
[[nodiscard]] std::vector<std::size_t> readBy(const projects::DepthStep& step);

/// The borders of a loop's visits in the program of its stack: before the first visit, then after each one.
struct VisitBorders {
    std::vector<std::size_t> values;  ///< the residual there
    std::vector<std::size_t> steps;   ///< the step that follows; may be the number of steps
    std::vector<std::size_t> modules; ///< the first module of the visit that ends there, from 0
    /// True if later steps read nothing of a visit but the residual at its end, so that each visit is a function of
    /// the residual before it.
    bool areClosed = true;
};

/// Returns the borders of loop `loop`. Precondition: the loop is sound, and the program has one residual.
[[nodiscard]] VisitBorders bordersOf(const projects::DepthProgram& program, const projects::Stack& stack,
                                     std::size_t loop);

} // namespace residua::engine
