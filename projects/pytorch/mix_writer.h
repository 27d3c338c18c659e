// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/pytorch/topology_code.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: writes the class of a depth mix. The table SOURCES lists the sources of each reader; the code of
/// the weights depends on their kind.
class MixWriter {
public:
    MixWriter(const TopologySetting& setting, const DepthMix& mix)
        : m_setting(setting),
          m_mix(mix),
          m_plan(planOf(mix, setting.layers)),
          m_mixes(static_cast<std::int64_t>(m_plan.ports.size())),
          m_learned(learnedTerms(mix, m_plan)),
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
    [[nodiscard]] bool isLearned() const { return m_mix.weight != WeightKind::Fixed || !m_learned.empty(); }
    [[nodiscard]] std::string finalReader() const { return written(m_plan.modules + 1); }
    /// Returns the number of mixes of reader j, as an expression.
    [[nodiscard]] std::string mixesOfReader() const
    {
        return m_mixes == 1     ? "1"
               : m_mix.finalMix ? "(" + written(m_mixes) + " if j <= " + written(m_plan.modules) + " else 1)"
                                : written(m_mixes);
    }
    /// Lists the shortcuts in this state that are read: "(0, 2), (1, 2)".
    [[nodiscard]] std::string shortcutsIn(ShortcutState state) const;
    [[nodiscard]] bool hasFrozen() const
    {
        return !shortcutsIn(ShortcutState::Frozen).empty() && (m_gated || m_mix.weight != WeightKind::Fixed);
    }

    void writeTables();
    void writeParameters();
    /// Writes the tensors that the coefficients start from, and returns their start.
    std::string writeStart();
    void writePerceptrons();
    void writeWeights();
    /// Writes a softmax on a grid of readers and entries, with −∞ for pairs without a shortcut.
    void writeSoftmaxOverReaders();
    /// Writes a method's result: for each reader its part of `all`, between the texts `before` and `after`.
    void writeRows(const std::string& all, const std::string& before = "", const std::string& after = "");
    void writeGates();
    void writeRegulariser();

    /// The condition at the end of a comprehension over sources, and the start value of its sum.
    [[nodiscard]] std::string present() const { return m_setting.lacksLayers() ? " if i in stack" : ""; }
    [[nodiscard]] std::string overTau() const
    {
        return m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature);
    }
    [[nodiscard]] std::string sumOf(const std::string& terms) const
    {
        return m_setting.lacksLayers() ? "sum((" + terms + "), torch.zeros_like(stack[0]))" : "sum(" + terms + ")";
    }
    [[nodiscard]] std::string mixArguments() const
    {
        return m_ofTokens ? "" : gatesEntries() ? ", weights, gates" : ", weights";
    }

    void writeMix();
    void writeTokenMix();
    void writeAttention();
    void writeGatedMix();

    [[nodiscard]] std::string called(const std::string& reader) const;
    void growMiddle(const std::string& reader);
    void writeForward();
    /// Begins the loop over the layers j. With `goesOn`, full outputs and the residual beside a branch pass through
    /// layers that are not in the export.
    void beginLoop(bool goesOn);
    void writeOnMix();
    void writeResult(const std::string& residual);
    void writeBeside();

    const TopologySetting& m_setting;
    const DepthMix& m_mix;
    const DepthPlan m_plan;
    const std::int64_t m_mixes; ///< per layer
    const std::vector<std::size_t> m_learned;
    const bool m_ofTokens; ///< true if weights are computed for each token
    const bool m_gated;
    TopologyCode m_code;
};

} // namespace residua::projects
