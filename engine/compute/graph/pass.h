// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ops/operators.h"
#include "projects/base/random.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/alteration.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

class LayerMagnitudes;
class RowLayout;
class StackBorders;
class WeightInputs;

enum class Mode {
    Evaluation, ///< draws nothing: dropout is off, and each layer is weighted by its expectation
    Training,
};

/// The random numbers of a step, by name. A stream depends only on the seed, the step and its name, so a resumed run
/// and every process of a group draw the same.
class RandomStreams {
public:
    RandomStreams() = default;
    /// Creates the streams of step `step` in a run with the seed `seed`.
    RandomStreams(std::int64_t seed, std::int64_t step);

    [[nodiscard]] Philox stream(std::string_view name) const
    {
        return Philox(streamKey(static_cast<std::int64_t>(m_key), name));
    }
    /// Returns the step's key for the draws of dropout, by example or by LibTorch's generators.
    [[nodiscard]] std::uint64_t key() const { return m_key; }

private:
    std::uint64_t m_key = 0;
};

/// Selects which of a layer's heads or MLP parts a pass runs.
struct PartUse {
    projects::DropSampling sampling = projects::DropSampling::Bernoulli;
    double keep = 1;       ///< the probability of each part, or the fraction of them if their number is fixed
    double before = 1;     ///< if the first parts are kept: the fraction that existed before the stage
    double opening = 1;    ///< the factor of the parts that are new in the stage
    std::uint64_t key = 0; ///< of the draw
    [[nodiscard]] bool all() const { return keep >= 1 && (opening == 1 || before >= keep); }
    bool operator==(const PartUse&) const = default;
};
/// Returns the parts of `count` that run, at least one, ascending, with the factor of each. A function of its
/// arguments; `node` distinguishes the nodes of a layer.
struct KeptParts {
    std::vector<std::size_t> parts;
    std::vector<double> factors; ///< empty: all 1
};
[[nodiscard]] KeptParts keptParts(const PartUse& use, std::int64_t count, std::uint64_t node);

/// The use of one layer of the stack in a pass.
struct LayerUse {
    bool runs = true;      ///< false: the layer costs nothing, and its branch is absent
    bool attention = true; ///< false: this half of the branch is absent, or zero if no shortcut ends between the halves
    bool feedForward = true;
    /// The factor of its branch. If 1/p compensates for layers left out and a branch has two halves, each half is
    /// multiplied inside it, because the second reads the output of the first (PLD, algorithm 2).
    double factor = 1;
    PartUse heads = {};
    PartUse mlp = {};
    std::int64_t mlpParts = 1; ///< the number of parts of each MLP
    bool gradient = true;      ///< false: nothing in the layer, and nothing that it is added to, has a gradient
    std::size_t index = 0;     ///< the layer with its weights of the wiring, from 0; set where the layer runs
    std::int64_t visit = 1;    ///< of its loop; set where the layer runs
    bool operator==(const LayerUse&) const = default;
};

/// True if one of the executed layers `numbers`, from 1, runs.
[[nodiscard]] inline bool anyRuns(const std::vector<std::int64_t>& numbers, const std::vector<LayerUse>& layers)
{
    return std::ranges::any_of(numbers,
                               [&](std::int64_t n) { return layers.at(static_cast<std::size_t>(n - 1)).runs; });
}

/// Returns the stream of a node's draws at a visit. Visits of one layer draw different numbers.
[[nodiscard]] inline std::uint64_t streamOfVisit(std::uint64_t stream, const LayerUse& layer)
{
    return layer.visit == 1 ? stream
                            : streamKey(static_cast<std::int64_t>(stream), "visit " + std::to_string(layer.visit));
}

/// Sees a loop of the first tower in a pass. Its stack has one residual (projects::hasOneResidual).
struct VisitProbe {
    std::size_t loop = 0; ///< index in Stack::loops, of a sound loop
    /// Called with 0 and the state that the first visit reads, then after each visit that runs with its number and its
    /// state. A state is [..., d], or [..., n·d] after a visit of a loop with streams. The pass continues with the
    /// returned state, which may differ if `isClosed`.
    std::function<at::Tensor(std::int64_t visit, const at::Tensor& state)> state;
    /// If not empty, called with the number of each executed layer, from 1, and its branch, or each half of it.
    std::function<void(std::int64_t number, const at::Tensor& branch)> branch = {};
    /// Set by the pass: true if each visit is a function of the state before it and of values before the loop.
    bool isClosed = false;
};

/// The purpose and the settings of one pass through a network, passed to every stack, operator, objective and
/// regulariser. A network keeps nothing of a pass, except the buffers of nodes and which layers the last training pass
/// ran, for its coefficients.
struct Pass {
    Mode mode = Mode::Evaluation;
    std::int64_t step = 0; ///< of the run, from 1; in evaluation the last completed step; 0 outside a run
    /// The use of each layer. If empty, the document's schedule decides (LayerDropping), or else all layers run.
    std::vector<LayerUse> layers;
    RandomStreams random;
    /// Selects the elements that dropout leaves out, by example (ops/operators.h). Undefined: LibTorch's generator
    /// does, as in runs of ReadingVersion::First.
    at::Tensor draws;
    /// Further inputs of graphs and objectives, by name: the batch's conditions and masks, another network's output.
    std::map<std::string, at::Tensor> inputs;
    /// The documents and prefixes in the batch's rows; null if rows have neither.
    std::shared_ptr<RowLayout> rows;
    /// Collects the magnitudes of the layers' values unless it is null. Must outlive the pass.
    LayerMagnitudes* magnitudes = nullptr;

    /// Changes the network in this pass, for evaluation; may be null.
    std::shared_ptr<const projects::Alteration> alteration = nullptr;
    /// If not null, a pass without alteration keeps its values there, and an altered pass of the same batch starts from
    /// them at the first step that it changes. Must outlive the pass.
    StackBorders* borders = nullptr;

    /// The gradient with which the backward begins, if it is known.
    LossGradient lossGradient = {};

    /// Collects the inputs of each weight that can be factored unless it is null. Must outlive the pass.
    WeightInputs* weightInputs = nullptr;

    /// q: in an evaluation, the output for a token is that after the first visit v of the loop with an exit gate at
    /// which Σ_{u≤v} p_u ≥ q (projects::LossKind::ExpectedExit). 0: that of the last visit.
    double exitAt = 0;

    /// True if the pass leaves the buffers of nodes as they are, because another one of the same batch changes them.
    bool holdsBuffers = false;

    /// The processes that share the micro-batch of a training step; null: this one has all of it. Must outlive the
    /// pass.
    const BatchParts* parts = nullptr;

    /// Sees the visits of a loop unless it is null. Must outlive the pass.
    VisitProbe* visits = nullptr;

    [[nodiscard]] bool training() const { return mode == Mode::Training; }
    /// Returns the use of the layer at `index` (from 0).
    [[nodiscard]] LayerUse layer(std::size_t index) const { return layers.empty() ? LayerUse() : layers.at(index); }
    /// Returns a copy without `layers`, which is what the backward of a layer keeps.
    [[nodiscard]] Pass withoutLayers() const
    {
        return {mode,    step,    {},           random,       draws, inputs,       rows,  magnitudes,
                nullptr, nullptr, lossGradient, weightInputs, 0,     holdsBuffers, parts, nullptr};
    }
};

/// Returns an evaluation pass after so many steps of the run.
[[nodiscard]] inline Pass passAfter(std::int64_t steps)
{
    Pass pass;
    pass.step = steps;
    return pass;
}

/// A term added to the objective in training: a scalar on the device, computed from the parameters, the pass and the
/// pass's results. Includes its factor.
struct Regulariser {
    std::function<at::Tensor(const Pass& pass)> term;
};

} // namespace residua::engine
