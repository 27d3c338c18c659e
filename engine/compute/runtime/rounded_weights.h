// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace residua::engine {

/// The bfloat16 copies of a network's float32 parameters, which its products read. A copy has the layout of the
/// parameter's memory, which several parameters may share, with zeros between them. It exists from its first use on, at
/// one address. It is rounded again before its next use if the version of a parameter has changed, which LibTorch's
/// operators count and other writers report by noteWrite(). A kernel may instead write parameter and copy() together.
/// Engine thread.
class RoundedWeights {
public:
    /// Adds a parameter, whose memory must not be replaced afterwards.
    void add(const at::Tensor& parameter);
    /// Returns the copy of `weight`, with its strides, after rounding changed parameters of its memory. `weight` is a
    /// parameter, or a view of parameters; the copy of other tensors is undefined.
    [[nodiscard]] at::Tensor of(const at::Tensor& weight);
    /// Rounds the copies whose parameters have changed.
    void refresh();
    /// Returns the copy of a parameter as it is; undefined until the first use.
    [[nodiscard]] at::Tensor copy(const at::Tensor& parameter) const;
    /// Gives a parameter the values of its copy, which must exist and was written meanwhile.
    void takeCopy(const at::Tensor& parameter);

private:
    struct Part {
        at::Tensor parameter;
        std::int64_t version = -1; ///< that was rounded; -1: none
    };
    /// The parameters that share one block of memory.
    struct Block {
        std::vector<Part> parts;
        at::Tensor copy; ///< of all elements of the block
        void refresh();
    };

    std::unordered_map<const void*, Block> m_blocks; ///< by the address of the block's description in LibTorch
};

/// Increments the version of a tensor that was written through a pointer.
void noteWrite(const at::Tensor& tensor);

} // namespace residua::engine
