// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/graph/pass.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// Which layers the document leaves out of a pass. Engine thread.
class LayerDropping {
public:
    virtual ~LayerDropping() = default;
    /// What the pass does with each layer. Called once for each forward pass, before the first layer.
    [[nodiscard]] virtual std::vector<LayerUse> draw(const Pass& pass) = 0;

    /// Null where the document leaves none out.
    [[nodiscard]] static std::unique_ptr<LayerDropping> create(const projects::Wiring& wiring, std::int64_t depth);
};

/// "active" (values.h, Matrix): 1 for each layer whose branch counts.
[[nodiscard]] Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step);

} // namespace residua::engine
