// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/visit_measures.h"

#include "projects/base/text.h"
#include "projects/depth/depth_program.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>

namespace residua::engine {
namespace {

constexpr int kPowerSteps = 10;
constexpr int kCountedSteps = 5; ///< the last ones, whose mean growth is the radius
constexpr std::uint64_t kVectorSeed = 7;

double squaresIn(const at::Tensor& x)
{
    return x.to(at::kDouble).square().sum().item<double>();
}

/// Returns the state as rows of features in double precision.
at::Tensor rowsOf(const at::Tensor& state)
{
    return state.to(at::kDouble).reshape({-1, state.size(-1)});
}

/// Returns the sum of the cosines of equal rows.
double cosines(const at::Tensor& a, const at::Tensor& b)
{
    return at::cosine_similarity(a, b, 1, 1e-30).sum().item<double>();
}

at::Tensor normalLike(const at::Tensor& x)
{
    const at::Tensor numbers = at::randn(x.sizes(), at::detail::createCPUGenerator(kVectorSeed),
                                         x.options().device(at::kCPU).dtype(at::kDouble));
    return numbers.to(x.device(), x.scalar_type());
}

/// True if the values are the root of a ratio of squares.
bool isNorm(VisitMeasure measure)
{
    switch (measure) {
    case VisitMeasure::Cosine:
    case VisitMeasure::CentredCosine:
    case VisitMeasure::WriteCosine:
    case VisitMeasure::Alignment:
    case VisitMeasure::Radius:
        return false;
    default:
        return true;
    }
}

} // namespace

Status checkVisits(const projects::Project& project, std::int64_t loop)
{
    const projects::Stack& stack = project.stack();
    const std::string name = "the tower \"" + project.network.name + "\" of \"" + project.name + "\"";
    if (stack.loops.empty()) {
        return Error{"loop", name + " has no loop; expected a project that visits layers several times (residua-cli "
                                    "explain loops), or the name of another tower"};
    }
    if (loop < 1 || loop > std::ssize(stack.loops)) {
        return Error{"loop", "got " + std::to_string(loop) + ", expected 1 to " + std::to_string(stack.loops.size()) +
                                 ", the loops of " + name};
    }
    const projects::Loop& of = stack.loops[static_cast<std::size_t>(loop - 1)];
    if (of.order == projects::VisitOrder::InPlace && of.first < of.last) {
        return Error{"loop", "loop " + std::to_string(loop) +
                                 " visits each layer several times before the next one, "
                                 "so no state is between its visits; expected the order "
                                 "\"cycle\", or a loop of one layer"};
    }
    if (!projects::hasOneResidual(stack.topology.wiring)) {
        return Error{"topology", stack.topology.preset + " has no single residual, which is the state of a loop; "
                                                         "expected a topology such as plain or ReZero. The loss over "
                                                         "visits needs none: residua-cli analyze knockout RUN --by "
                                                         "visits"};
    }
    return Done{};
}

VisitMeasures::VisitMeasures(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project,
                             c10::Device device, std::int64_t batches, std::int64_t step, std::size_t loop,
                             double apart)
    : m_network(network),
      m_stack(project.stack()),
      m_device(device),
      m_batches(dataset, Split::Validation, project.training, device, batches),
      m_pass(passAfter(step)),
      m_index(loop),
      m_loop(m_stack.loops.at(loop)),
      m_apart(apart)
{
    for (NamedParameter& parameter : network.parameters()) {
        parameter.tensor.requires_grad_(!parameter.isBuffer); // also of a tower that no loss trains
        const projects::ParameterName name = projects::parameterNameFrom(parameter.name);
        if (name.part == projects::NetworkPart::Layers && name.layer >= m_loop.first && name.layer <= m_loop.last &&
            !parameter.isBuffer && !projects::adapterFrom(parameter.name)) {
            m_weights.emplace_back(name.layer, parameter.tensor);
        }
    }
}

Status VisitMeasures::advance()
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const std::optional<DeviceBatch> batch = RESIDUA_TRY(m_batches.next());
    m_atEnd = !batch.has_value();
    if (m_atEnd) {
        return Done{};
    }
    States states;
    Writes writes;
    const auto keep = [&](std::int64_t, const at::Tensor& state) { return states.emplace_back(state); };
    const at::Tensor output = run(*batch, keep, &writes);
    m_loss.add(m_network.lossOf(output, *batch, m_pass), m_batches.units());
    addStates(states);
    addWrites(writes);
    if (m_isClosed && states.size() > 1) {
        addOtherStart(*batch, states);
        addGradients(*batch);
    }
    if (m_loop.visits > kSettledVisits && states.size() > 1) {
        addResidual(*batch);
    }
    return Done{};
}

void VisitMeasures::add(VisitMeasure measure, std::int64_t layer, std::int64_t visit, double above, double below)
{
    std::vector<Ratio>& sums = m_sums[{measure, layer}];
    sums.resize(std::max(sums.size(), static_cast<std::size_t>(visit)));
    sums[static_cast<std::size_t>(visit - 1)].first += above;
    sums[static_cast<std::size_t>(visit - 1)].second += below;
}

template <class Replace>
at::Tensor VisitMeasures::run(const DeviceBatch& batch, const Replace& replace, Writes* writes, std::int64_t visits)
{
    VisitProbe probe{.loop = m_index, .state = replace};
    if (writes != nullptr) {
        probe.branch = [&](std::int64_t number, const at::Tensor& branch) {
            const projects::LayerVisit at = m_stack.visitAt(number);
            at::Tensor& write = (*writes)[at.layer][at.visit];
            write = write.defined() ? write + branch : branch;
        };
    }
    Pass pass = m_pass;
    pass.visits = &probe;
    if (visits > 0) {
        auto alteration = std::make_shared<projects::Alteration>();
        alteration->visits = {{m_index, visits}};
        pass.alteration = std::move(alteration);
    }
    at::Tensor output = m_network.stackOutput(batch, pass);
    m_isClosed = probe.isClosed;
    return output;
}

void VisitMeasures::addStates(const States& states)
{
    at::Tensor change; // of the visit before
    at::Tensor before = rowsOf(states.front());
    for (std::size_t place = 1; place < states.size(); ++place) {
        const auto visit = static_cast<std::int64_t>(place);
        const at::Tensor after = rowsOf(states[place]);
        if (before.size(1) < after.size(1)) { // streams begin as copies
            before = at::cat(States(static_cast<std::size_t>(after.size(1) / before.size(1)), before), 1);
        }
        const auto rows = static_cast<double>(after.size(0));
        at::Tensor step = after - before;
        add(VisitMeasure::Change, 0, visit, squaresIn(step), squaresIn(after));
        if (change.defined()) {
            add(VisitMeasure::Acceleration, 0, visit, squaresIn(step - change), rows);
        }
        add(VisitMeasure::Cosine, 0, visit, cosines(before, after), rows);
        add(VisitMeasure::CentredCosine, 0, visit, cosines(before - before.mean(0), after - after.mean(0)), rows);
        change = std::move(step);
        before = after;
    }
}

void VisitMeasures::addWrites(const Writes& writes)
{
    for (const auto& [layer, visits] : writes) {
        if (layer < m_loop.first || layer > m_loop.last) {
            continue;
        }
        at::Tensor before;
        for (const auto& [visit, write] : visits) {
            const at::Tensor after = rowsOf(write);
            if (before.defined()) {
                add(VisitMeasure::WriteCosine, layer, visit, cosines(before, after),
                    static_cast<double>(after.size(0)));
                add(VisitMeasure::WriteRatio, layer, visit, squaresIn(after), squaresIn(before));
            }
            before = after;
        }
    }
}

void VisitMeasures::addOtherStart(const DeviceBatch& batch, const States& states)
{
    const at::Tensor noise = normalLike(states.front());
    const at::Tensor apart = noise * (m_apart * std::sqrt(squaresIn(states.front()) / squaresIn(noise)));
    const double start = squaresIn(apart);
    (void)run(batch, [&](std::int64_t visit, const at::Tensor& state) {
        if (visit == 0) {
            return state + apart;
        }
        add(VisitMeasure::PathGap, 0, visit, squaresIn(rowsOf(state) - rowsOf(states[static_cast<std::size_t>(visit)])),
            start);
        return state;
    });
}

/// Cuts the pass at each state, so that a visit's own gradient can be computed from that of the state after it.
void VisitMeasures::addGradients(const DeviceBatch& batch)
{
    const at::AutoGradMode gradient(true);
    States made;
    States leaves;
    const at::Tensor output = run(batch, [&](std::int64_t, const at::Tensor& state) {
        made.push_back(state);
        return leaves.emplace_back(state.detach().clone().requires_grad_(true));
    });
    at::Tensor loss;
    for (const BatchMean& term : m_network.lossOf(output, batch, m_pass)) {
        loss = loss.defined() ? loss + term.mean : term.mean;
    }
    States sums(m_weights.size());
    std::map<std::int64_t, double> alone; // Σ ‖G_v‖² by layer
    const auto gradientsOf = [](const at::Tensor& of, const States& by, const at::Tensor& from) {
        return torch::autograd::grad({of}, by, {from}, true, false, true);
    };
    at::Tensor from = gradientsOf(loss, {leaves.back()}, {}).front();
    for (std::size_t visit = made.size() - 1; visit > 0 && from.defined(); --visit) {
        if (m_batches.count() == 1) {
            addRadius(static_cast<std::int64_t>(visit), made[visit], leaves[visit - 1]);
        }
        States by{leaves[visit - 1]};
        std::ranges::transform(m_weights, std::back_inserter(by), [](const auto& weight) { return weight.second; });
        const States found = gradientsOf(made[visit], by, from);
        std::map<std::int64_t, double> own;
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            if (const at::Tensor& each = found[i + 1]; each.defined()) {
                own[m_weights[i].first] += squaresIn(each);
                sums[i] = sums[i].defined() ? sums[i] + each.to(at::kDouble) : each.to(at::kDouble);
            }
        }
        for (const auto& [layer, square] : own) {
            add(VisitMeasure::Gradient, layer, static_cast<std::int64_t>(visit), square, 1);
            alone[layer] += square;
        }
        from = found.front();
    }
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
        if (sums[i].defined()) {
            const std::int64_t layer = m_weights[i].first;
            add(VisitMeasure::Alignment, layer, 1, squaresIn(sums[i]), std::exchange(alone[layer], 0));
        }
    }
}

/// Uses the transpose of ∂h_v/∂h_(v−1), which has the same spectrum. Examples do not act on each other.
void VisitMeasures::addRadius(std::int64_t visit, const at::Tensor& after, const at::Tensor& before)
{
    if (after.sizes() != before.sizes()) {
        return; // the first visit of a loop with streams
    }
    at::Tensor vector = normalLike(after);
    at::Tensor growth = at::zeros_like(vector.flatten(1).select(1, 0), at::kDouble);
    for (int step = 0; step < kPowerSteps; ++step) {
        const at::Tensor next =
            torch::autograd::grad({after}, {before}, {vector.contiguous()}, true, false, true).front();
        if (!next.defined()) { // the visit ignores the state
            growth.fill_(-std::numeric_limits<double>::infinity());
            break;
        }
        const at::NoGradGuard noGrad;
        const auto lengthOf = [](const at::Tensor& x) {
            return at::linalg_vector_norm(x.to(at::kDouble).flatten(1), 2, {1});
        };
        const at::Tensor length = lengthOf(next);
        if (step >= kPowerSteps - kCountedSteps) {
            growth += (length / lengthOf(vector)).log() / kCountedSteps;
        }
        std::vector<std::int64_t> shape(static_cast<std::size_t>(next.dim()), 1);
        shape.front() = -1;
        vector = next / length.clamp_min(1e-30).view(shape).to(next.scalar_type());
    }
    const at::NoGradGuard noGrad;
    add(VisitMeasure::Radius, 0, visit, growth.exp().nan_to_num(0).sum().item<double>(),
        static_cast<double>(growth.numel()));
}

void VisitMeasures::addResidual(const DeviceBatch& batch)
{
    at::Tensor before;
    (void)run(
        batch,
        [&](std::int64_t visit, const at::Tensor& state) {
            const at::Tensor after = rowsOf(state);
            if (visit > 1) {
                add(VisitMeasure::Residual, 0, visit - 1, squaresIn(after - before), squaresIn(before));
            }
            before = after;
            return state;
        },
        nullptr, kSettledVisits + 1);
}

std::vector<VisitCurve> VisitMeasures::curves() const
{
    std::vector<VisitCurve> curves;
    for (const auto& [of, sums] : m_sums) {
        VisitCurve& curve = curves.emplace_back(VisitCurve{of.first, of.second, {}});
        for (const auto& [above, below] : sums) {
            const double value = below > 0 ? above / below : std::numeric_limits<double>::quiet_NaN();
            curve.values.push_back(isNorm(of.first) ? std::sqrt(value) : value);
        }
    }
    return curves;
}

std::vector<std::string> VisitMeasures::notes() const
{
    std::vector<std::string> notes;
    if (m_sums.empty()) {
        return {"the loop does not run at this step of a growing network"};
    }
    if (!m_isClosed) {
        notes.emplace_back("a visit reads more of earlier visits than the state, so it has no gradient of its own, no "
                           "spectral radius and no other start");
    }
    if (m_loop.visits <= kSettledVisits) {
        notes.emplace_back("the loop has weights for each visit, or too many layers, so that it cannot make " +
                           std::to_string(kSettledVisits) + " visits: no fixed-point residual");
    }
    return notes;
}

} // namespace residua::engine
