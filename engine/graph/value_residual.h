// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Value residual (Zhou et al., 2024): the attentions of layers 2..L use λ₁·V₁ + λ₂·V of their own values V [batch,
/// time, heads, headDim] and the first layer's. One forward pass at a time.
class ValueResidual {
public:
    /// `factors` [L − 1, 2]: λ₁ and λ₂ of layers 2..L.
    explicit ValueResidual(at::Tensor factors) : m_factors(std::move(factors)) {}

    void begin() { m_perLayer = m_factors.unbind(0); }
    /// What the attention of `layer` (from 0) uses in place of its own values. Layers in ascending order.
    [[nodiscard]] at::Tensor use(std::size_t layer, const at::Tensor& own);
    /// Lets go of the pass.
    void end();

private:
    at::Tensor m_factors;
    std::vector<at::Tensor> m_perLayer;
    at::Tensor m_first;
};

/// An operator whose values can meet those of another layer.
class ValueUser {
public:
    virtual ~ValueUser() = default;
    /// Key-value heads and their features, which all layers must share.
    [[nodiscard]] virtual std::string valueShape() const = 0;
    virtual void share(std::shared_ptr<ValueResidual> values, std::size_t layer) = 0;
};

} // namespace residua::engine
