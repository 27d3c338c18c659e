// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/graph/pass.h"
#include "projects/model/project.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// Which layers, heads and MLP parts the document leaves out of a pass. Engine thread.
class LayerDropping {
public:
    virtual ~LayerDropping() = default;
    /// What the pass does with each layer. Called once for each forward pass, before the first layer.
    [[nodiscard]] virtual std::vector<LayerUse> draw(const Pass& pass) = 0;

    /// Null where the document leaves none out.
    [[nodiscard]] static std::unique_ptr<LayerDropping> create(const projects::Project& project);
};

/// By the schedule of stages. The draw is a function of the pass's random streams and step alone: every micro-batch of
/// a step, a resumed run and every process of a group draw the same. In evaluation the whole network runs; of one that
/// grows, as much as there was after the pass's step.
[[nodiscard]] std::unique_ptr<LayerDropping> makeStageDropping(const projects::Project& project);

/// "active" (values.h, Matrix): for each layer the share of it that counts, 0 where its branch does not.
[[nodiscard]] Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step);

} // namespace residua::engine
