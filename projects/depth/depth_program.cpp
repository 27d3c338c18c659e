// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_program.h"

#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace residua::projects {
namespace {

using Values = std::vector<std::size_t>;

/// Compiles one alternative of Wiring per call operator. m_x is the residual: the output of the last module so far.
class DepthCompiler {
public:
    DepthCompiler(const Stack& stack, std::vector<LoopVisit> loops, const std::function<void(DepthStep&&)>& visit)
        : m_visit(visit), m_loops(std::move(loops)), m_rowLayers(rowLayersOf(stack))
    {
        const Wiring& wiring = stack.topology.wiring;
        const std::int64_t layers = stack.depth();
        m_perLayer = modulesIn(wiring, 1);
        m_hasOneResidual = hasOneResidual(wiring);
        m_residual = postNormFactors(stack).residual;
        m_program.layers = layers;
        m_program.modules = modulesIn(wiring, layers);
        m_program.sites = sitesOf(wiring);
        m_program.ports = portsOf(MixPorts::Input);
        m_x = only(DepthStepKind::Enter, {});
    }

    void operator()(const DepthMix& mix)
    {
        if (isRunningSum(mix)) {
            addUp(mix);
            return;
        }
        m_program.ports = portsOf(mix.ports);
        m_x = m_newest = only(DepthStepKind::Store, {m_x});
        m_entries = {m_x};
        for (m_module = 1; m_module <= m_program.modules; ++m_module) {
            const DepthReader reader = readerOf(mix, m_module, m_program.modules);
            if (beginVisit()) {
                replaceNewest();
            }
            mix.feeds == MixFeeds::LayerInput ? runOnMix(mix, reader) : runBeside(mix, reader);
            if (endVisit()) {
                replaceNewest();
            }
            noteResidual();
        }
        if (const DepthReader reader = readerOf(mix, m_module, m_program.modules); mix.finalMix && !reader.passes) {
            m_x = mixOf(mix, reader).front();
        }
    }

    void operator()(const MultiStream& wiring)
    {
        const auto n = static_cast<std::size_t>(wiring.streams);
        const bool isCut = wiring.state == StreamState::Fractions;
        m_program.parts = isCut ? n : 1;
        Values streams = isCut ? split(m_x) : Values(n, m_x);
        for (m_module = 1; m_module <= m_program.modules; ++m_module, ++m_stack) {
            m_skips = true;
            Values entries = stored(streams);
            const std::size_t read = merged(mixed(entries, 2 * row(), m_program.parts));
            std::ranges::copy(stored(split(only(DepthStepKind::Run, {read}))), std::back_inserter(entries));
            streams = mixed(std::move(entries), 2 * row() + 1, n);
            m_skips = false;
        }
        m_x = isCut ? merged(streams) : mixed(stored(streams), 2 * row(), 1).front();
    }

    void operator()(const BranchGate& wiring)
    {
        const bool mixes = traitsOf(wiring.gate).maps == LaurelMaps::Previous;
        m_entries = mixes ? stored({m_x}) : Values();
        for (m_module = 1; m_module <= m_program.modules; ++m_module) {
            if (beginVisit() && mixes) {
                m_entries.back() = only(DepthStepKind::Store, {m_x});
            }
            Values inputs{m_x, only(DepthStepKind::Run, {m_x})};
            if (wiring.gate == BranchGateKind::ValueResidual) {
                m_x = only(DepthStepKind::Add, std::move(inputs));
                endVisit();
                noteResidual();
                continue;
            }
            m_skips = true;
            if (mixes) {
                const auto latest = m_entries.end() - std::min(wiring.window, rowModule());
                inputs.push_back(mixed({latest, m_entries.end()}, row(), 1).front());
            }
            m_x = joined(std::move(inputs));
            m_step->residual = m_residual;
            m_skips = false;
            endVisit();
            noteResidual();
            if (mixes && m_module < m_program.modules) {
                m_x = m_entries.emplace_back(only(DepthStepKind::Store, {m_x}));
            }
        }
    }

    void operator()(const Concatenation& /*wiring*/)
    {
        m_entries = {m_x};
        for (m_module = 1; m_module <= m_program.modules; ++m_module) {
            m_skips = true;
            const std::size_t read = joined(m_entries);
            m_entries.push_back(only(DepthStepKind::Run, {read}));
            m_skips = false;
        }
        m_x = joined(m_entries);
    }

    DepthProgram finish()
    {
        flush();
        m_program.result = m_x;
        return std::move(m_program);
    }

private:
    /// Returns the number of the module, or K + 1 for the output, in rowStackOf().
    [[nodiscard]] std::int64_t rowModule() const
    {
        const std::int64_t layers = m_program.layers;
        if (layers == 0 || m_module == 0) {
            return 1;
        }
        const std::int64_t layer = std::min((m_module - 1) / m_perLayer, layers - 1); // from 0
        return m_module + (m_rowLayers[static_cast<std::size_t>(layer)] - layer - 1) * m_perLayer;
    }
    /// Returns the index of the module's row, or of the output's.
    [[nodiscard]] std::size_t row() const { return static_cast<std::size_t>(rowModule()) - 1; }

    /// Appends a step and returns its outputs.
    Values outputsOf(DepthStepKind kind, Values inputs, std::size_t outputs)
    {
        Values made(outputs);
        std::iota(made.begin(), made.end(), m_program.values);
        const bool weighs = kind == DepthStepKind::Mix || kind == DepthStepKind::Join;
        const std::size_t terms = weighs ? inputs.size() * outputs : 0;
        flush();
        m_step = {kind, std::move(inputs), m_program.values, outputs, m_module, row(), m_program.terms, {},
                  {},   m_skips,           m_stack,          1,       {}};
        m_program.terms += terms;
        m_program.values += outputs;
        return made;
    }
    void flush()
    {
        if (m_step) {
            m_visit(*std::exchange(m_step, std::nullopt));
        }
    }
    std::size_t only(DepthStepKind kind, Values inputs) { return outputsOf(kind, std::move(inputs), 1).front(); }
    std::size_t joined(Values inputs) { return only(DepthStepKind::Join, std::move(inputs)); }
    Values mixed(Values entries, std::size_t row, std::size_t outputs)
    {
        Values made = outputsOf(DepthStepKind::Mix, std::move(entries), outputs);
        m_step->row = row;
        return made;
    }
    Values stored(const Values& values)
    {
        Values made;
        std::ranges::transform(values, std::back_inserter(made),
                               [this](std::size_t value) { return only(DepthStepKind::Store, {value}); });
        return made;
    }
    Values split(std::size_t whole)
    {
        return m_program.parts == 1 ? Values{whole} : outputsOf(DepthStepKind::Split, {whole}, m_program.parts);
    }
    std::size_t merged(const Values& parts)
    {
        return parts.size() == 1 ? parts.front() : only(DepthStepKind::Merge, parts);
    }

    /// Appends the begin of a visit if the module is its first one. The residual then is another value. Returns false
    /// if it is not.
    bool beginVisit()
    {
        const auto visit = std::ranges::find(m_loops, m_module, &LoopVisit::firstModule);
        if (visit == m_loops.end()) {
            return false;
        }
        m_loopInput = visit->visit == 1 ? m_x : m_loopInput;
        m_streams = m_x;
        m_x = m_visitInput = only(DepthStepKind::Visit, {m_x, m_loopInput});
        m_step->visit = *visit;
        return true;
    }
    /// Appends the end of a visit if the module is its last one.
    bool endVisit()
    {
        const auto visit = std::ranges::find(m_loops, m_module, &LoopVisit::lastModule);
        if (visit == m_loops.end()) {
            return false;
        }
        m_x = only(DepthStepKind::Leave,
                   visit->hasStreams ? Values{m_x, m_visitInput, m_streams} : Values{m_x, m_visitInput});
        m_step->visit = *visit;
        return true;
    }
    /// Makes the residual that after the layer whose last module has run.
    void noteResidual()
    {
        if (m_hasOneResidual && m_module % m_perLayer == 0) {
            m_program.residuals.push_back(m_x);
        }
    }
    /// Makes the residual the newest entry, which is a full output.
    void replaceNewest() { m_x = m_newest = m_entries.back() = only(DepthStepKind::Store, {m_x}); }

    /// Appends the mix of a reader. Adds to a summed middle the entries that have become part of it.
    Values mixOf(const DepthMix& mix, const DepthReader& reader, std::optional<std::size_t> base = {})
    {
        Values entries;
        for (const std::int64_t source : reader.sources) {
            const bool isMiddle = reader.middle && source == reader.middle->first;
            entries.push_back(isMiddle ? middleOf(*reader.middle) : m_entries[static_cast<std::size_t>(source)]);
        }
        Values mixes = mixed(std::move(entries), static_cast<std::size_t>(reader.target) - 1,
                             static_cast<std::size_t>(reader.outputs));
        m_step->base = base;
        m_step->newest = traitsOf(mix.weight).readsNewest ? std::optional(m_newest) : std::nullopt;
        return mixes;
    }
    std::size_t middleOf(const EntryRange& range)
    {
        if (m_summed < range.first) {
            m_middle = m_entries[static_cast<std::size_t>(range.first)];
            m_summed = range.first;
        }
        const bool skips = std::exchange(m_skips, false);
        while (m_summed < range.last) {
            const std::size_t next = m_entries[static_cast<std::size_t>(++m_summed)];
            m_middle = only(DepthStepKind::Store, {only(DepthStepKind::Add, {m_middle, next})});
        }
        m_skips = skips;
        return m_middle;
    }

    /// Stores the output of the module as its entry, or adds it to the entry that the module shares.
    void put(const DepthMix& mix, std::size_t value)
    {
        const auto number = static_cast<std::size_t>(stackEntryOf(mix, m_module));
        const bool shares = number < m_entries.size();
        const std::size_t entry =
            only(DepthStepKind::Store, {shares ? only(DepthStepKind::Add, {m_entries[number], value}) : value});
        m_entries.resize(number + 1);
        m_entries[number] = entry;
        m_x = mix.entry == StackEntry::Full ? entry : m_x;
        // A branch is absent if the pass leaves its module out.
        const bool asksForNewest = traitsOf(mix.weight).readsNewest || mix.feeds == MixFeeds::ResidualBesideBranch;
        m_newest =
            mix.entry == StackEntry::Full || !asksForNewest ? entry : only(DepthStepKind::Newest, {m_newest, entry});
    }

    /// The module reads mixes (DCA §3.1, DenseFormer).
    void runOnMix(const DepthMix& mix, const DepthReader& reader)
    {
        const bool continues = mix.entry == StackEntry::Full || (m_module == m_program.modules && !mix.finalMix);
        m_skips = !continues;
        const Values read = reader.passes ? Values(m_program.ports.size(), m_newest) : mixOf(mix, reader);
        m_skips = false;
        const std::size_t branch = only(DepthStepKind::Run, read);
        if (continues) {
            m_x = only(DepthStepKind::Add, {read[mixFor(m_program.ports, MixPort::Residual).value_or(0)], branch});
        }
        put(mix, mix.entry == StackEntry::Full ? m_x : branch);
    }

    /// The module reads the output of the one before, and the mix is added to its branch (ANCRe eq. 5), with two
    /// families also the branch of the module before.
    void runBeside(const DepthMix& mix, const DepthReader& reader)
    {
        const std::size_t branch = only(DepthStepKind::Run, {m_x});
        if (reader.passes) {
            m_program.terms += static_cast<std::size_t>(reader.terms()); // of a middle that no mix reads
            m_x = only(DepthStepKind::Add, {m_newest, branch});
        } else {
            const bool twoArrive = hasTwoFamilies(mix) && m_module > 1;
            m_x = mixOf(mix, reader, twoArrive ? only(DepthStepKind::Add, {m_before, branch}) : branch).front();
        }
        m_before = branch;
        put(mix, mix.entry == StackEntry::Full ? m_x : branch);
    }

    void addUp(const DepthMix& mix)
    {
        m_entries = {m_x};
        for (m_module = 1; m_module <= m_program.modules; ++m_module) {
            beginVisit();
            const std::size_t branch = only(DepthStepKind::Run, {withShortcuts(mix)});
            m_entries.push_back(branch);
            m_x = only(DepthStepKind::Add, {m_x, branch});
            endVisit();
            noteResidual();
        }
        m_x = mix.finalMix ? withShortcuts(mix) : m_x;
    }

    /// Returns the running sum plus the learned shortcuts to the module.
    std::size_t withShortcuts(const DepthMix& mix)
    {
        Values entries;
        for (auto state = mix.states.lower_bound({0, m_module});
             state != mix.states.end() && state->first.target == m_module; ++state) {
            entries.push_back(m_entries[static_cast<std::size_t>(state->first.source)]);
        }
        if (entries.empty()) {
            return m_x;
        }
        const std::size_t read = mixed(std::move(entries), row(), 1).front();
        m_step->base = m_x;
        return read;
    }

    const std::function<void(DepthStep&&)>& m_visit;
    std::vector<LoopVisit> m_loops;
    std::vector<std::int64_t> m_rowLayers;
    std::int64_t m_perLayer = 1;
    bool m_hasOneResidual = false;
    DepthProgram m_program;
    std::optional<DepthStep> m_step; ///< the last step, which may still change
    std::int64_t m_module = 0;
    bool m_skips = false; ///< DepthStep::skips of the steps to come
    std::size_t m_stack = 0;
    std::size_t m_x = 0;
    Values m_entries;
    std::size_t m_newest = 0; ///< entry
    std::size_t m_before = 0; ///< branch of the module before
    std::size_t m_middle = 0; ///< sum of the entries 1 to m_summed
    std::int64_t m_summed = 0;
    std::size_t m_loopInput = 0;
    std::size_t m_visitInput = 0;
    std::size_t m_streams = 0; ///< the residual before the visit
    double m_residual = 1;     ///< DepthStep::residual
};

/// Returns the visits of the loops that change the residual.
std::vector<LoopVisit> visitsOf(const Stack& stack)
{
    std::vector<LoopVisit> visits;
    const std::int64_t perLayer = modulesIn(stack.topology.wiring, 1);
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const Loop& loop = stack.loops[i];
        for (std::int64_t visit = 1; changesState(loop) && stack.isSound(i) && visit <= loop.visits; ++visit) {
            visits.push_back({i, visit, (stack.numberOf({loop.first, visit}) - 1) * perLayer + 1,
                              stack.numberOf({loop.last, visit}) * perLayer, loop.streams != LoopStreams::None});
        }
    }
    return visits;
}

Stack stackOf(const Wiring& wiring, std::int64_t layers)
{
    Stack stack;
    stack.segments = {{{}, layers}};
    stack.topology.wiring = wiring;
    return stack;
}

} // namespace

DepthProgram programOf(const Stack& stack)
{
    std::vector<DepthStep> steps;
    DepthProgram program = visitSteps(stack, [&](DepthStep&& step) { steps.push_back(std::move(step)); });
    program.steps = std::move(steps);
    return program;
}

DepthProgram programOf(const Wiring& wiring, std::int64_t layers)
{
    return programOf(stackOf(wiring, layers));
}

DepthProgram visitSteps(const Stack& stack, const std::function<void(DepthStep&&)>& visit)
{
    DepthCompiler compiler(stack, visitsOf(stack), visit);
    std::visit(compiler, stack.topology.wiring);
    return compiler.finish();
}

DepthProgram visitSteps(const Wiring& wiring, std::int64_t layers, const std::function<void(DepthStep&&)>& visit)
{
    return visitSteps(stackOf(wiring, layers), visit);
}

bool hasOneResidual(const Wiring& wiring)
{
    if (sitesOf(wiring) == MixSites::Ffn) {
        return false; // a module joins the halves of two layers
    }
    if (const auto* const mix = std::get_if<DepthMix>(&wiring)) {
        return isRunningSum(*mix) || (mix->entry == StackEntry::Full && mix->blockLayers == 1 && !hasTwoFamilies(*mix));
    }
    return std::holds_alternative<BranchGate>(wiring);
}

} // namespace residua::projects
