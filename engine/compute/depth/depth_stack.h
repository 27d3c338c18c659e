// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ops/mix_kernels.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

struct DepthStackState;

/// Factors of an entry's weights in a mix, one per output, by the entry's index; 1 for entries that are missing.
using EntryFactors = std::map<std::size_t, std::vector<double>>;

/// The outputs of the layers, and the only way to read mixes of them. One per forward pass.
///
/// Entries are stored once and never concatenated. The backward is deferred. A reader's own backward computes the
/// gradients of its weights, leaves its output's gradient g_l in the shared state, and passes nothing on to its
/// sources. After all readers of entry i, autograd runs the entry's own node, which computes dx_i = own + Σ_l w_li·g_l
/// in one pass. Each source gradient is therefore written once, for any number of readers. Correct under gradient
/// accumulation, repeated backward and partial gradients. Second derivatives are not supported and throw.
class DepthStack {
public:
    explicit DepthStack(const Compute& compute);

    /// Appends an entry [..., d], in the compute's residual type; returns its index. All entries have one shape.
    std::size_t push(const at::Tensor& entry);
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    /// Returns the entry for readers other than mixes, so that their gradients are gathered with those of the mixes.
    [[nodiscard]] const at::Tensor& entry(std::size_t index) const { return m_entries[index]; }

    /// Returns out_o = base_o + Σ_s w[o,s]·entry[sources[s]] for each of `outputs` outputs. `base` is empty or has one
    /// tensor per output. `sources` must not be empty. Outputs are in the residual type. The weights' tensors may
    /// require gradients. With `factors`, which need a pass without gradients, w[o,s] is multiplied by that of source s
    /// for output o; a source whose factors are all 0 is left out, as if it were pruned.
    [[nodiscard]] std::vector<at::Tensor> mix(std::span<const std::size_t> sources, const MixWeights& weights,
                                              int outputs, std::span<const at::Tensor> base = {},
                                              const EntryFactors& factors = {});

    /// Returns a stack of its own with the same entries, for a pass without gradients.
    [[nodiscard]] DepthStack copy() const;

    /// Expires when no backward through this stack can follow; for tests that nothing is kept longer.
    [[nodiscard]] std::weak_ptr<const DepthStackState> state() const { return m_state; }

private:
    [[nodiscard]] std::vector<at::Tensor> mixAltered(std::span<const std::size_t> sources, const MixWeights& weights,
                                                     int outputs, std::span<const at::Tensor> base,
                                                     const EntryFactors& factors);

    std::shared_ptr<DepthStackState> m_state;
    std::vector<at::Tensor> m_entries; ///< with their gradient edges; the state holds them without
};

} // namespace residua::engine
