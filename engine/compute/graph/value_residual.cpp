// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/value_residual.h"

#include <ATen/TensorOperators.h>

namespace residua::engine {

at::Tensor ValueResidual::use(std::size_t layer, const at::Tensor& own)
{
    if (layer == 0) {
        m_first = own;
        return own;
    }
    const at::Tensor factors = m_perLayer[layer - 1].to(own.scalar_type());
    return m_first * factors[0] + own * factors[1];
}

void ValueResidual::end()
{
    m_perLayer.clear();
    m_first.reset();
}

} // namespace residua::engine
