// SPDX-License-Identifier: GPL-3.0-or-later
// The code of a depth mix: its tables, parameters and weights, and the loop over the layers.
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/depth/shared_mix.h"
#include "projects/depth/stream_start.h"
#include "projects/pytorch/topology_code.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

/// Writes the class of a depth mix. The table SOURCES lists the sources of each reader; the code of
/// the weights depends on their kind.
class MixWriter {
public:
    MixWriter(const TopologySetting& setting, const DepthMix& mix)
        : m_setting(setting),
          m_mix(mix),
          m_present(stackEntryOf(mix, mixedModules(mix, setting.present))),
          m_plan(readPlan()),
          m_mixes(static_cast<std::int64_t>(m_plan.ports.size())),
          m_ofTokens(traitsOf(mix.weight).isPerToken),
          m_gated(mix.gate.kind != GateKind::None)
    {
    }

    TopologyCode write();

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }
    [[nodiscard]] bool besides() const { return m_mix.feeds == MixFeeds::ResidualBesideBranch; }
    [[nodiscard]] bool isFull() const { return m_mix.entry == StackEntry::Full; }
    /// True if each reader has one mix.
    [[nodiscard]] bool isSingle() const { return m_mixes == 1; }
    /// Returns the names of a term's parts in a comprehension over TERMS.
    [[nodiscard]] std::string parts(const char* reader, const char* source) const
    {
        return std::string(reader) + (isSingle() ? ", " : ", _, ") + source;
    }
    [[nodiscard]] bool gatesEntries() const { return m_gated && m_mix.gate.vectors == GateVectors::PerEntry; }
    [[nodiscard]] bool hasMiddle() const
    {
        return std::ranges::any_of(m_plan.readers, [](const DepthReader& r) { return r.middle.has_value(); });
    }
    [[nodiscard]] bool isLearned() const { return m_mix.weight != WeightKind::Fixed || !ownWeights().empty(); }
    [[nodiscard]] std::string finalReader() const { return written(m_plan.modules + 1); }
    /// Lists the shortcuts in this state that are read: "(0, 2), (1, 2)".
    [[nodiscard]] std::string shortcutsIn(ShortcutState::Kind kind) const
    {
        return shortcutsWith([&](const Shortcut& shortcut) { return hasState(m_mix, shortcut, kind); });
    }
    [[nodiscard]] std::string shortcutsWith(const std::function<bool(const Shortcut&)>& wanted) const;
    [[nodiscard]] std::string ownWeights() const
    {
        return shortcutsWith([this](const Shortcut& shortcut) { return hasOwnWeight(m_mix, shortcut); });
    }
    /// True if some parameters of shortcuts are frozen.
    [[nodiscard]] bool holdsOwn() const
    {
        return !shortcutsWith([this](const Shortcut& shortcut) {
                    return hasOwnWeight(m_mix, shortcut) && hasState(m_mix, shortcut, ShortcutState::Frozen);
                }).empty();
    }
    /// Lists the shortcuts that are frozen at a number of the document: "(0, 2): 0.25".
    [[nodiscard]] std::string heldNumbers() const;
    [[nodiscard]] bool hasFrozen() const
    {
        return !shortcutsIn(ShortcutState::Frozen).empty() && (m_gated || isLearned());
    }

    /// Writes a dictionary with a line for each reader whose text is not empty.
    void writeTable(const std::string& name, const std::function<std::string(const DepthReader&)>& textOf);
    void writeTables();
    void writeParameters();
    /// Writes the tensors that the coefficients start from, and returns their start.
    std::string writeStart();
    /// Returns the start of coefficients that visits share.
    [[nodiscard]] std::string sharedStart() const;
    void writePerceptrons();
    void writeWeights();
    /// Writes a softmax on a grid of readers and entries, with −∞ for pairs without a shortcut.
    void writeSoftmaxOverReaders();
    /// Writes a method's result: the part of `all` of each mix, or the softmax of that.
    void writeRows(const std::string& all, bool softmax = false);
    void writeGates();
    void writeRegulariser();

    [[nodiscard]] std::string overTau() const
    {
        return m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature);
    }
    /// True if the method mix() computes one of several mixes of a reader.
    [[nodiscard]] bool takesPort() const { return !isSingle() && !traitsOf(m_mix.weight).readsNewest; }
    /// True if layers that are not in the export have zeros in the stack. Else each is replaced by a branch of zeros,
    /// because full outputs and the residual beside a branch pass through it.
    [[nodiscard]] bool fillsStack() const { return !isFull() && !besides() && m_mix.finalMix; }
    /// Returns the number of the newest entry before reader j, as an expression.
    [[nodiscard]] std::string newest() const;
    [[nodiscard]] std::string mixArguments() const
    {
        return m_ofTokens ? "" : gatesEntries() ? ", weights, gates" : ", weights";
    }

    void writeMix();
    void writeTokenMix();

    /// Returns the plan. An attention over branches does not read those of layers that are not in the export.
    [[nodiscard]] DepthPlan readPlan() const;
    /// Returns what a reader reads: a mix, or a list of mixes.
    [[nodiscard]] std::string readOf(const std::string& reader, bool isFinal = false) const;
    void growMiddle(const std::string& reader);
    void writeForward();
    /// Returns the mix that the residual of a layer is, of the variable `read`.
    [[nodiscard]] std::string residual() const;
    void writeOnMix();
    void writeBeside(bool families);
    void writeResult();

    const TopologySetting& m_setting;
    const DepthMix& m_mix;
    const std::int64_t m_present; ///< the last entry that layers in the export make
    const DepthPlan m_plan;
    const std::int64_t m_mixes; ///< per layer
    const bool m_ofTokens;      ///< true if weights are computed for each token
    const bool m_gated;
    TopologyCode m_code;
};

TopologyCode MixWriter::write()
{
    writeTables();
    beginTopology(m_setting, m_code.text, wordsOf(m_mix, m_plan));
    m_code.beginInit();
    writeParameters();
    if (!m_ofTokens) {
        writeWeights();
    }
    if (m_gated) {
        writeGates();
    }
    if (m_mix.tsallis.weight != 0) {
        writeRegulariser();
    }
    writeMix();
    writeForward();
    return std::move(m_code);
}

std::string MixWriter::shortcutsWith(const std::function<bool(const Shortcut&)>& wanted) const
{
    std::vector<std::string> parts;
    for (const DepthReader& reader : m_plan.readers) {
        for (const std::int64_t source : reader.sources) {
            if (const Shortcut shortcut{source, reader.target}; wanted(shortcut)) {
                parts.push_back(pairText(shortcut));
            }
        }
    }
    return joinedText(parts);
}

std::string MixWriter::heldNumbers() const
{
    std::vector<std::string> parts;
    for (const auto& [shortcut, state] : m_mix.states) {
        if (state.hold == ShortcutState::Hold::Number) {
            parts.push_back(pairText(shortcut) + ": " + pythonReal(state.number));
        }
    }
    return joinedText(parts);
}

DepthPlan MixWriter::readPlan() const
{
    DepthPlan plan = planOf(m_mix, m_setting.layers);
    for (DepthReader& reader : plan.readers) {
        if (traitsOf(m_mix.weight).attends && !isFull() && !reader.sources.empty() &&
            reader.sources.front() <= m_present) {
            std::erase_if(reader.sources, [this](std::int64_t source) { return source > m_present; });
        }
    }
    return plan;
}

std::string MixWriter::newest() const
{
    const std::string each = written(m_mix.blockLayers);
    const std::string entry =
        m_mix.blockLayers == 1 ? "j - 1" : "(j + " + written(m_mix.blockLayers - 2) + ") // " + each;
    return m_setting.lacksLayers() && !isFull() ? "min(" + entry + ", " + written(m_present) + ")" : entry;
}

void MixWriter::writeTable(const std::string& name, const std::function<std::string(const DepthReader&)>& textOf)
{
    out().line(name + " = {");
    for (const DepthReader& reader : m_plan.readers) {
        if (const std::string text = textOf(reader); !text.empty()) {
            out().lines("    %1: %2,", {written(reader.target), text});
        }
    }
    out().line("}");
}

void MixWriter::writeTables()
{
    out().comment("The entries of the stack that each reader weighs, by the reader's number: the layers, and " +
                  std::string(m_mix.finalMix ? "as " + finalReader() + " the final output." : "no other."));
    const auto readsAll = [](const DepthReader& reader) {
        return static_cast<std::int64_t>(reader.sources.size()) == reader.target;
    };
    if (std::ranges::all_of(m_plan.readers, readsAll)) {
        out().line("SOURCES = {j: range(j) for j in range(1, " +
                   written(static_cast<std::int64_t>(m_plan.readers.size()) + 1) + ")}");
    } else {
        writeTable("SOURCES", [](const DepthReader& reader) { return sequenceText(reader.sources); });
    }
    if (hasMiddle()) {
        out().comment("For these readers entry 1 stands for the sum of the entries from 1 to that one.");
        writeTable("MIDDLE",
                   [](const DepthReader& reader) { return reader.middle ? written(reader.middle->last) : ""; });
    }
    if (!m_ofTokens && !isSingle()) {
        out().comment("Every mix: its reader, and which of the reader's mixes it is.");
        out().line("MIXES = [(j, o) for j in SOURCES for o in range(" + written(m_mixes) +
                   (m_mix.finalMix ? " if j <= " + written(m_plan.modules) + " else 1" : "") + ")]");
    }
    if (!m_ofTokens) {
        out().comment(isSingle() ? "Every weight: its reader and its source."
                                 : "Every weight: its mix and its source.");
        out().line(isSingle() ? "TERMS = [(j, i) for j in SOURCES for i in SOURCES[j]]"
                              : "TERMS = [(j, o, i) for j, o in MIXES for i in SOURCES[j]]");
    }
    if (hasFrozen()) {
        out().comment("Shortcuts i:j whose weights keep their values.");
        out().line("FROZEN = {" + shortcutsIn(ShortcutState::Frozen) + "}");
    }
    if (const std::string numbers = heldNumbers(); !m_ofTokens && !numbers.empty()) {
        out().comment("The values that some of them keep.");
        out().line("HELD = {" + numbers + "}");
    }
    if (m_mix.weight == WeightKind::Fixed && isLearned()) {
        out().comment("Shortcuts i:j whose weights are learned; all others are fixed.");
        out().line("LEARNED = {" + ownWeights() + "}");
    }
    if (m_setting.sharesMix() && isLearned()) {
        out().comment(m_ofTokens ? "The row of each mix, which visits share."
                                 : "The row of each weight, which visits share.");
        out().line("ROWS = " + repeatingText(sharedRows(m_setting.project.stack())));
    }
    out().line();
    out().line();
}

void MixWriter::writeParameters()
{
    std::map<std::string, std::string> starts;
    if (m_mix.weight == WeightKind::PerToken) {
        writePerceptrons();
    } else if (!m_ofTokens) {
        starts["coefficient"] = writeStart();
    }
    m_code.parameters(m_setting, starts);
}

std::string MixWriter::sharedStart() const
{
    const auto starts = mapped<std::int64_t>(sharedTerms(m_setting.project.stack()),
                                             [](const SharedTerm& term) { return std::llround(term.start); });
    return "torch.tensor(" + repeatingText(starts) + ").float()" +
           (traitsOf(m_mix.weight).isPerFeature ? ".unsqueeze(1).repeat(1, " + written(m_setting.width()) + ")" : "");
}

std::string MixWriter::writeStart()
{
    if (m_setting.sharesMix() && m_mix.weight != WeightKind::Fixed) {
        return sharedStart();
    }
    const StartLaw& law = startLaw(m_mix.init);
    const std::string names = law.ofReader ? parts("j", law.ofSource ? "i" : "_") : "_";
    std::string values = "[" + std::string(law.python) + " for " + names + " in TERMS]";
    if (!heldNumbers().empty()) {
        values = "[HELD.get((i, j), " + std::string(law.python) + ") for " + parts("j", "i") + " in TERMS]";
    }
    if (m_mix.weight == WeightKind::Fixed) {
        out().lines(R"(
fixed = torch.tensor(%1, dtype=torch.float64)
%2
self.register_buffer("fixed", fixed, persistent=False)
%3)",
                    {values,
                     isLearned() ? "learned = torch.tensor([t for t, (" + parts("j", "i") +
                                       ") in enumerate(TERMS) if (i, j) in LEARNED])"
                                 : "",
                     isLearned() ? "self.register_buffer(\"learned\", learned, persistent=False)" : ""});
        if (holdsOwn()) {
            out().lines(R"(
frozen = torch.tensor([(i, j) in FROZEN for %1 in TERMS])[learned]
self.register_buffer("frozen", frozen, persistent=False))",
                        {parts("j", "i")});
        }
        return m_setting.sharesMix() ? sharedStart() : "fixed[learned].float()";
    }
    const bool each = traitsOf(m_mix.weight).isPerFeature;
    out().line("start = torch.tensor(" + values + ")");
    if (hasFrozen()) {
        out().lines(R"(
frozen = torch.tensor([(i, j) in FROZEN for %1 in TERMS])%2
self.register_buffer("frozen", frozen, persistent=False))",
                    {parts("j", "i"), each ? ".unsqueeze(1)" : ""});
    }
    return each ? "start.unsqueeze(1).repeat(1, " + written(m_setting.width()) + ")" : "start";
}

void MixWriter::writePerceptrons()
{
    m_setting.helpers.use(Helper::TokenWeights);
    out().comment("Hidden features and weights of the small network that makes the weights of each reader.");
    writeTable("sizes", [this](const DepthReader& reader) {
        const std::int64_t hidden = perTokenHidden(m_mix, reader.terms(), reader.target > m_plan.modules);
        return hidden > 0 ? "(" + written(hidden) + ", " + written(reader.terms()) + ")" : "";
    });
    out().lines("self.readers = nn.ModuleDict({str(j): TokenWeights(%1, *sizes[j]) for j in sizes})",
                {written(m_setting.width())});
}

void MixWriter::writeWeights()
{
    const bool fixed = m_mix.weight == WeightKind::Fixed;
    out().define("weights(self)", {std::string(m_gated ? "The weights of every mix before the gates: [sources]"
                                                       : "The weights of every mix: [sources]") +
                                   (traitsOf(m_mix.weight).isPerFeature ? ", each with its features." : ".")});
    const std::string held = "torch.where(self.frozen, self.coefficient.detach(), self.coefficient)";
    const std::string own = holdsOwn() ? held : m_setting.sharesMix() ? "self.coefficient[ROWS]" : "self.coefficient";
    const std::string c = !fixed        ? own
                          : isLearned() ? "self.fixed.to(self.coefficient).index_copy(0, self.learned, " + own + ")"
                                        : "self.fixed";
    out().line("c = " + c);
    if (m_mix.normalise == NormaliseOver::Targets) {
        writeSoftmaxOverReaders();
    }
    writeRows("c", m_mix.normalise == NormaliseOver::Sources);
}

void MixWriter::writeRows(const std::string& all, bool softmax)
{
    const std::string keys = isSingle() ? "SOURCES" : "MIXES";
    out().lines(R"(
rows = %1.split([len(%2])
return %3)",
                {all, isSingle() ? "sources) for sources in SOURCES.values()" : "SOURCES[j]) for j, _ in MIXES",
                 softmax ? "{key: torch.softmax(row" + overTau() + ", dim=0) for key, row in zip(" + keys + ", rows)}"
                         : "dict(zip(" + keys + ", rows))"});
}

void MixWriter::writeSoftmaxOverReaders()
{
    const std::string rows = written(m_plan.readers.back().target);
    out().lines(R"(
%1 = (torch.tensor(each) for each in zip(*[%2]))
grid = c.new_full((%3%4, %4, *c.shape[1:]), -math.inf)
c = grid.index_put((%1), c%5).softmax(dim=%6)[%1])",
                {isSingle() ? "j, i" : "o, j, i",
                 isSingle() ? "(j - 1, i) for j, i in TERMS" : "(o, j - 1, i) for j, o, i in TERMS",
                 isSingle() ? "" : written(m_mixes) + ", ", rows, overTau(), isSingle() ? "0" : "1"});
}

void MixWriter::writeGates()
{
    if (gatesEntries()) {
        out().define("gates(self)", {"The vectors v of every mix: [sources, features]."});
        writeRows("self.gate");
    }
    out().define("gated(self, c, v, entry)", {"The weight of an entry for each token: [..., 1] or with its features."});
    const std::string relu = m_mix.gate.reluGradAtZero == ReluGradAtZero::One ? "open_relu(" : "F.relu(";
    if (m_mix.gate.reluGradAtZero == ReluGradAtZero::One) {
        m_setting.helpers.use(Helper::OpenRelu);
    }
    const bool raw = m_mix.gate.input == GateInput::Raw;
    out().line(std::string("s = (") + (raw ? "entry" : "F.rms_norm(entry, entry.shape[-1:], eps=1e-6)") +
               " @ v).unsqueeze(-1)");
    out().line(m_mix.gate.kind == GateKind::Outside ? "return c + " + relu + "s)" : "return " + relu + "c + s)");
}

void MixWriter::writeRegulariser()
{
    const auto& [q, weight] = m_mix.tsallis;
    m_code.regularises = true;
    out().define("regulariser(self)",
                 {"The Tsallis entropy of the weights, (1 - Σ p^q) / (q - 1) of each reader, times its factor."});
    out().line("p = torch.cat([row.flatten() for row in self.weights().values()])");
    if (q == 1) {
        out().lines(R"(
p = p.clamp_min(torch.finfo(torch.float32).tiny)
return %1 * (p * p.log()).sum())",
                    {pythonReal(-weight)});
    } else {
        const auto readers = std::ranges::count_if(m_plan.readers, [](const auto& r) { return !r.sources.empty(); });
        out().lines("return %1 * (%2 - (p ** %3).sum())",
                    {pythonReal(weight / (q - 1)), written(readers), pythonReal(q)});
    }
}

void MixWriter::writeMix()
{
    out().define("mix(self, j" + std::string(takesPort() ? ", o" : "") + ", stack" + mixArguments() + ")",
                 {takesPort()  ? "Mix o of reader j."
                  : isSingle() ? "What reader j reads."
                               : "What reader j reads, one mix for each port."});
    const std::string key = isSingle() ? "j" : "j, o";
    const std::string place = isSingle() ? "j - 1" : written(m_mixes) + " * (j - 1) + o";
    switch (m_mix.weight) {
    case WeightKind::PerToken:
        writeTokenMix();
        break;
    case WeightKind::DepthAttention:
        out().lines(R"(
entries = [stack[i] for i in SOURCES[j]]
keys = torch.stack([F.rms_norm(e, e.shape[-1:], eps=1e-6) for e in entries])
v = self.query[%1] * self.norm[%1]
p = torch.softmax(keys @ v%2, dim=0).unsqueeze(-1)
return sum(w * e for w, e in zip(p, entries)))",
                    {m_setting.sharesMix() ? "ROWS[" + place + "]" : place, overTau()});
        break;
    case WeightKind::Fixed:
    case WeightKind::Scalar:
    case WeightKind::PerFeature:
        if (!m_gated) {
            out().line("return sum(w * stack[i] for w, i in zip(weights[" + key + "], SOURCES[j]))");
            break;
        }
        const std::string plain = m_mix.gate.kind == GateKind::Inside ? "F.relu(c)" : "c";
        const std::string gated = "self.gated(c, v, stack[i])";
        out().lines(R"(
%1
return sum(%2 * stack[i] for c, %3i in zip(weights[%4], %5SOURCES[j])))",
                    {gatesEntries() ? "" : "v = self.gate[" + place + "]",
                     hasFrozen() ? "(" + plain + " if (i, j) in FROZEN else " + gated + ")" : gated,
                     gatesEntries() ? "v, " : "", key, gatesEntries() ? "gates[" + key + "], " : ""});
    }
}

void MixWriter::writeTokenMix()
{
    const std::string sum = "[..., s, None] * stack[i] for s, i in enumerate(SOURCES[j]))";
    out().lines(R"(
w = self.readers[str(j)](stack[%1])%2
%3
return %4)",
                {newest(), isSingle() ? "" : ".unflatten(-1, (-1, len(SOURCES[j])))",
                 m_mix.normalise == NormaliseOver::Sources ? "w = torch.softmax(w" + overTau() + ", dim=-1)" : "",
                 isSingle() ? "sum(w" + sum : "[sum(row" + sum + " for row in w.unbind(-2)]"});
}

std::string MixWriter::readOf(const std::string& reader, bool isFinal) const
{
    const std::string port = !takesPort() ? "" : isFinal ? ", 0" : ", o";
    const std::string mix =
        "self.mix(" + reader + port + (hasMiddle() ? ", entries" : ", stack") + mixArguments() + ")";
    if (isSingle()) {
        return mix;
    }
    return isFinal       ? mix + (takesPort() ? "" : "[0]")
           : takesPort() ? "[" + mix + " for o in range(" + written(m_mixes) + ")]"
                         : mix;
}

void MixWriter::growMiddle(const std::string& reader)
{
    if (!hasMiddle()) {
        return;
    }
    out().lines(R"(
while summed < MIDDLE.get(%1, 0):
    summed += 1
    middle = middle + stack[summed]
entries = {**stack, 1: middle} if %1 in MIDDLE else stack)",
                {reader});
}

void MixWriter::writeForward()
{
    beginForward(m_setting, out());
    const std::int64_t absent = m_plan.modules - mixedModules(m_mix, m_setting.present);
    if (absent > 0 && !fillsStack()) {
        m_setting.helpers.use(Helper::Absent);
        out().line("layers = [*layers, *[absent] * " + written(absent) + "]");
    }
    out().line(startOfStack(m_present, fillsStack() ? stackEntryOf(m_mix, m_plan.modules) : m_present));
    if (!m_ofTokens) {
        out().line(gatesEntries() ? "weights, gates = self.weights(), self.gates()" : "weights = self.weights()");
    }
    const bool families = hasTwoFamilies(m_mix);
    out().lines(R"(
%1
%2
for j, layer in enumerate(layers, start=1):)",
                {hasMiddle() ? "middle, summed = 0, 0" : "", families ? "before = 0" : ""});
    out().indent();
    beginVisit(m_setting, out(), "stack[j - 1] = x");
    growMiddle("j");
    besides() ? writeBeside(families) : writeOnMix();
    endVisit(m_setting, out());
    out().lines(isFull() ? "stack[j] = x" : "");
    out().outdent();
    writeResult();
}

std::string MixWriter::residual() const
{
    const auto mix = static_cast<std::int64_t>(mixFor(m_plan.ports, MixPort::Residual).value_or(0));
    return isSingle() ? "read" : "read[" + written(mix) + "]";
}

void MixWriter::writeOnMix()
{
    const bool passes = std::ranges::any_of(m_plan.readers, &DepthReader::passes);
    out().line("read = " + readOf("j") +
               (passes ? std::string(" if SOURCES[j] else ") + (isSingle() ? "x" : "[x] * " + written(m_mixes)) : ""));
    const std::string branch = isSingle() ? "layer(read)" : "layer(*read)";
    if (isFull()) {
        out().line("x = " + residual() + " + " + branch);
    } else if (m_mix.blockLayers > 1) {
        out().lines(R"(
branch = %1
b = (j + %2) // %3
stack[b] = stack[b] + branch if b in stack else branch)",
                    {branch, written(m_mix.blockLayers - 1), written(m_mix.blockLayers)});
    } else {
        out().line("stack[j] = " + branch);
    }
}

void MixWriter::writeBeside(bool families)
{
    std::vector<std::int64_t> passing;
    for (const DepthReader& reader : m_plan.readers) {
        if (reader.passes) {
            passing.push_back(reader.target);
        }
    }
    const std::string mixed = std::string("x = ") + (families ? "before + branch" : "branch") + " + " + readOf("j");
    out().line("branch = layer(x)");
    out().lines(passing.empty() ? "%3" : R"(
if j %1:
    x = %2 + branch
else:
    %3)",
                {passing.size() == 1 ? "== " + written(passing[0]) : "in " + sequenceText(passing),
                 isFull() ? "x" : "stack[" + newest() + "]", mixed});
    out().lines(families ? "before = branch" : "");
    out().lines(isFull() ? "" : "stack[j] = branch");
}

void MixWriter::writeResult()
{
    if (m_mix.finalMix && !m_plan.readers.back().passes) {
        growMiddle(finalReader());
        out().line("return " + readOf(finalReader(), true));
    } else if (isFull() || besides()) {
        out().line("return x");
    } else {
        out().line("return " + residual() + " + " +
                   (m_mix.blockLayers > 1 ? "branch" : "stack[" + written(m_plan.modules) + "]"));
    }
}

} // namespace

TopologyCode codeOf(const TopologySetting& setting, const DepthMix& mix)
{
    return isRunningSum(mix) ? codeOfSum(setting, mix) : MixWriter(setting, mix).write();
}

} // namespace residua::projects
