// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a depth mix, and its parameters.
#include "projects/base/text.h"
#include "projects/depth/stream_start.h"
#include "projects/pytorch/mix_writer.h"

#include <algorithm>
#include <set>

namespace residua::projects {

std::string sequenceText(const std::vector<std::int64_t>& values)
{
    const std::int64_t step = values.size() > 1 ? values[1] - values[0] : 1;
    bool even = values.size() > 2 || step == 1;
    for (std::size_t i = 1; i < values.size(); ++i) {
        even = even && values[i] - values[i - 1] == step;
    }
    if (values.empty()) {
        return "()";
    }
    if (even) {
        const std::string first = values.front() == 0 && step == 1 ? "" : written(values.front()) + ", ";
        return "range(" + first + written(values.back() + 1) + (step == 1 ? ")" : ", " + written(step) + ")");
    }
    const auto textOf = [](std::int64_t value) { return written(value); };
    return "(" + joinedText(values, ", ", textOf) + (values.size() == 1 ? ",)" : ")");
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
    if (m_mix.weight == WeightKind::Fixed && isLearned()) {
        out().comment("Shortcuts i:j whose weights are learned; all others are fixed.");
        out().line("LEARNED = {" + shortcutsIn(ShortcutState::Learned) + "}");
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

std::string MixWriter::writeStart()
{
    const StartLaw& law = startLaw(m_mix.init);
    const std::string names = law.ofReader ? parts("j", law.ofSource ? "i" : "_") : "_";
    const std::string values = "[" + std::string(law.python) + " for " + names + " in TERMS]";
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
        return "fixed[learned].float()";
    }
    const bool each = m_mix.weight == WeightKind::PerFeature;
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

} // namespace residua::projects
