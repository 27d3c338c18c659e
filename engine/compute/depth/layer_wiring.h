// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/depth/layer_stack.h"
#include "engine/compute/depth/loop_rule.h"
#include "engine/compute/graph/pass.h"
#include "projects/depth/depth_program.h"
#include "projects/model/stack.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace residua::engine {

/// Connects the layers of a stack: runs the DepthProgram of a wiring. Owns the layers and runs them only through the
/// LayerStack.
class LayerWiring {
public:
    /// Maps the stack's input [..., d] to the final output [..., d]. If `exits` is not null, it gets the residual after
    /// each of the layers of keepExits(), as it would leave a loop whose visit ends there.
    [[nodiscard]] Residual run(const at::Tensor& input, const Pass& pass, std::vector<at::Tensor>* exits = nullptr);
    /// Makes passes keep the residual after these executed layers, from 1.
    void keepExits(const std::vector<std::int64_t>& layers);
    /// As LoopRule::exitLogit.
    [[nodiscard]] at::Tensor exitLogit(std::size_t loop, const at::Tensor& state) const
    {
        return m_loops.exitLogit(loop, state);
    }
    /// Returns the topology's own terms of the training loss.
    [[nodiscard]] std::vector<Regulariser> regularisers() const { return m_rule->regularisers(); }
    /// As LoopRule::setHeadNorm.
    void setHeadNorm(const Norm& norm) { m_loops.setHeadNorm(norm); }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) { return m_rule->coefficients(step); }

    /// Creates the wiring and adds the parameters of topology and loops. `layers` are those of `stack`.
    [[nodiscard]] static Result<std::unique_ptr<LayerWiring>> create(const projects::Stack& stack, LayerStack layers,
                                                                     InitPlan& plan);

private:
    class Running;

    /// How a module's branch is added to the residual that all its ports read.
    struct Sum {
        std::size_t value = 0;     ///< of the sum, which is set where the module runs
        bool isRead = false;       ///< true if other steps read the branch too
        bool endsResidual = false; ///< true if no later step but the sum reads the residual
    };
    struct Exit {
        std::size_t value = 0;                    ///< of the program
        std::optional<projects::LoopVisit> visit; ///< of a loop that changes the residual, if it ends there
    };
    [[nodiscard]] static std::vector<std::optional<Sum>> sumsIn(const projects::DepthProgram& program,
                                                                const std::vector<std::size_t>& kept);

    LayerWiring(projects::DepthProgram program, LayerStack layers, std::unique_ptr<DepthRule> rule, LoopRule loops,
                const Compute& compute);
    /// Matches the input ports of every module with the layer's mixes.
    [[nodiscard]] Status matchPorts(const projects::Stack& stack);
    [[nodiscard]] std::size_t firstChange(const projects::Alteration& alteration) const;

    projects::DepthProgram m_program;
    LayerStack m_layers;
    std::unique_ptr<DepthRule> m_rule;
    LoopRule m_loops;
    Compute m_compute;
    bool m_hasStreams = false;                        ///< true of a MultiStream
    std::vector<std::vector<std::size_t>> m_ports;    ///< of each module: the mix of each input port
    std::vector<std::vector<std::size_t>> m_lastUses; ///< of each step: the values that no later step reads
    std::vector<std::optional<Sum>> m_sums;           ///< of each step that runs a module
    std::vector<Exit> m_exits;                        ///< those that run() returns
};

} // namespace residua::engine
