// SPDX-License-Identifier: GPL-3.0-or-later
// Depth mixes: the stack and its loop over the layers.
#include "projects/pytorch/mix_writer.h"

#include "projects/base/text.h"

#include <algorithm>

namespace residua::projects {
namespace {

/// Writes the input as the first entry, and zeros as the entries that layers in the export do not make.
std::string startOfStack(std::int64_t present, std::int64_t entries)
{
    return "stack = {0: x" + (present < entries ? ", **dict.fromkeys(range(" + written(present + 1) + ", " +
                                                      written(entries + 1) + "), torch.zeros_like(x))}"
                                                : "}");
}

/// Returns the shortcut as "(0, 2)".
std::string pairText(const Shortcut& shortcut)
{
    return "(" + written(shortcut.source) + ", " + written(shortcut.target) + ")";
}

/// Returns x + f_1(x) + f_2(x + f_1(x)) + …, with the learned shortcuts, if any.
TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix)
{
    TopologyCode code;
    PythonText& out = code.text;
    if (mix.states.empty()) {
        beginTopology(setting, out, {"x_j = x_{j-1} + f_j(x_{j-1})."});
        beginForward(setting, out);
        out.lines(R"(
for layer in layers:
    x = x + layer(x)
return x)");
        return code;
    }
    out.comment("Learned shortcuts i:j. Reader " + written(setting.layers + 1) + " is the final output.");
    out.lines("LEARNED = [%1]\n\n\n",
              {joinedText(mix.states, ", ", [](const auto& state) { return pairText(state.first); })});
    beginTopology(setting, out,
                  {"x_j = x_{j-1} + f_j(u_j), where layer j, or the final output, reads u_j = x_{j-1} + (w_ij - 1) e_i "
                   "for each learned shortcut i:j. Entry e_0 is the input, e_i the branch of layer i."});
    code.beginInit();
    code.parameters(setting, {{"coefficient", "torch.ones(len(LEARNED))"}});
    out.outdent();
    out.define("read(self, target, x, stack)");
    out.lines(R"(
for w, (i, j) in zip(self.coefficient, LEARNED):
    if j == target:
        x = x + (w - 1) * stack[i]
return x)");
    out.outdent();
    beginForward(setting, out);
    out.lines(R"(
%1
for j, layer in enumerate(layers, start=1):
    stack[j] = layer(self.read(j, x, stack))
    x = x + stack[j]
return self.read(%2, x, stack))",
              {startOfStack(setting.present, setting.layers), written(setting.layers + 1)});
    return code;
}

} // namespace

TopologyCode MixWriter::write()
{
    writeTables();
    beginTopology(m_setting, m_code.text, wordsOf(m_mix, m_plan));
    m_code.beginInit();
    writeParameters();
    out().outdent();
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

std::string MixWriter::shortcutsIn(ShortcutState state) const
{
    std::vector<std::string> parts;
    for (const DepthReader& reader : m_plan.readers) {
        for (const std::int64_t source : reader.sources) {
            if (const Shortcut shortcut{source, reader.target}; hasState(m_mix, shortcut, state)) {
                parts.push_back(pairText(shortcut));
            }
        }
    }
    return joinedText(parts);
}

DepthPlan MixWriter::readPlan() const
{
    DepthPlan plan = planOf(m_mix, m_setting.layers);
    for (DepthReader& reader : plan.readers) {
        if (m_mix.weight == WeightKind::DepthAttention && !isFull() && !reader.sources.empty() &&
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
    growMiddle("j");
    besides() ? writeBeside(families) : writeOnMix();
    out().lines(isFull() ? "stack[j] = x" : "");
    out().outdent();
    writeResult();
    out().outdent();
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

TopologyCode codeOf(const TopologySetting& setting, const DepthMix& mix)
{
    return isRunningSum(mix) ? codeOfSum(setting, mix) : MixWriter(setting, mix).write();
}

} // namespace residua::projects
