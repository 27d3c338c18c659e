// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/layer_wiring.h"

#include <ATen/TensorOperators.h>

#include <utility>

namespace residua::engine {
namespace {

/// x + f_1(x) + f_2(x + f_1(x)) + …, the sum kept in the residual's precision. A layer that is left out adds nothing.
class SumWiring final : public LayerWiring {
public:
    SumWiring(LayerStack layers, at::ScalarType type) : m_layers(std::move(layers)), m_type(type) {}

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        at::Tensor sum = input.to(m_type);
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            if (m_layers.runs(layer, pass)) {
                sum = sum + m_layers.runOn(layer, sum, pass);
            }
        }
        return sum;
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t) override { return {}; }

private:
    LayerStack m_layers;
    at::ScalarType m_type;
};

} // namespace

LayerWiringResult makeSumWiring(LayerStack layers, const InitPlan& plan)
{
    return std::unique_ptr<LayerWiring>(std::make_unique<SumWiring>(std::move(layers), plan.compute().residualType));
}

} // namespace residua::engine
