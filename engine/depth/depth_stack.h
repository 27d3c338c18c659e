// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ops/mix_kernels.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

struct DepthStackState;

/// The stack of what layers have put out, and the one way in which anything reads a mix of it. One per forward pass.
///
/// Entries are stored once and never concatenated. The backward is deferred: a reader's own backward computes the
/// gradients of its weights, leaves its output's gradient g_l in the shared state and passes nothing on to its
/// sources; once all readers of entry i have run, autograd reaches the entry's own node, which forms
/// dx_i = own + Σ_l w_li·g_l in one pass. So each source gradient is written once, however many readers it has.
/// Right under gradient accumulation, repeated backward and partial gradients; a second derivative is refused.
class DepthStack {
public:
    explicit DepthStack(const Compute& compute);

    /// Appends an entry [..., d], in the compute's residual type; returns its index. All entries have one shape.
    std::size_t push(const at::Tensor& entry);
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    /// The entry as anything that reads it besides a mix must take it, so that its gradient is gathered with the
    /// mixes'.
    [[nodiscard]] const at::Tensor& entry(std::size_t index) const { return m_entries[index]; }

    /// out_o = base_o + Σ_s w[o,s]·entry[sources[s]], for each of `outputs` outputs. `base` is empty or has one each.
    /// At least one source. Outputs are in the residual type. The weights' tensors may require gradients.
    [[nodiscard]] std::vector<at::Tensor> mix(std::span<const std::size_t> sources, const MixWeights& weights,
                                              int outputs, std::span<const at::Tensor> base = {});

    /// Lives as long as a backward through this stack may still come; for tests that nothing is kept after it.
    [[nodiscard]] std::weak_ptr<const DepthStackState> state() const { return m_state; }

private:
    std::shared_ptr<DepthStackState> m_state;
    std::vector<at::Tensor> m_entries; ///< with their gradient edges; the state holds them without
};

} // namespace residua::engine
