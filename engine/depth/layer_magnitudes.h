// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/init/named_parameter.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace residua::engine {

/// Collects how large the layers' values are in the passes that carry it (Panigrahi et al., §5: ‖y^(l)‖) and, where
/// that is asked for, the effective rank of what they read. Costs two reductions a layer there; a rank besides a
/// product of as many FLOP as a linear map of the features. Of several passes the last counts, layer by layer. Engine
/// thread.
class LayerMagnitudes {
public:
    enum class Ranks { Left, Taken };
    explicit LayerMagnitudes(Ranks ranks = Ranks::Left) : m_ranks(ranks) {}

    /// Forgets what was seen.
    void clear();
    /// Layer `layer` of `layers` read `input` and computed `branch`; both [..., d].
    void saw(std::size_t layer, std::size_t layers, const at::Tensor& input, const at::Tensor& branch);
    /// The gradients that the parameters have now, those called "layers.<n>.…" by their layer.
    void sawGradients(std::span<const NamedParameter> parameters);
    /// The matrix matrix::kLayerMagnitudes; none where no pass was seen. Waits for the device.
    [[nodiscard]] std::optional<Matrix> matrix(std::int64_t step) const;
    /// That matrix, and matrix::kReadRanks and matrix::kLayerGradients where they were seen. Waits for the device.
    [[nodiscard]] std::vector<Matrix> matrices(std::int64_t step) const;

private:
    using Row = std::vector<at::Tensor>; ///< float32 scalars; undefined: not seen

    [[nodiscard]] static std::optional<Matrix> matrixOf(const char* name, std::int64_t step,
                                                        std::span<const Row* const> rows);

    Ranks m_ranks;
    Row m_inputs;
    Row m_branches;
    Row m_inputRanks;
    Row m_gradients;
};

} // namespace residua::engine
