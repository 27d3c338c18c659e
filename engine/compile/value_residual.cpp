// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/value_residual.h"

#include <ATen/TensorOperators.h>

namespace residua::engine {

at::Tensor ValueResidual::use(std::size_t layer, const at::Tensor& own)
{
    if (layer == 0) {
        m_first = own;
        return own;
    }
    const at::Tensor factors = m_perLayer[layer - 1].to(own.scalar_type());
    return factors[0] * m_first + factors[1] * own;
}

void ValueResidual::end()
{
    m_perLayer.clear();
    m_first.reset();
}

} // namespace residua::engine
