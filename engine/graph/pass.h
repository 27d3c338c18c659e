// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/random.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

class LayerMagnitudes;
class WeightInputs;

enum class Mode {
    Evaluation, ///< nothing is drawn: dropout is off, and each layer counts by its expectation
    Training,
};

/// Random numbers of a step by name. A stream depends on the seed, the step and its name alone: on no other stream, on
/// no state and on no device, so that a resumed run and every process of a group draw the same.
class RandomStreams {
public:
    RandomStreams() = default;
    /// The streams of step `step` of a run with the seed `seed`.
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

/// Which of a layer's heads, or of the parts of its MLPs, a pass runs.
struct PartUse {
    projects::DropSampling sampling = projects::DropSampling::Bernoulli;
    double keep = 1;       ///< the probability of each part, or the share of them where their number is fixed
    double before = 1;     ///< where the first ones are kept: the share that was there before the stage
    double opening = 1;    ///< and the factor of those that were not
    std::uint64_t key = 0; ///< of the draw
    [[nodiscard]] bool all() const { return keep >= 1 && (opening == 1 || before >= keep); }
    bool operator==(const PartUse&) const = default;
};
/// The parts that run, of `count`, at least one, ascending, and the factor of each. A function of the arguments alone;
/// `node` tells the nodes of a layer apart.
struct KeptParts {
    std::vector<std::size_t> parts;
    std::vector<double> factors; ///< empty: all 1
};
[[nodiscard]] KeptParts keptParts(const PartUse& use, std::int64_t count, std::uint64_t node);

/// What a pass does with one layer of the stack.
struct LayerUse {
    bool runs = true; ///< false: it costs nothing, and its branch is absent
    /// What its branch is multiplied by. Where 1/p makes up for what is left out, each half of a branch that has two is
    /// multiplied inside it, since the second reads what the first has made (PLD, algorithm 2).
    double factor = 1;
    PartUse heads = {};
    PartUse mlp = {};
    std::int64_t mlpParts = 1; ///< that each of its MLPs is cut into
    bool operator==(const LayerUse&) const = default;
};

/// What one pass through a network is for, and what it is given beside its input. Handed down to every stack and
/// operator, objective and regulariser. A network keeps nothing of it but which layers the last training pass ran,
/// which it shows among its coefficients.
struct Pass {
    Mode mode = Mode::Evaluation;
    std::int64_t step = 0; ///< of the run, from 1; in evaluation the last one that was done; 0 outside of a run
    /// What is done with each layer of the network. Empty: what the document says (LayerDropping), or else all run.
    std::vector<LayerUse> layers;
    RandomStreams random;
    /// What graphs read beside their input and objectives beside the target, by name: a mask, another network's output.
    /// No data source has such a field yet, so nothing but tests gives any.
    std::map<std::string, at::Tensor> inputs;
    /// Told how large the values of each layer are; null: nobody asks. Must outlive the pass.
    LayerMagnitudes* magnitudes = nullptr;

    /// Told what each weight that can be factored reads; null: nobody asks. Must outlive the pass.
    WeightInputs* weightInputs = nullptr;

    [[nodiscard]] bool training() const { return mode == Mode::Training; }
    /// What is done with the layer at `index` (from 0).
    [[nodiscard]] LayerUse layer(std::size_t index) const { return layers.empty() ? LayerUse() : layers.at(index); }
    /// The same without its layers: what is kept of it for a layer's backward.
    [[nodiscard]] Pass withoutLayers() const { return {mode, step, {}, random, inputs, magnitudes, weightInputs}; }
};

/// Evaluation of a network as it is after so many steps of its run.
[[nodiscard]] inline Pass passAfter(std::int64_t steps)
{
    Pass pass;
    pass.step = steps;
    return pass;
}

} // namespace residua::engine
