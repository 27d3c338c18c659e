// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/layer_magnitudes.h"
#include "engine/api/values.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// How large the layers' values are in the passes that carry it (Panigrahi et al., §5: ‖y^(l)‖). Costs two reductions
/// a layer there. Of several passes the last counts, layer by layer. Engine thread.
class LayerMagnitudes {
public:
    /// Forgets what was seen.
    void clear() { m_layers.clear(); }
    /// Layer `layer` of `layers` read `input` and computed `branch`; both [..., d].
    void saw(std::size_t layer, std::size_t layers, const at::Tensor& input, const at::Tensor& branch);
    /// As kLayerMagnitudes says; none where no pass was seen. Waits for the device.
    [[nodiscard]] std::optional<Matrix> matrix(std::int64_t step) const;

private:
    using Magnitudes = std::array<at::Tensor, kLayerMagnitudeKinds>; ///< float32 scalars; undefined: not seen

    std::vector<Magnitudes> m_layers;
};

} // namespace residua::engine
