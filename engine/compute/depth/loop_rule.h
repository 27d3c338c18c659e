// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/graph/pass.h"
#include "engine/compute/ops/norm.h"
#include "projects/model/stack.h"

#include <cstddef>
#include <vector>

namespace residua::engine {

/// The parameters of the loops of a stack, and the Visit and Leave steps that use them.
class LoopRule {
public:
    /// Declares the parameters in `plan`.
    LoopRule(const projects::Stack& stack, InitPlan& plan);

    /// Gives the loops that end with the head's norm (LoopNorm::Head) its weights.
    void setHeadNorm(const Norm& norm);

    /// True at the first visit of a loop that starts as noise (LoopStart).
    [[nodiscard]] bool startsAsNoise(const projects::LoopVisit& at) const
    {
        return at.visit == 1 && m_loops[at.loop].loop.start == projects::LoopStart::Noise;
    }
    /// Returns the residual that a visit reads: the noise if the visit starts so, else `h` [batch, ..., d].
    [[nodiscard]] at::Tensor stateBefore(const projects::LoopVisit& at, const at::Tensor& h, const Pass& pass) const;
    /// Returns the residual at the begin of a visit, from the residual `h` and the loop's input `e` [..., d]. With
    /// streams, `h` holds them after the first visit: [..., n·d].
    [[nodiscard]] at::Tensor begin(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& e) const;
    /// Returns the residual at the end of a visit that ran, from the residual `h`, that at the visit's begin, and the
    /// streams that the visit read (undefined without). With streams, returns them.
    [[nodiscard]] at::Tensor end(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& begin,
                                 const at::Tensor& streams) const;
    /// Returns the residual that leaves the loop, from that at the end of the last visit that ran.
    [[nodiscard]] at::Tensor exit(const projects::LoopVisit& at, const at::Tensor& h) const;
    /// Returns the residual after a visit as it would leave the loop if there were no further visits, from that at the
    /// end of the visit: the last visit's is unchanged.
    [[nodiscard]] at::Tensor left(const projects::LoopVisit& at, const at::Tensor& h) const;
    /// True if the visit is the last one of the document.
    [[nodiscard]] bool isLast(const projects::LoopVisit& at) const { return at.visit == m_loops[at.loop].loop.visits; }
    /// Returns the logit w·h + b of the exit gate of a loop for the states `state` [..., d]: [...].
    [[nodiscard]] at::Tensor exitLogit(std::size_t loop, const at::Tensor& state) const;

private:
    struct Parts {
        projects::Loop loop;
        at::Tensor injection; ///< [d, 2d]
        at::Tensor embedding; ///< [visits, d]
        at::Tensor gate;      ///< [visits, d]
        Norm norm;
        at::Tensor weight; ///< of gated streams [visits, 3n, n·d]; bias [visits, 3n] and scale [visits, 3]
        at::Tensor bias;
        at::Tensor scale;
        at::Tensor read; ///< of lanes [visits, n]; mix [visits, n, n] and write [visits, n]
        at::Tensor mix;
        at::Tensor write;
        at::Tensor exitWeight; ///< of the exit gate [1, d]; bias [1]
        at::Tensor exitBias;
    };
    /// Returns the streams [..., n·d] of `x`, which is one state or has them already.
    [[nodiscard]] at::Tensor streamsOf(const Parts& parts, const at::Tensor& x) const;
    /// Returns shares of gated streams for a visit [..., count, n]: those from `first` on of read, write, keep.
    [[nodiscard]] at::Tensor sharesOf(const Parts& parts, std::int64_t visit, const at::Tensor& streams,
                                      std::int64_t first, std::int64_t count) const;
    [[nodiscard]] at::Tensor read(const Parts& parts, std::int64_t visit, const at::Tensor& streams) const;
    [[nodiscard]] at::Tensor written(const Parts& parts, std::int64_t visit, const at::Tensor& streams,
                                     const at::Tensor& output) const;

    Compute m_compute;
    std::int64_t m_width;
    std::vector<Parts> m_loops;
};

} // namespace residua::engine
