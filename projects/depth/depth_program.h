// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/model/stack.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace residua::projects {

/// The operation of a DepthStep. A value can be absent in a pass: the branch of a module that the pass leaves out.
enum class DepthStepKind {
    Enter,  ///< the stack's input; between FFN inputs, with the attention of layer 1 added
    Store,  ///< the input as an entry, which mixes read; absent if the input is
    Add,    ///< the sum of two inputs; one of them if the other is absent
    Newest, ///< the second input; the first if the second is absent
    Split,  ///< the parts of the input's features, one output each
    Merge,  ///< the inputs' features side by side; the inverse of Split
    Run,    ///< the branch of the module, with one input for each mix of a layer (DepthProgram::ports)
    Mix,    ///< output o is base (+) Σ_s w[row, o, s]·input s over the present inputs, which are entries
    Join,   ///< a function of the inputs with parameters of row `row`: a gate, or a projection
    /// The residual at the begin of a loop's visit, from the residual and the loop's input. A loop with streams has
    /// them, side by side, as the residual between its visits.
    Visit,
    /// The residual at the end of a visit, from the residual, that at its begin, and the streams that the visit read.
    Leave,
};

/// A visit of a loop that changes the residual (changesState).
struct LoopVisit {
    std::size_t loop = 0; ///< index in Stack::loops
    std::int64_t visit = 1;
    std::int64_t firstModule = 1; ///< the modules of the visit
    std::int64_t lastModule = 1;
    bool hasStreams = false; ///< true if it reads and writes streams (LoopStreams)
};

/// One step of a DepthProgram. Values are numbered from 0; each is the output of one step.
struct DepthStep {
    DepthStepKind kind = DepthStepKind::Enter;
    std::vector<std::size_t> inputs;
    std::size_t output = 0; ///< the first output; the others have the next numbers
    std::size_t outputs = 1;
    std::int64_t module = 0;   ///< the module that the step belongs to, from 1; 0 for the entry, K + 1 for the output
    std::size_t row = 0;       ///< of the weight rule (DepthProgram)
    std::size_t firstTerm = 0; ///< of Mix and Join: the number of its first weight; inputs of output 0, of output 1, …
    std::optional<std::size_t> base;   ///< of a mix with one output: a value that the sum is added to
    std::optional<std::size_t> newest; ///< of a mix: the newest entry, from which weights per token are computed
    /// True if a pass without the module skips the step. Its outputs are then its first inputs.
    bool skips = false;
    std::size_t stack = 0; ///< of Store and Mix: mixes read entries of their own stack. Stacks follow each other.
    double residual = 1;   ///< of a post-norm's Join: the factor of its first input
    LoopVisit visit = {};  ///< of Visit and Leave. A pass that runs no module of the visit skips the step.
};

/// A wiring of depth as a list of steps. Rows of the weight rules count
/// - in a DepthMix: the readers of its DepthPlan;
/// - in a MultiStream: the reads and writes of the modules, 2m and 2m + 1 for module m from 0, then the exit;
/// - in a BranchGate and a Concatenation: the modules from 0, then the output.
/// Visits of a loop that share their weights have equal rows (rowLayersOf).
struct DepthProgram {
    std::int64_t layers = 0;
    std::int64_t modules = 0; ///< K
    MixSites sites = MixSites::Mhsa;
    std::vector<MixPort> ports; ///< the ports of a layer that have separate mixes
    std::size_t parts = 1;      ///< outputs of every Split
    std::vector<DepthStep> steps;
    std::size_t values = 0; ///< number of values
    std::size_t terms = 0;  ///< number of weights of all Mix and Join
    std::size_t result = 0; ///< the value that leaves the stack
    /// The residual after each layer, by the layer's index from 0; empty if there are several (hasOneResidual).
    std::vector<std::size_t> residuals;
};

/// Compiles the wiring of a stack with its loops. The number of steps grows with the depth, and that of their inputs
/// with its square if every layer reads all earlier ones. Precondition: the stack is valid.
[[nodiscard]] DepthProgram programOf(const Stack& stack);
/// Compiles a wiring of `layers` layers without loops.
[[nodiscard]] DepthProgram programOf(const Wiring& wiring, std::int64_t layers);
/// Call `visit` with the steps in order, and return the program without them. Their memory grows with the depth only.
DepthProgram visitSteps(const Stack& stack, const std::function<void(DepthStep&&)>& visit);
DepthProgram visitSteps(const Wiring& wiring, std::int64_t layers, const std::function<void(DepthStep&&)>& visit);

/// True if loops of this wiring may change the residual between visits (changesState): a module reads the residual,
/// which is one value.
[[nodiscard]] bool hasOneResidual(const Wiring& wiring);

} // namespace residua::projects
