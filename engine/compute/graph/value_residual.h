// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Value residual (Zhou et al., 2024): the attentions of layers 2 to L use λ₁·V₁ + λ₂·V, where V [batch, time, heads,
/// headDim] are their own values and V₁ those of the first layer. One forward pass at a time.
class ValueResidual {
public:
    /// `factors` [L − 1, 2]: λ₁ and λ₂ of layers 2 to L.
    explicit ValueResidual(at::Tensor factors) : m_factors(std::move(factors)) {}

    void begin() { m_perLayer = m_factors.unbind(0); }
    /// Returns the values for the attention of `layer` (from 0), given its own. Must be called with ascending layers.
    [[nodiscard]] at::Tensor use(std::size_t layer, const at::Tensor& own);
    /// Frees the tensors of the pass.
    void end();

private:
    at::Tensor m_factors;
    std::vector<at::Tensor> m_perLayer;
    at::Tensor m_first;
};

/// An operator whose values can be combined with those of another layer.
class ValueUser {
public:
    virtual ~ValueUser() = default;
    /// Returns the key-value heads and their features, which must be equal in all layers.
    [[nodiscard]] virtual std::string valueShape() const = 0;
    /// Its executed layer is that of the pass (LayerUse::index).
    virtual void share(std::shared_ptr<ValueResidual> values) = 0;
};

} // namespace residua::engine
