// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/depth/depth_stack.h"
#include "engine/init/init_plan.h"
#include "projects/depth/unrolled_depth.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace residua::engine {

/// The connections of one layer with n streams, as mixing weights. R mixes make the layer's input, and its branch is R
/// entries (R is projects::StreamSizes::reads).
struct StreamMixes {
    MixWeights read;  ///< [R, n]: from the streams to the layer's input (A_m, H_pre)
    MixWeights write; ///< [n, n + R]: from the old streams (A_r, H_res) and the branch (B, H_post) to the new streams
};

/// Computes the connections of all layers; one subclass per family.
class StreamWeights {
public:
    virtual ~StreamWeights() = default;
    /// Starts a forward pass: computes the values that all tokens share.
    virtual void begin() = 0;
    /// Returns the mixes of layer `layer` (from 0), whose streams are the first n entries of `stack`.
    [[nodiscard]] virtual StreamMixes of(std::size_t layer, const DepthStack& stack) const = 0;
    /// Returns the mix [1, n] of the streams after the last layer, the first n entries of `stack`, that is the output.
    [[nodiscard]] virtual MixWeights exit(const DepthStack& stack) const = 0;
    /// Returns the connections without the parts that depend on the token; one copy from the device.
    [[nodiscard]] virtual projects::StreamNumbers numbers() = 0;

    /// Declares the parameters, each for all layers at once, for n streams of w features:
    /// - "topology.read" [L, n], of fractions [L, n, n] (indexed [in, out]), and "topology.write" [L, n]
    /// - "topology.carry" [L, n, n] (indexed [in, out]), of permutations [L, n!], of the identity none
    /// - for weights that depend on the token "topology.dynamic", "topology.scale", and as gain of a norm
    ///   "topology.norm": of free weights [L, w], of fractions with "topology.norm_bias", of permutations [L, n, w]
    /// - for a learned exit "topology.exit" [n, n, d], "topology.exit_bias" [n] and "topology.exit_scale" [1]
    [[nodiscard]] static std::unique_ptr<StreamWeights> create(const projects::MultiStream& wiring, std::int64_t layers,
                                                               std::int64_t width, InitPlan& plan);
};

} // namespace residua::engine
