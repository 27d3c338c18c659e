// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_stack.h"
#include "engine/compute/graph/graph_program.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace residua::engine {

/// A value of a wiring's program in a pass.
struct DepthValue {
    at::Tensor tensor;                ///< undefined if absent
    std::optional<std::size_t> entry; ///< its index in its stack, if it is stored
    std::size_t stack = 0;
    at::Tensor branch = {}; ///< is added to `tensor` by the first reader (Residual); undefined if nothing is

    [[nodiscard]] Residual residual() const { return {tensor, branch}; }
};

/// All values between two steps of a pass.
struct DepthState {
    std::vector<DepthValue> values;
    std::optional<DepthStack> stack;
    std::size_t open = 0; ///< the number of the open stack

    /// Returns a state that shares the tensors. For passes without gradients.
    [[nodiscard]] DepthState copy() const
    {
        return {values, stack ? std::optional(stack->copy()) : std::nullopt, open};
    }
};

/// The values of an unaltered pass of one batch at the borders of its modules, from which altered passes of that batch
/// start. A border that would exceed the limit is not kept, nor are those after it: passes then start earlier. Of
/// parallel streams it also keeps what altered passes need, without a limit.
class StackBorders {
public:
    explicit StackBorders(std::int64_t mostBytes) : m_mostBytes(mostBytes) {}

    /// Makes passes keep the weights of all modules of parallel streams and of the exit.
    void wantRouting() { m_wantsRouting = true; }
    [[nodiscard]] bool wantsRouting() const { return m_wantsRouting; }
    /// Makes passes keep the streams at a border (projects::FilledStreams).
    void wantStreams(std::int64_t border) { m_wanted.insert(border); }
    /// Removes the kept values, but not which ones are wanted.
    void clear();

    /// Keeps the state before step `step` of the program; steps ascend.
    void keep(std::size_t step, const DepthState& state);
    /// Keeps the weights of a module's read and write (from 0; the exit is a read).
    void keepRouting(std::size_t module, const MixWeights& read, const MixWeights& write);
    /// Keeps the streams at a border if they are wanted.
    void keepStreams(std::int64_t border, const std::vector<at::Tensor>& streams);

    /// Returns the last kept step that is not after `step`, or null.
    [[nodiscard]] const std::pair<const std::size_t, DepthState>* before(std::size_t step) const;
    /// Returns the kept weights of a module's read and write, or null.
    [[nodiscard]] const std::pair<MixWeights, MixWeights>* keptRouting(std::size_t module) const;
    /// Returns the kept streams at a border, or null.
    [[nodiscard]] const std::vector<at::Tensor>* keptStreams(std::int64_t border) const;
    /// Returns the bytes of the kept tensors, each counted once.
    [[nodiscard]] std::int64_t bytes() const { return m_bytes; }
    /// True if a border was not kept because of the limit.
    [[nodiscard]] bool isFull() const { return m_full; }

private:
    /// Returns the bytes of a tensor that has not been counted, or 0.
    std::int64_t count(const at::Tensor& tensor);

    std::int64_t m_mostBytes;
    bool m_wantsRouting = false;
    std::set<std::int64_t> m_wanted; ///< borders whose streams are kept
    std::int64_t m_bytes = 0;
    bool m_full = false;
    std::set<const void*> m_counted;
    std::map<std::size_t, DepthState> m_states; ///< by the step that follows
    std::map<std::size_t, std::pair<MixWeights, MixWeights>> m_routing;
    std::map<std::int64_t, std::vector<at::Tensor>> m_streams;
};

} // namespace residua::engine
