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

/// How one layer is connected with n streams, as weights of the one mixing path.
struct StreamMixes {
    MixWeights read;  ///< [1, n]: the layer's input from the streams (A_m, H_pre)
    MixWeights write; ///< [n, n + 1]: the streams after it, from those before (A_r, H_res) and the branch (B, H_post)
};

/// The same as numbers that no token changes.
struct StreamNumbers {
    std::vector<float> read;  ///< [n]
    std::vector<float> carry; ///< [in, out]
    std::vector<float> write; ///< [n]
};

/// Where the connections of all layers come from; one subclass per family.
class StreamWeights {
public:
    virtual ~StreamWeights() = default;
    /// Starts a forward pass: computes what is the same for all tokens.
    virtual void begin() = 0;
    /// The mixes of layer `layer` (from 0), whose streams are the first n entries of `stack`.
    [[nodiscard]] virtual StreamMixes of(std::size_t layer, const DepthStack& stack) const = 0;
    /// The numbers of every layer; one copy from the device.
    [[nodiscard]] virtual std::vector<StreamNumbers> numbers() = 0;

    /// Makes the parameters, each of all layers at once: "topology.read" [L, n], "topology.carry" [L, n, n] (indexed
    /// [in, out]), "topology.write" [L, n], and for weights that depend on the token "topology.dynamic" and
    /// "topology.scale", for Hyper-Connections "topology.norm" [L, d] too.
    [[nodiscard]] static std::unique_ptr<StreamWeights> create(const projects::MultiStream& wiring, std::int64_t layers,
                                                               std::int64_t width, InitPlan& plan);
};

} // namespace residua::engine
