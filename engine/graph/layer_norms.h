// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/layer_norms.h"
#include "engine/api/values.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// How large the layers' values are in the passes that are looked at (Panigrahi et al., §5: ‖y^(l)‖). Costs two
/// reductions a layer there and nothing in any other pass. Engine thread.
class LayerNorms {
public:
    /// The number of a further layer.
    [[nodiscard]] std::size_t add();
    /// Whether the passes from now on are looked at. Forgets what was seen.
    void watch(bool on);
    /// A layer read `stream` and computed `branch`; both [..., d]. The last pass counts.
    void saw(std::size_t layer, const at::Tensor& stream, const at::Tensor& branch);
    /// As kLayerNorms says; none where no pass was looked at. Waits for the device.
    [[nodiscard]] std::optional<Matrix> matrix(std::int64_t step) const;

private:
    using Norms = std::array<at::Tensor, kLayerNormKinds>; ///< float32 scalars; undefined: not seen

    std::vector<Norms> m_layers;
    bool m_watches = false;
};

} // namespace residua::engine
