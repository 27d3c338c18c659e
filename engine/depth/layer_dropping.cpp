// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/layer_dropping.h"

#include "projects/schedule/stage_schedule.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <cstddef>
#include <variant>

namespace residua::engine {
namespace {

/// Stochastic depth (Huang et al., 2016): layer l of L stays with probability p_l = 1 − (l/L)·(1 − p_L), drawn for the
/// whole batch; in evaluation its branch is scaled by p_l. The draws come from the host's generator, which each step
/// seeds, so they are the same on every device and after a resume.
class StochasticDepth final : public LayerDropping {
public:
    StochasticDepth(double keepLast, std::int64_t depth)
    {
        for (std::int64_t layer = 1; layer <= depth; ++layer) {
            m_keep.push_back(1 - static_cast<double>(layer) / static_cast<double>(depth) * (1 - keepLast));
        }
    }

    [[nodiscard]] std::vector<LayerUse> draw(const Pass& pass) override
    {
        std::vector<LayerUse> layers;
        if (pass.training()) {
            const at::Tensor draws = at::rand({static_cast<std::int64_t>(m_keep.size())}, at::kDouble);
            const double* draw = draws.const_data_ptr<double>();
            for (const double keep : m_keep) {
                layers.emplace_back().factor = *draw++ < keep ? 1.0 : 0.0;
            }
        } else {
            for (const double keep : m_keep) {
                layers.emplace_back().factor = keep;
            }
        }
        // Where none counts, the last runs all the same: a network of layers alone must have a gradient.
        const bool none = std::ranges::all_of(layers, [](const LayerUse& layer) { return layer.factor == 0; });
        for (LayerUse& layer : layers) {
            layer.runs = layer.factor != 0 || (none && &layer == &layers.back());
        }
        return layers;
    }

private:
    std::vector<double> m_keep;
};

} // namespace

std::unique_ptr<LayerDropping> LayerDropping::create(const projects::Project& project)
{
    const auto* const gate = std::get_if<projects::BranchGate>(&project.topology.wiring);
    if (gate != nullptr && gate->gate == projects::BranchGateKind::StochasticDepth) {
        return std::make_unique<StochasticDepth>(gate->keepProbability, project.network.depth());
    }
    return projects::trainsAll(project.schedule) ? nullptr : makeStageDropping(project);
}

Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step)
{
    Matrix matrix{"active", step, 1, static_cast<std::int64_t>(layers.size()), {}};
    for (const LayerUse& layer : layers) {
        const double inside = std::min(layer.heads.keep, layer.mlp.keep);
        matrix.values.push_back(layer.runs && layer.factor != 0 ? static_cast<float>(inside) : 0.0F);
    }
    return matrix;
}

} // namespace residua::engine
