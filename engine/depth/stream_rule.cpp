// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-stream residuals (Hyper-Connections and what follows from them): n residual streams, copies of the input or
// fractions of its features. A layer's read and its new streams are mixes of n and n + R entries on the one mixing
// path, where R is 1 for copies and n for fractions; a stack for each layer, so that nothing outlives its readers but
// for the backward pass.
//
// At the start of Hyper-Connections every stream is the plain network's residual, to the bit, and so is the residual of
// Frac-Connections; under mHC up to rounding.
#include "engine/api/matrix_name.h"
#include "engine/depth/depth_rule.h"
#include "engine/depth/stream_weights.h"

#include <algorithm>

namespace residua::engine {
namespace {

class StreamRule final : public DepthRule {
public:
    StreamRule(const projects::MultiStream& wiring, const LayerStack& layers, std::int64_t width, InitPlan& plan)
        : m_wiring(wiring),
          m_layers(static_cast<std::int64_t>(layers.layers())),
          m_modules(static_cast<std::int64_t>(layers.size())),
          m_weights(StreamWeights::create(wiring, m_modules, width, plan))
    {
    }

    void begin() override { m_weights->begin(); }

    /// The weights of a module's read and write are computed from the streams that it reads.
    [[nodiscard]] std::vector<at::Tensor> mix(const projects::DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) override
    {
        const auto module = static_cast<std::int64_t>(step.row / 2);
        if (module == m_modules) {
            return mixRows(*stack, m_weights->exit(*stack), inputs.entries, step.outputs);
        }
        if (step.row % 2 == 0) {
            m_mixes = m_weights->of(step.row / 2, *stack);
            return mixRows(*stack, m_mixes.read, inputs.entries, step.outputs);
        }
        const MixWeights write = std::exchange(m_mixes, {}).write;
        return mixRows(*stack, write, inputs.entries, step.outputs);
    }

    /// "mix": with what weight each branch reaches each later layer through the streams, as the paper unfolds it
    /// (section 4.5), and the exit; of fractions the mean over them of how a fraction reaches itself. "read", "write":
    /// layers by streams. "carry", of fractions "read" too: of each layer n rows, from stream, by n columns, to stream.
    /// What depends on the token is not in them.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const projects::StreamNumbers all = m_weights->numbers();
        const std::int64_t n = m_wiring.streams;
        const auto matrix = [&](const char* name, const std::vector<double>& values) {
            return Matrix{name, step, static_cast<std::int64_t>(values.size()) / n, n, {values.begin(), values.end()}};
        };
        return {mixMatrix(projects::unrolled(m_wiring, m_layers, all, projects::Granularity::Module), step),
                matrix(matrix::kStreamRead, all.read), matrix(matrix::kStreamCarry, all.carry),
                matrix(matrix::kStreamWrite, all.write)};
    }

private:
    /// Returns one mix for each row of `weights`, computed in groups of the kernels' maximum.
    static std::vector<at::Tensor> mixRows(DepthStack& stack, const MixWeights& weights,
                                           const std::vector<std::size_t>& entries, std::size_t outputs)
    {
        const auto rows = static_cast<std::int64_t>(outputs);
        std::vector<at::Tensor> result;
        for (std::int64_t row = 0; row < rows; row += kernels::kMaxOutputs) {
            const std::int64_t count = std::min<std::int64_t>(rows - row, kernels::kMaxOutputs);
            MixWeights some = weights;
            for (at::Tensor* const tensor : {&some.weights, &some.tokenWeights}) {
                if (tensor->defined()) {
                    *tensor = tensor->narrow(0, row, count);
                }
            }
            std::ranges::move(stack.mix(entries, some, static_cast<int>(count)), std::back_inserter(result));
        }
        return result;
    }

    const projects::MultiStream m_wiring;
    std::int64_t m_layers;
    std::int64_t m_modules;
    std::unique_ptr<StreamWeights> m_weights;
    StreamMixes m_mixes; ///< of the module that runs
};

} // namespace

DepthRuleResult makeRule(const projects::MultiStream& wiring, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    if (wiring.streams < 1) {
        return Error{"topology · streams", "got " + std::to_string(wiring.streams) + ", expected at least 1"};
    }
    if (wiring.constraint != projects::StreamConstraint::None && wiring.streams < 2) {
        return Error{"topology · streams", "got 1, expected at least 2 to mix"};
    }
    if (wiring.state == projects::StreamState::Fractions && width % wiring.streams != 0) {
        return Error{"topology · streams", "got " + std::to_string(wiring.streams) +
                                               ", expected a number of fractions that divides the width, " +
                                               std::to_string(width)};
    }
    return std::unique_ptr<DepthRule>(std::make_unique<StreamRule>(wiring, layers, width, plan));
}

} // namespace residua::engine
