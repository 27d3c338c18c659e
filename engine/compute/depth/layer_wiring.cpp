// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/layer_wiring.h"

#include "engine/compute/depth/altered_streams.h"
#include "engine/compute/depth/stack_borders.h"
#include "engine/compute/depth/visit_borders.h"
#include "projects/base/mapped.h"
#include "projects/depth/depth_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace residua::engine {

using projects::DepthProgram;
using projects::DepthStep;
using projects::DepthStepKind;

namespace {

/// Returns for each step the values that it is the last to use, but for those that are kept.
std::vector<std::vector<std::size_t>> lastUsesIn(const DepthProgram& program, const std::vector<std::size_t>& kept)
{
    std::vector<std::vector<std::size_t>> uses(program.steps.size());
    std::vector<bool> seen(program.values);
    for (const std::size_t value : kept) {
        seen[value] = true;
    }
    for (std::size_t number = program.steps.size(); number-- > 0;) {
        const DepthStep& step = program.steps[number];
        std::vector<std::size_t> used = readBy(step);
        for (std::size_t o = 0; o < step.outputs; ++o) {
            used.push_back(step.output + o);
        }
        for (const std::size_t value : used) {
            if (!seen[value]) {
                seen[value] = true;
                uses[number].push_back(value);
            }
        }
    }
    return uses;
}

} // namespace

/// Runs the steps of one pass.
class LayerWiring::Running {
public:
    Running(LayerWiring& wiring, const at::Tensor& input, const Pass& pass)
        : Running(wiring, input, pass, {std::vector<DepthValue>(wiring.m_program.values), {}, 0})
    {
    }
    /// Continues at a border.
    Running(LayerWiring& wiring, const at::Tensor& input, const Pass& pass, DepthState state)
        : m_wiring(wiring),
          m_input(input),
          m_pass(pass),
          m_state(std::move(state)),
          m_recordsGradients(at::GradMode::is_enabled())
    {
        if (pass.visits != nullptr) {
            const projects::Stack& stack = wiring.m_layers.stack();
            VisitBorders borders = bordersOf(wiring.m_program, stack, pass.visits->loop);
            pass.visits->isClosed = borders.areClosed && wiring.m_rule->restarts();
            if (!projects::changesState(stack.loops[pass.visits->loop])) { // else visit() shows the states
                m_borders = std::move(borders);
            }
        }
    }

    [[nodiscard]] const DepthState& state() const { return m_state; }

    [[nodiscard]] Residual residual(std::size_t number) const { return m_state.values[number].residual(); }
    [[nodiscard]] at::Tensor sum(std::size_t number) { return value(number); }

    void run(std::size_t number)
    {
        const DepthStep& step = m_wiring.m_program.steps[number];
        if (step.kind == DepthStepKind::Visit || step.kind == DepthStepKind::Leave) {
            visit(step);
            return;
        }
        const bool ofModule = isOfModule(step);
        const std::size_t module = ofModule ? static_cast<std::size_t>(step.module) - 1 : 0;
        if (!isRun(step)) {
            if (step.kind == DepthStepKind::Run) {
                return; // its output is absent
            }
            if (step.skips) {
                skip(step);
                return;
            }
        }
        const at::AutoGradMode gradient(at::GradMode::is_enabled() && hasGradient(step));
        if (step.kind == DepthStepKind::Run && m_wiring.m_sums[number]) {
            addModule(step, module, *m_wiring.m_sums[number]);
            return;
        }
        apply(step, module);
    }

    /// Shows the residual before step `number` to the pass's probe, if a visit without steps of its own begins or ends
    /// there.
    void probe(std::size_t number)
    {
        const auto border = std::ranges::find(m_borders.steps, number);
        const auto visit = static_cast<std::size_t>(border - m_borders.steps.begin());
        if (border == m_borders.steps.end() ||
            (visit > 0 && !m_wiring.m_layers.runs(m_borders.modules[visit], m_pass))) {
            return;
        }
        const at::Tensor state = value(m_borders.values[visit]);
        const at::Tensor next = m_pass.visits->state(static_cast<std::int64_t>(visit), state);
        if (!next.is_same(state)) {
            set(m_borders.values[visit], next);
        }
    }

    void release(const std::vector<std::size_t>& values)
    {
        for (const std::size_t value : values) {
            m_state.values[value] = {};
        }
    }

private:
    [[nodiscard]] bool isOfModule(const DepthStep& step) const
    {
        return step.module > 0 && step.module <= m_wiring.m_program.modules;
    }
    /// False for a step of a module that the pass leaves out.
    [[nodiscard]] bool isRun(const DepthStep& step) const
    {
        return !isOfModule(step) || m_wiring.m_layers.runs(static_cast<std::size_t>(step.module) - 1, m_pass);
    }
    /// False for a step of a module that is to have no gradient.
    [[nodiscard]] bool hasGradient(const DepthStep& step) const
    {
        return !isOfModule(step) || m_wiring.m_layers.hasGradient(static_cast<std::size_t>(step.module) - 1, m_pass);
    }

    [[nodiscard]] bool isPresent(std::size_t number) const { return m_state.values[number].tensor.defined(); }
    /// Returns a value as one tensor, or an undefined tensor if it is absent.
    [[nodiscard]] const at::Tensor& value(std::size_t number)
    {
        DepthValue& value = m_state.values[number];
        if (value.branch.defined()) {
            const at::AutoGradMode gradient(m_recordsGradients); // the first reader may have none
            value.tensor = value.residual().sum();
            value.branch.reset();
        }
        return value.tensor;
    }
    void set(std::size_t value, at::Tensor tensor) { m_state.values[value] = {std::move(tensor), std::nullopt, 0}; }
    void set(std::size_t value, Residual sum)
    {
        m_state.values[value] = {std::move(sum.x), std::nullopt, 0, std::move(sum.branch)};
    }
    void set(const DepthStep& step, std::vector<at::Tensor> outputs)
    {
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            set(step.output + o, std::move(outputs[o]));
        }
    }
    void copy(std::size_t from, std::size_t to) { m_state.values[to] = m_state.values[from]; }
    [[nodiscard]] std::vector<at::Tensor> inputsOf(const DepthStep& step)
    {
        return mapped(step.inputs, [&](const std::size_t input) { return value(input); });
    }

    /// Runs the begin or the end of a loop's visit.
    void visit(const DepthStep& step)
    {
        bool ran = false;
        bool hasGradient = false;
        for (std::int64_t m = step.visit.firstModule; m <= step.visit.lastModule; ++m) {
            const auto module = static_cast<std::size_t>(m - 1);
            ran |= m_wiring.m_layers.runs(module, m_pass);
            hasGradient |= m_wiring.m_layers.hasGradient(module, m_pass);
        }
        const at::AutoGradMode gradient(at::GradMode::is_enabled() && hasGradient);
        const bool isProbed = ran && m_pass.visits != nullptr && m_pass.visits->loop == step.visit.loop;
        at::Tensor h = step.kind == DepthStepKind::Visit
                           ? m_wiring.m_loops.stateBefore(step.visit, value(step.inputs[0]), m_pass)
                           : value(step.inputs[0]);
        const at::Tensor& other = value(step.inputs[1]);
        if (step.kind == DepthStepKind::Leave) {
            const bool startsHere = isProbed && step.visit.visit == 1;
            const at::Tensor streams =
                step.inputs.size() < 3 ? at::Tensor() : (startsHere ? m_start : value(step.inputs[2]));
            h = ran ? m_wiring.m_loops.end(step.visit, h, other, streams) : h;
            h = isProbed ? m_pass.visits->state(step.visit.visit, h) : h;
            set(step.output, m_wiring.m_loops.isLast(step.visit) ? m_wiring.m_loops.exit(step.visit, h) : h);
            return;
        }
        if (isProbed && step.visit.visit == 1) {
            h = m_start = m_pass.visits->state(0, h);
        }
        if (ran) {
            set(step.output, m_wiring.m_loops.begin(step.visit, h, other));
        } else if (m_wiring.m_loops.startsAsNoise(step.visit)) {
            set(step.output, h);
        } else {
            copy(step.inputs[0], step.output);
        }
    }

    void skip(const DepthStep& step)
    {
        if (step.kind == DepthStepKind::Mix) {
            alterStreams(step);
        }
        for (std::size_t o = 0; o < std::min(step.outputs, step.inputs.size()); ++o) {
            copy(step.inputs[o], step.output + o);
        }
    }

    void apply(const DepthStep& step, std::size_t module)
    {
        switch (step.kind) {
        case DepthStepKind::Enter:
            enter(step);
            break;
        case DepthStepKind::Store:
            store(step);
            break;
        case DepthStepKind::Add:
            add(step);
            break;
        case DepthStepKind::Newest:
            copy(step.inputs[value(step.inputs[1]).defined() ? 1 : 0], step.output);
            break;
        case DepthStepKind::Split:
            set(step, value(step.inputs.front()).chunk(static_cast<std::int64_t>(step.outputs), -1));
            break;
        case DepthStepKind::Merge: {
            std::vector<at::Tensor> parts = inputsOf(step);
            if (step.module > m_wiring.m_program.modules) { // fractions leave without a mix
                static_cast<void>(alter(parts, m_wiring.m_program.modules));
            }
            set(step.output, at::cat(parts, -1));
            break;
        }
        case DepthStepKind::Run:
            runModule(step, module);
            break;
        case DepthStepKind::Mix:
            mix(step);
            break;
        case DepthStepKind::Join:
            set(step.output, m_wiring.m_rule->join(step, inputsOf(step)));
            break;
        case DepthStepKind::Visit:
        case DepthStepKind::Leave: // visit()
            break;
        }
    }

    void enter(const DepthStep& step)
    {
        const at::ScalarType type = m_wiring.m_compute.residualType;
        Residual entered = m_wiring.m_layers.enter(m_input, m_pass);
        if (entered.x.scalar_type() == type) {
            set(step.output, std::move(entered));
        } else {
            set(step.output, entered.sum().to(type));
        }
    }

    void store(const DepthStep& step)
    {
        if (!value(step.inputs.front()).defined()) {
            return;
        }
        const DepthValue& given = m_state.values[step.inputs.front()];
        if (!m_state.stack || m_state.open != step.stack) {
            m_state.stack.emplace(m_wiring.m_compute);
            m_state.open = step.stack;
        }
        if (given.entry && given.stack == step.stack) {
            copy(step.inputs.front(), step.output);
            return;
        }
        const std::size_t index = m_state.stack->push(given.tensor);
        m_state.values[step.output] = {m_state.stack->entry(index), index, step.stack};
    }

    void add(const DepthStep& step)
    {
        const std::size_t a = step.inputs[0];
        const std::size_t b = step.inputs[1];
        if (isPresent(step.output)) {
            return; // addModule()
        }
        if (!isPresent(b)) {
            copy(a, step.output);
        } else if (value(a).defined() && value(b).defined()) {
            set(step.output, value(a) + value(b));
        } else {
            copy(value(a).defined() ? a : b, step.output);
        }
    }

    void runModule(const DepthStep& step, std::size_t module)
    {
        const auto inputs =
            mapped(m_wiring.m_ports[module], [&](const std::size_t mix) { return value(step.inputs[mix]); });
        set(step.output, m_wiring.m_layers.run(module, inputs, m_pass));
    }

    /// Runs the module and adds its branch to the residual.
    void addModule(const DepthStep& step, std::size_t module, const Sum& sum)
    {
        const std::size_t x = step.inputs.front();
        const Residual before = sum.endsResidual ? residual(x) : Residual{value(x), {}};
        at::Tensor branch;
        set(sum.value, m_wiring.m_layers.runOnResidual(module, before, m_pass, sum.isRead ? &branch : nullptr));
        set(step.output, std::move(branch));
    }

    /// Gives the streams at a border the values of the alteration. Returns false if it changes none. Keeps those of an
    /// unaltered pass that others need.
    bool alter(std::vector<at::Tensor>& streams, std::int64_t border) const
    {
        StackBorders* const borders = m_pass.borders;
        if (!m_pass.alteration) {
            if (borders != nullptr) {
                borders->keepStreams(border, streams);
            }
            return false;
        }
        const std::vector<at::Tensor>* const unaltered = borders != nullptr ? borders->keptStreams(border) : nullptr;
        bool changes = false;
        for (const projects::FilledStreams& fill : m_pass.alteration->fills) {
            if (border < fill.first || border > fill.last) {
                continue;
            }
            changes = true;
            const std::vector<at::Tensor> before = streams;
            for (const std::int64_t stream : fill.streams) {
                const auto at = static_cast<std::size_t>(stream) - 1;
                streams.at(at) = filled(fill, at, before, unaltered, m_pass);
            }
        }
        return changes;
    }

    /// Puts the altered streams in the place of the entries of a module's read or of the exit, if the step is one. They
    /// are the only entries of its stack yet.
    void alterStreams(const DepthStep& step)
    {
        if (!m_wiring.m_hasStreams || step.row % 2 != 0) {
            return;
        }
        std::vector<at::Tensor> streams = inputsOf(step);
        if (!alter(streams, static_cast<std::int64_t>(step.row / 2))) {
            return;
        }
        m_state.stack.emplace(m_wiring.m_compute);
        for (std::size_t place = 0; place < streams.size(); ++place) {
            const std::size_t index = m_state.stack->push(streams[place]);
            m_state.values[step.inputs[place]] = {m_state.stack->entry(index), index, step.stack};
        }
    }

    void mix(const DepthStep& step)
    {
        alterStreams(step);
        const std::vector<at::Tensor> values = inputsOf(step);
        MixInputs inputs{values,
                         {},
                         {},
                         step.base ? value(*step.base) : at::Tensor(),
                         step.newest ? value(*step.newest) : at::Tensor()};
        for (std::size_t place = 0; place < step.inputs.size(); ++place) {
            if (const std::optional<std::size_t> entry = m_state.values[step.inputs[place]].entry) {
                inputs.places.push_back(place);
                inputs.entries.push_back(*entry);
            }
        }
        if (m_pass.alteration && !m_pass.alteration->factors.empty()) {
            addFactors(step, *m_pass.alteration, inputs);
        }
        if (m_wiring.m_hasStreams && step.row % 2 != 0) {
            inputs.following = rowAfter(step);
        }
        set(step, m_wiring.m_rule->mix(step, inputs, m_state.stack ? &*m_state.stack : nullptr));
    }

    /// Returns the row of the mix that follows `step` in this pass; nullopt if only one of the two records gradients.
    [[nodiscard]] std::optional<std::size_t> rowAfter(const DepthStep& step) const
    {
        const std::vector<DepthStep>& steps = m_wiring.m_program.steps;
        const auto next = std::find_if(steps.begin() + (&step - steps.data()) + 1, steps.end(),
                                       [&](const DepthStep& s) { return s.kind == DepthStepKind::Mix && isRun(s); });
        const bool together = next != steps.end() && hasGradient(*next) == hasGradient(step);
        return together ? std::optional(next->row) : std::nullopt;
    }

    static void addFactors(const DepthStep& step, const projects::Alteration& alteration, MixInputs& inputs)
    {
        const auto first = alteration.factors.lower_bound(step.firstTerm);
        const auto last = alteration.factors.lower_bound(step.firstTerm + step.outputs * step.inputs.size());
        for (auto term = first; term != last; ++term) {
            const std::size_t place = (term->first - step.firstTerm) % step.inputs.size();
            const std::size_t output = (term->first - step.firstTerm) / step.inputs.size();
            if (alteration.renormalises) { // all outputs have the same factor
                inputs.before.resize(step.inputs.size(), 1);
                inputs.before[place] = term->second;
                continue;
            }
            const auto present = std::ranges::lower_bound(inputs.places, place);
            if (present != inputs.places.end() && *present == place) {
                const std::size_t entry = inputs.entries[static_cast<std::size_t>(present - inputs.places.begin())];
                inputs.factors.try_emplace(entry, step.outputs, 1).first->second[output] = term->second;
            }
        }
    }

    LayerWiring& m_wiring;
    const at::Tensor& m_input;
    const Pass& m_pass;
    DepthState m_state;
    bool m_recordsGradients; ///< outside modules without gradients
    VisitBorders m_borders;  ///< of the probed loop, unless its visits have steps
    at::Tensor m_start;      ///< the state that the first visit of the probed loop reads
};

LayerWiring::LayerWiring(DepthProgram program, LayerStack layers, std::unique_ptr<DepthRule> rule, LoopRule loops,
                         const Compute& compute)
    : m_program(std::move(program)),
      m_layers(std::move(layers)),
      m_rule(std::move(rule)),
      m_loops(std::move(loops)),
      m_compute(compute)
{
    keepExits({});
}

void LayerWiring::keepExits(const std::vector<std::int64_t>& layers)
{
    m_exits.clear();
    std::vector<std::size_t> kept{m_program.result};
    for (const std::int64_t layer : layers) {
        const std::size_t value = m_program.residuals.at(static_cast<std::size_t>(layer - 1));
        const std::int64_t last = layer * (m_program.modules / m_program.layers);
        const auto leave = std::ranges::find_if(m_program.steps, [last](const DepthStep& step) {
            return step.kind == DepthStepKind::Leave && step.visit.lastModule == last;
        });
        m_exits.push_back({value, leave == m_program.steps.end() ? std::nullopt : std::optional(leave->visit)});
        kept.push_back(value);
    }
    m_lastUses = lastUsesIn(m_program, kept);
    m_sums = sumsIn(m_program, kept);
}

std::vector<std::optional<LayerWiring::Sum>> LayerWiring::sumsIn(const DepthProgram& program,
                                                                 const std::vector<std::size_t>& kept)
{
    std::vector<std::size_t> reads(program.values); // of each value: the steps that read it
    std::vector<std::size_t> last(program.values);  // of each value: the last of them
    for (std::size_t number = 0; number < program.steps.size(); ++number) {
        std::vector<std::size_t> read = readBy(program.steps[number]);
        std::ranges::sort(read);
        const auto repeated = std::ranges::unique(read);
        read.erase(repeated.begin(), repeated.end());
        for (const std::size_t value : read) {
            ++reads[value];
            last[value] = number;
        }
    }
    for (const std::size_t value : kept) {
        ++reads[value];
        last[value] = program.steps.size();
    }
    std::vector<std::optional<Sum>> sums(program.steps.size());
    std::size_t run = 0; // the last step that runs a module
    for (std::size_t number = 0; number < program.steps.size(); ++number) {
        const DepthStep& step = program.steps[number];
        const DepthStep& module = program.steps[run];
        if (step.kind == DepthStepKind::Run) {
            run = number;
        } else if (step.kind == DepthStepKind::Add && module.kind == DepthStepKind::Run &&
                   step.module == module.module && step.inputs[1] == module.output &&
                   std::ranges::count(module.inputs, step.inputs[0]) == std::ssize(module.inputs)) {
            sums[run] = Sum{step.output, reads[module.output] > 1, last[step.inputs[0]] == number};
        }
    }
    return sums;
}

Result<std::unique_ptr<LayerWiring>> LayerWiring::create(const projects::Stack& stack, LayerStack layers,
                                                         InitPlan& plan)
{
    const projects::Wiring& wiring = stack.topology.wiring;
    auto rule =
        RESIDUA_TRY(std::visit([&](const auto& value) { return makeRule(value, layers, stack.width, plan); }, wiring));
    LoopRule loops(stack, plan);
    std::unique_ptr<LayerWiring> made(new LayerWiring(projects::programOf(stack), std::move(layers), std::move(rule),
                                                      std::move(loops), plan.compute()));
    made->m_hasStreams = std::holds_alternative<projects::MultiStream>(wiring);
    RESIDUA_TRY(made->matchPorts(stack));
    return made;
}

Status LayerWiring::matchPorts(const projects::Stack& stack)
{
    for (std::size_t module = 0; module < m_layers.size(); ++module) {
        std::vector<std::size_t>& mixes = m_ports.emplace_back();
        for (const std::string& name : m_layers.inputPorts(module)) {
            const projects::MixPort port = projects::mixPortFrom(name).value_or(projects::MixPort::Input);
            const std::optional<std::size_t> mix = projects::mixFor(m_program.ports, port);
            if (!mix) {
                const std::string place = projects::readerName(std::get<projects::DepthMix>(stack.topology.wiring),
                                                               stack, static_cast<std::int64_t>(module) + 1);
                return Error{place, "the topology feeds q, k and v apart, but the block has the port " + name};
            }
            mixes.push_back(*mix);
        }
    }
    return Done{};
}

/// Returns the first step whose result can differ. A module that joins halves of two layers counts as the first one's.
std::size_t LayerWiring::firstChange(const projects::Alteration& alteration) const
{
    if (alteration.renormalises || !alteration.visits.empty()) {
        return 0; // a softmax over targets changes the weights of other readers; visits may be fewer or more
    }
    const std::int64_t perLayer = m_program.sites == projects::MixSites::Both ? 2 : 1;
    std::int64_t module = m_program.modules + 2; // after the exit
    for (const projects::FilledStreams& fill : alteration.fills) {
        module = std::min(module, fill.first + 1);
    }
    for (const projects::ReplacedTransitions& replaced : alteration.transitions) {
        module = std::min(module, replaced.first);
    }
    for (const auto& [layer, part] : alteration.off) {
        const std::int64_t first = projects::firstModule(layer, perLayer);
        module = std::min(module, m_program.sites == projects::MixSites::Ffn ? first - 1 : first);
    }
    for (std::size_t number = 0; number < m_program.steps.size(); ++number) {
        const DepthStep& step = m_program.steps[number];
        const bool weighs = step.kind == DepthStepKind::Mix || step.kind == DepthStepKind::Join;
        const auto term = weighs ? alteration.factors.lower_bound(step.firstTerm) : alteration.factors.end();
        const std::size_t past = step.firstTerm + step.outputs * step.inputs.size();
        if (step.module >= module || (term != alteration.factors.end() && term->first < past)) {
            return number;
        }
    }
    return m_program.steps.size();
}

Residual LayerWiring::run(const at::Tensor& input, const Pass& pass, std::vector<at::Tensor>* exits)
{
    m_rule->begin(pass);
    const bool altered = pass.alteration && !pass.alteration->empty();
    const bool restarts = pass.borders != nullptr && m_rule->restarts();
    const auto* const border = restarts && altered ? pass.borders->before(firstChange(*pass.alteration)) : nullptr;
    Running running =
        border != nullptr ? Running(*this, input, pass, border->second.copy()) : Running(*this, input, pass);
    std::int64_t module = 0;
    for (std::size_t step = border != nullptr ? border->first : 0; step < m_program.steps.size(); ++step) {
        if (restarts && !pass.alteration && m_program.steps[step].module != module) {
            pass.borders->keep(step, running.state());
        }
        module = m_program.steps[step].module;
        running.probe(step);
        running.run(step);
        running.release(m_lastUses[step]);
    }
    running.probe(m_program.steps.size());
    m_rule->end();
    for (std::size_t i = 0; exits != nullptr && i < m_exits.size(); ++i) {
        const at::Tensor state = running.sum(m_exits[i].value);
        exits->push_back(m_exits[i].visit ? m_loops.left(*m_exits[i].visit, state) : state);
    }
    return running.residual(m_program.result);
}

} // namespace residua::engine
