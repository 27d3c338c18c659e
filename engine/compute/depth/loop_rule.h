// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/ops/norm.h"
#include "projects/model/stack.h"

#include <vector>

namespace residua::engine {

/// The parameters of the loops of a stack, and the Visit and Leave steps that use them.
class LoopRule {
public:
    /// Declares the parameters in `plan`.
    LoopRule(const projects::Stack& stack, InitPlan& plan);

    /// Returns the residual at the begin of a visit, from the residual `h` and the loop's input `e` [..., d].
    [[nodiscard]] at::Tensor begin(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& e) const;
    /// Returns the residual at the end of a visit, from the residual `h` and that at the visit's begin. If the pass
    /// makes fewer visits, the last one's is called with `ran` false, for a norm at the loop's exit.
    [[nodiscard]] at::Tensor end(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& begin,
                                 bool ran) const;

private:
    struct Parts {
        projects::Loop loop;
        at::Tensor injection; ///< [d, 2d]
        at::Tensor embedding; ///< [visits, d]
        at::Tensor gate;      ///< [visits, d]
        Norm norm;
    };
    Compute m_compute;
    std::vector<Parts> m_loops;
};

} // namespace residua::engine
