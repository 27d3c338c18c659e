// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/graph/graph_program.h"
#include "engine/graph/parameters.h"
#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// The stack of layers and how depth is wired between them; one subclass per alternative of projects::Wiring.
class Trunk {
public:
    virtual ~Trunk() = default;
    /// The stack's input [..., d] to the final output [..., d].
    [[nodiscard]] virtual at::Tensor run(const at::Tensor& input, Mode mode) = 0;
    /// The topology's term of the loss, of the last run; undefined where it has none.
    [[nodiscard]] virtual at::Tensor regulariser() const = 0;
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t step) = 0;

    /// `layers` are the compiled blocks of layers 1..L, or where projects::splitsLayers the halves of each one after
    /// the other; `width` is d. Adds the topology's parameters.
    [[nodiscard]] static Result<std::unique_ptr<Trunk>> create(const projects::Wiring& wiring,
                                                               std::vector<GraphProgram> layers, std::int64_t width,
                                                               Parameters& parameters);
};

/// A wiring that is no explicit mix, in the algebra's terms: row j − 1 holds the weights with which entries 0..j − 1
/// (the input, the branches) reach reader j. `weights` has a row of j numbers for each reader.
[[nodiscard]] Matrix unfolded(const std::vector<std::vector<float>>& weights, std::int64_t step);

/// The trunk of projects::DepthMix (depth_trunk.cpp).
[[nodiscard]] Result<std::unique_ptr<Trunk>> makeDepthTrunk(const projects::DepthMix& mix,
                                                            std::vector<GraphProgram> layers, std::int64_t width,
                                                            Parameters& parameters);
/// Hyper-Connections and mHC (stream_trunk.cpp).
[[nodiscard]] Result<std::unique_ptr<Trunk>> makeStreamTrunk(const projects::MultiStream& wiring,
                                                             std::vector<GraphProgram> layers, std::int64_t width,
                                                             Parameters& parameters);
/// Gates on the residual or the branch (gate_trunk.cpp).
[[nodiscard]] Result<std::unique_ptr<Trunk>> makeGateTrunk(const projects::BranchGate& wiring,
                                                           std::vector<GraphProgram> layers, std::int64_t width,
                                                           Parameters& parameters);
/// DenseNet (concat_trunk.cpp).
[[nodiscard]] Result<std::unique_ptr<Trunk>> makeConcatTrunk(std::vector<GraphProgram> layers, std::int64_t width,
                                                             Parameters& parameters);

} // namespace residua::engine
