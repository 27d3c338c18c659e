// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_stack.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace residua::engine {

/// A value of a wiring's program in a pass.
struct DepthValue {
    at::Tensor tensor;                ///< undefined if absent
    std::optional<std::size_t> entry; ///< its index in its stack, if it is stored
    std::size_t stack = 0;
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

/// The parts of an unaltered pass through parallel streams that altered passes of the same batch use.
struct KeptStreams {
    bool keepsWeights = false;
    std::set<std::int64_t> borders;                          ///< whose streams are kept
    std::map<std::size_t, MixWeights> weights;               ///< by DepthStep::row
    std::map<std::int64_t, std::vector<at::Tensor>> streams; ///< by border (projects::FilledStreams)
};

/// The values of an unaltered pass of one batch at the borders of its modules, from which altered passes of that batch
/// start. A border that would exceed the limit is not kept, nor are those after it: passes then start earlier. The
/// parts of streams() are kept without a limit.
class StackBorders {
public:
    explicit StackBorders(std::int64_t mostBytes) : m_mostBytes(mostBytes) {}

    /// Removes what was kept, but not which parts of streams() are.
    void clear();
    /// Keeps the state before step `step` of the program; steps ascend.
    void keep(std::size_t step, const DepthState& state);
    /// Returns the last kept step that is not after `step`, or null.
    [[nodiscard]] const std::pair<const std::size_t, DepthState>* before(std::size_t step) const;
    [[nodiscard]] KeptStreams& streams() { return m_streams; }
    [[nodiscard]] const KeptStreams& streams() const { return m_streams; }
    /// Returns the bytes of the kept tensors, each counted once.
    [[nodiscard]] std::int64_t bytes() const { return m_bytes; }

private:
    std::int64_t m_mostBytes;
    std::int64_t m_bytes = 0;
    bool m_full = false;
    std::set<const void*> m_counted;
    std::map<std::size_t, DepthState> m_states; ///< by the step that follows
    KeptStreams m_streams;
};

} // namespace residua::engine
