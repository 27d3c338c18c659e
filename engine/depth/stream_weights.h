// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/depth/depth_stack.h"
#include "engine/init/init_plan.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// The connections of one layer with n streams, as weights for DepthStack::mix.
struct StreamMixes {
    MixWeights read;  ///< [1, n]: the layer's input from the streams (A_m, H_pre)
    MixWeights write; ///< [n, n + 1]: the new streams from the old ones (A_r, H_res) and the branch (B, H_post)
};

/// The connections of one layer as numbers, without the parts that depend on the token.
struct StreamNumbers {
    std::vector<float> read;  ///< [n]
    std::vector<float> carry; ///< [in, out]
    std::vector<float> write; ///< [n]
};

/// Computes the connections of all layers; one subclass per family.
class StreamWeights {
public:
    virtual ~StreamWeights() = default;
    /// Starts a forward pass: computes the values that all tokens share.
    virtual void begin() = 0;
    /// Returns the mixes of layer `layer` (from 0), whose streams are the first n entries of `stack`.
    [[nodiscard]] virtual StreamMixes of(std::size_t layer, const DepthStack& stack) const = 0;
    /// Returns the numbers of every layer; one copy from the device.
    [[nodiscard]] virtual std::vector<StreamNumbers> numbers() = 0;

    /// Makes the parameters, each for all layers at once: "topology.read" [L, n], "topology.carry" [L, n, n] (indexed
    /// [in, out]) and "topology.write" [L, n]. Weights that depend on the token add "topology.dynamic" and
    /// "topology.scale", and for Hyper-Connections "topology.norm" [L, d].
    [[nodiscard]] static std::unique_ptr<StreamWeights> create(const projects::MultiStream& wiring, std::int64_t layers,
                                                               std::int64_t width, InitPlan& plan);
};

} // namespace residua::engine
