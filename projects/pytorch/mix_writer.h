// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/pytorch/topology_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace residua::projects {

/// Returns range(0, 5), range(1, 8, 2) or a tuple.
[[nodiscard]] std::string sequenceText(const std::vector<std::int64_t>& values);

/// Private to pytorch: writes the class of a depth mix. The table SOURCES lists the sources of each reader; the code of
/// the weights depends on their kind.
class MixWriter {
public:
    MixWriter(const TopologySetting& setting, const DepthMix& mix)
        : m_setting(setting),
          m_mix(mix),
          m_present(stackEntryOf(mix, mixedModules(mix, setting.present))),
          m_plan(readPlan()),
          m_mixes(static_cast<std::int64_t>(m_plan.ports.size())),
          m_ofTokens(isMadePerToken(mix.weight)),
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
    [[nodiscard]] bool isLearned() const
    {
        return m_mix.weight != WeightKind::Fixed || !shortcutsIn(ShortcutState::Learned).empty();
    }
    [[nodiscard]] std::string finalReader() const { return written(m_plan.modules + 1); }
    /// Lists the shortcuts in this state that are read: "(0, 2), (1, 2)".
    [[nodiscard]] std::string shortcutsIn(ShortcutState state) const;
    [[nodiscard]] bool hasFrozen() const
    {
        return !shortcutsIn(ShortcutState::Frozen).empty() && (m_gated || m_mix.weight != WeightKind::Fixed);
    }

    /// Writes a dictionary with a line for each reader whose text is not empty.
    void writeTable(const std::string& name, const std::function<std::string(const DepthReader&)>& textOf);
    void writeTables();
    void writeParameters();
    /// Writes the tensors that the coefficients start from, and returns their start.
    std::string writeStart();
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
    [[nodiscard]] bool takesPort() const { return !isSingle() && m_mix.weight != WeightKind::PerToken; }
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

} // namespace residua::projects
