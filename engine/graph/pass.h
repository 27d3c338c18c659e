// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ops/philox.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

class LayerMagnitudes;

enum class Mode {
    Evaluation, ///< nothing is drawn: dropout is off, and each layer counts by its expectation
    Training,
};

/// Random numbers of a step by name. A stream depends on the seed, the step and its name alone: on no other stream, on
/// no state and on no device, so that a resumed run and every process of a group draw the same.
class RandomStreams {
public:
    RandomStreams() = default;
    /// Of step `step` of a run with the seed `seed`.
    RandomStreams(std::int64_t seed, std::int64_t step);

    [[nodiscard]] Philox stream(std::string_view name) const
    {
        return Philox(streamKey(static_cast<std::int64_t>(m_key), name));
    }
    /// What LibTorch's generators are seeded with for the step: those of dropout.
    [[nodiscard]] std::uint64_t generatorSeed() const { return m_key; }

private:
    std::uint64_t m_key = 0;
};

/// What a pass does with one layer of the stack.
struct LayerUse {
    bool runs = true;  ///< false: it costs nothing, and its branch is absent
    double factor = 1; ///< of its branch
    bool operator==(const LayerUse&) const = default;
};

/// What one pass through a network is for, and what it is given beside its input. Handed down to every stack and
/// operator; a network keeps nothing of it.
struct Pass {
    Mode mode = Mode::Evaluation;
    std::int64_t step = 0; ///< of the run, from 1; 0 outside of a run's training
    /// What is done with each layer of the network. Empty: what the document says (LayerDropping), or else all run.
    std::vector<LayerUse> layers;
    RandomStreams random;
    /// What operators read beside the graph's input, by name: a mask, another network's output.
    std::map<std::string, at::Tensor> inputs;
    /// Told how large the values of each layer are; null: nobody asks. Must outlive the pass.
    LayerMagnitudes* magnitudes = nullptr;

    [[nodiscard]] bool training() const { return mode == Mode::Training; }
    /// Of the layer at `index` (from 0).
    [[nodiscard]] LayerUse layer(std::size_t index) const { return layers.empty() ? LayerUse() : layers.at(index); }
};

} // namespace residua::engine
