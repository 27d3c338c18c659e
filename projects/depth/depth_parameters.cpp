// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_parameters.h"

#include "projects/depth/shared_mix.h"
#include "projects/depth/stream_start.h"
#include "projects/model/parameter_name.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace residua::projects {
namespace {

using Numbers = std::vector<double>;
using Shape = std::vector<std::int64_t>;

Numbers repeated(std::int64_t count, double number)
{
    return Numbers(static_cast<std::size_t>(count), number);
}

/// Returns `count` numbers: `on` at `first` and after every `stride`, `off` elsewhere.
Numbers marked(std::int64_t count, std::int64_t first, std::int64_t stride, double on, double off)
{
    Numbers numbers = repeated(count, off);
    for (std::int64_t i = first; i < count; i += stride) {
        numbers[static_cast<std::size_t>(i)] = on;
    }
    return numbers;
}

/// Declares the parameters of one alternative of Wiring per call operator.
struct Declaration {
    std::int64_t layers;
    std::int64_t modules;
    std::int64_t width; ///< d
    const ParameterVisitor& visit;

    void operator()(const DepthMix& mix) const
    {
        const bool gated = mix.gate.kind != GateKind::None;
        const bool trains = gated || mix.weight != WeightKind::Fixed || !mix.states.empty();
        for (std::int64_t target = 1; trains && target <= lastReader(mix, modules); ++target) {
            weights(mix, readerOf(mix, target, modules));
        }
        for (std::int64_t target = 1; gated && target <= lastReader(mix, modules); ++target) {
            gate(mix, readerOf(mix, target, modules));
        }
    }

    /// Hyper-Connections let the dynamic part decay, and Frac-Connections keep it from it.
    void operator()(const MultiStream& wiring) const
    {
        const std::int64_t n = wiring.streams;
        const StreamSizes sizes = streamSizes(wiring, width);
        const bool isCut = wiring.state == StreamState::Fractions;
        for (std::int64_t module = 0; module < modules; ++module) {
            connections(wiring, sizes.carry, module / modulesPerHome(wiring) % n);
        }
        if (wiring.exit == StreamExit::Head && !isCut) {
            drawn("exit", {n, n, width}, kStreamDrawn, {.rows = 1});
            given("exit_bias", {n}, {-std::log(std::max<double>(static_cast<double>(n - 1), 1))});
            given("exit_scale", {1}, {wiring.dynamicScale});
        }
        if (wiring.weights == StreamWeights::Static) {
            return;
        }
        const bool isFree = wiring.constraint == StreamConstraint::None;
        const Shape dynamic =
            isFree ? Shape{modules, sizes.logits, sizes.width} : Shape{modules, n, sizes.logits, width};
        if (isFree || wiring.constraint == StreamConstraint::Permutations) {
            given("norm", isFree ? Shape{modules, sizes.width} : Shape{modules, n, width}, {1});
        }
        if (isFree && isCut) {
            given("norm_bias", {modules, sizes.width}, {0});
        }
        const MatrixForm perModule{.stacks = true, .rows = isFree ? 1 : 2};
        if (wiring.constraint == StreamConstraint::Identity) {
            drawn("dynamic", dynamic, kStreamDrawn, perModule);
        } else {
            given("dynamic", dynamic, {0}, !(isFree && isCut), perModule);
        }
        given("scale", {modules, isFree || sizes.carry == 0 ? 2 : 3}, {wiring.dynamicScale});
    }

    void operator()(const BranchGate& wiring) const
    {
        const GateTraits traits = traitsOf(wiring.gate);
        if (wiring.gate == BranchGateKind::ReZero) {
            given("alpha", {layers}, {0});
        } else if (wiring.gate == BranchGateKind::ValueResidual) {
            given("values", {modules - 1, 2}, {0.5});
        } else if (traits.factors == 2) {
            given("factor", {modules, 2}, {wiring.bound == LaurelBound::None ? 1.0 : 0.0});
        }
        for (std::int64_t module = 1; module <= modules; ++module) {
            const std::string row = std::to_string(module) + ".";
            if (wiring.gate == BranchGateKind::Highway) {
                drawn(row + "gate.weight", {width, width});
                given(row + "gate.bias", {width}, {wiring.bias});
            } else if (wiring.gate == BranchGateKind::PostNorm) {
                given(row + "norm.weight", {width}, {1});
                if (wiring.norm == NormKind::Layer) {
                    given(row + "norm.bias", {width}, {0});
                }
            } else if (traits.maps != LaurelMaps::None) {
                drawn(row + "down.weight", {wiring.rank, width});
                given(row + "up.weight", {width, wiring.rank}, {0}, true, MatrixForm());
            }
        }
        for (std::int64_t module = 1; traits.maps == LaurelMaps::Previous && module <= modules; ++module) {
            const std::int64_t count = std::min(wiring.window, module);
            given("coefficient", {count}, repeated(count, 1.0 / static_cast<double>(count)));
        }
    }

    void operator()(const Concatenation& /*wiring*/) const
    {
        for (std::int64_t reader = 1; reader <= modules + 1; ++reader) {
            drawn(std::to_string(reader) + ".weight", {width, reader * width});
        }
    }

    /// Adds the weights of a reader: [terms] or [terms, d], with a query and a gain [outputs, d], or for each token by
    /// h hidden features [h, d], [terms, h] and [terms].
    void weights(const DepthMix& mix, const DepthReader& reader) const
    {
        if (mix.weight == WeightKind::DepthAttention) {
            given("query", {reader.outputs, width}, repeated(reader.outputs, 0), mix.weightDecay);
            given("norm", {reader.outputs, width}, repeated(reader.outputs, 1), mix.weightDecay);
            return;
        }
        Numbers starts;
        for (int output = 0; output < reader.outputs; ++output) {
            for (const std::int64_t source : reader.sources) {
                if (hasOwnWeight(mix, {source, reader.target})) {
                    starts.push_back(startOf(mix, reader, source));
                }
            }
        }
        const auto terms = static_cast<std::int64_t>(starts.size());
        const std::string row = std::to_string(reader.target) + ".";
        if (terms == 0 && (mix.weight == WeightKind::PerToken || mix.weight == WeightKind::Fixed)) {
            return;
        }
        if (mix.weight == WeightKind::PerToken) {
            const std::int64_t hidden = perTokenHidden(mix, terms, reader.target > modules);
            add({{row + "hidden", {hidden, width}, ParameterClass::Matrix, mix.weightDecay, MatrixForm()},
                 {},
                 1 / std::sqrt(static_cast<double>(width)),
                 "gelu"});
            given(row + "mix", {terms, hidden}, {0}, mix.weightDecay, MatrixForm());
            given(row + "bias", {terms}, std::move(starts), mix.weightDecay);
        } else {
            given("coefficient", traitsOf(mix.weight).isPerFeature ? Shape{terms, width} : Shape{terms},
                  std::move(starts), mix.weightDecay);
        }
    }

    /// Adds the gate's vector of each mix or, with a vector per entry, of each of its terms.
    void gate(const DepthMix& mix, const DepthReader& reader) const
    {
        const std::int64_t vectors =
            mix.gate.vectors == GateVectors::PerEntry ? reader.terms() : static_cast<std::int64_t>(reader.outputs);
        given("gate", {vectors, width}, repeated(vectors, 0), mix.weightDecay);
    }

    /// Adds what all tokens share in a module: read [n], of fractions [in, out], carry [in, out], of permutations [n!],
    /// and write [n].
    void connections(const MultiStream& wiring, std::int64_t carry, std::int64_t home) const
    {
        const std::int64_t n = wiring.streams;
        const StreamStart start = streamStart(wiring);
        if (wiring.state == StreamState::Fractions) {
            given("read", {1, n, n}, marked(n * n, 0, n + 1, 1, 0));
        } else {
            given("read", {1, n}, marked(n, home, n, start.readOn, start.readOff));
        }
        if (wiring.constraint == StreamConstraint::Permutations) { // the identity is the first
            given("carry", {1, carry}, marked(carry, 0, carry, start.carry, start.carryOff));
        } else if (carry > 0) {
            given("carry", {1, n, n}, marked(n * n, 0, n + 1, start.carry, start.carryOff));
        }
        given("write", {1, n}, marked(n, home, n, start.writeOn, start.writeOff));
    }

    void add(WiringParameter&& parameter) const
    {
        parameter.name = topologyParameter(parameter.name);
        visit(std::move(parameter));
    }
    void given(std::string name, Shape shape, Numbers values, bool decays = false,
               std::optional<MatrixForm> matrix = std::nullopt) const
    {
        add({{std::move(name), std::move(shape), ParameterClass::Vector, decays, matrix}, std::move(values)});
    }
    void drawn(std::string name, Shape shape, double deviation = 0, MatrixForm matrix = {}) const
    {
        add({{std::move(name), std::move(shape), ParameterClass::Matrix, true, matrix}, {}, deviation});
    }
};

} // namespace

double WiringParameter::elements() const
{
    return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
}

void visitParameters(const Wiring& wiring, std::int64_t layers, std::int64_t width, const ParameterVisitor& visit)
{
    std::visit(Declaration{layers, modulesIn(wiring, layers), width, visit}, wiring);
}

void visitParameters(const Stack& stack, const ParameterVisitor& visit)
{
    if (!sharesCoefficients(stack)) {
        visitParameters(stack.topology.wiring, rowStackOf(stack).depth(), stack.width, visit);
        return;
    }
    const auto& mix = std::get<DepthMix>(stack.topology.wiring);
    Numbers starts;
    std::ranges::transform(sharedTerms(stack), std::back_inserter(starts), &SharedTerm::start);
    const auto terms = static_cast<std::int64_t>(starts.size());
    if (terms == 0 && mix.weight == WeightKind::Fixed) {
        return;
    }
    visit({{kTopologyCoefficient,
            traitsOf(mix.weight).isPerFeature ? Shape{terms, stack.width} : Shape{terms},
            ParameterClass::Vector,
            mix.weightDecay,
            {}},
           std::move(starts)});
}

void visitParameters(const DepthMix& mix, const DepthReader& reader, std::int64_t modules, std::int64_t width,
                     const ParameterVisitor& visit)
{
    const Declaration declaration{modules, modules, width, visit};
    declaration.weights(mix, reader);
    if (mix.gate.kind != GateKind::None) {
        declaration.gate(mix, reader);
    }
}

std::string loopParameter(std::size_t loop, const std::string& rest)
{
    return "loop." + std::to_string(loop + 1) + "." + rest;
}

namespace {

/// Calls `add` with the parameters of a loop's streams: name, shape, start, and whether they are matrices that decay.
void visitStreamParameters(const Loop& loop, std::int64_t width,
                           const std::function<void(const char*, Shape, Numbers, bool)>& add)
{
    const std::int64_t n = loop.streamCount;
    const std::int64_t visits = loop.visits;
    if (loop.streams == LoopStreams::Lanes) {
        Numbers read;
        Numbers mix;
        for (std::int64_t visit = 0; visit < visits; ++visit) {
            std::ranges::copy(marked(n, visit % n, n, 1, 0), std::back_inserter(read));
            std::ranges::copy(marked(n * n, 0, n + 1, 1, 0), std::back_inserter(mix));
        }
        add("lanes.read", {visits, n}, std::move(read), false);
        add("lanes.mix", {visits, n, n}, std::move(mix), false);
        add("lanes.write", {visits, n}, {1}, false);
    } else if (loop.streams == LoopStreams::Gated) {
        Numbers bias;
        for (std::int64_t visit = 0; visit < visits; ++visit) {
            bias.insert(bias.end(), static_cast<std::size_t>(n), -std::log(static_cast<double>(n - 1)));
            bias.insert(bias.end(), static_cast<std::size_t>(n), 0);
            bias.insert(bias.end(), static_cast<std::size_t>(n), std::log(loop.keep / (1 - loop.keep)));
        }
        add("streams.weight", {visits, 3 * n, n * width}, {0}, true);
        add("streams.bias", {visits, 3 * n}, std::move(bias), false);
        add("streams.scale", {visits, 3}, {0.01}, false);
    }
}

} // namespace

void visitLoopParameters(const Stack& stack, const ParameterVisitor& visit)
{
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const Loop& loop = stack.loops[i];
        if (!stack.isSound(i)) {
            continue;
        }
        const auto vector = [&](const char* rest, Shape shape, double start) {
            const auto count = static_cast<std::int64_t>(shape.front());
            visit({{topologyParameter(loopParameter(i, rest)), std::move(shape), ParameterClass::Vector, false, {}},
                   repeated(count, start)});
        };
        if (loop.injection == LoopInjection::Linear) {
            visit({{topologyParameter(loopParameter(i, "injection.weight")),
                    {stack.width, 2 * stack.width},
                    ParameterClass::Matrix,
                    true,
                    {}}});
        }
        if (loop.embedding) {
            vector("embedding", {loop.visits, stack.width}, 0);
        }
        if (loop.gate) {
            vector("gate", {loop.visits, stack.width}, 0);
        }
        if (loop.norm == LoopNorm::Visits || loop.norm == LoopNorm::Exit) {
            vector("norm.weight", {stack.width}, 1);
        }
        if (loop.exitGate) {
            visit({{topologyParameter(loopParameter(i, "exit.weight")),
                    {1, stack.width},
                    ParameterClass::Vector,
                    false,
                    {}},
                   {0}});
            vector("exit.bias", {1}, 0);
        }
        visitStreamParameters(loop, stack.width, [&](const char* rest, Shape shape, Numbers values, bool isMatrix) {
            visit({{topologyParameter(loopParameter(i, rest)), std::move(shape), ParameterClass::Vector, isMatrix,
                    isMatrix ? std::optional(MatrixForm{.stacks = true, .rows = 1}) : std::nullopt},
                   std::move(values)});
        });
    }
}

PostNormFactors postNormFactors(const Stack& stack)
{
    const auto* const gate = std::get_if<BranchGate>(&stack.topology.wiring);
    if (gate == nullptr || gate->gate != BranchGateKind::PostNorm || gate->scale == PostNormScale::One) {
        return {};
    }
    double layers = 0; // N
    for (std::int64_t layer = 1; layer <= stack.stored(); ++layer) {
        const Loop* const loop = stack.loopOf(layer);
        const std::int64_t visits = loop == nullptr ? 1 : evaluatedVisits(*loop);
        const bool isTruncated = loop != nullptr && loop->gradientVisits > 0;
        layers += static_cast<double>(isTruncated ? std::min(visits, loop->gradientVisits) : visits);
    }
    const double exponent = gate->scale == PostNormScale::DeepNorm ? 0.25 : 0.5;
    return {std::pow(2 * layers, exponent), std::pow(8 * layers, -exponent)};
}

namespace {

/// Returns the whole parameters whose parts `parts` visits.
std::vector<WiringParameter> whole(const std::function<void(const ParameterVisitor&)>& parts)
{
    std::vector<WiringParameter> parameters;
    std::map<std::string, std::size_t> places;
    parts([&](WiringParameter&& part) {
        const auto [place, isNew] = places.try_emplace(part.name, parameters.size());
        if (isNew) {
            parameters.push_back(std::move(part));
            return;
        }
        WiringParameter& whole = parameters[place->second];
        whole.shape.front() += part.shape.front();
        whole.values.insert(whole.values.end(), part.values.begin(), part.values.end());
    });
    return parameters;
}

} // namespace

std::vector<WiringParameter> parametersOf(const Stack& stack)
{
    std::vector<WiringParameter> parameters = wiringParametersOf(stack);
    visitLoopParameters(stack, [&](WiringParameter&& parameter) { parameters.push_back(std::move(parameter)); });
    return parameters;
}

std::vector<WiringParameter> wiringParametersOf(const Stack& stack)
{
    return whole([&](const ParameterVisitor& visit) { visitParameters(stack, visit); });
}

std::vector<WiringParameter> parametersOf(const Wiring& wiring, std::int64_t layers, std::int64_t width)
{
    return whole([&](const ParameterVisitor& visit) { visitParameters(wiring, layers, width, visit); });
}

} // namespace residua::projects
