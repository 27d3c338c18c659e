// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// What one mix of a reader feeds.
enum class MixPort {
    Input, ///< the layer's only input, or the residual beside its branch
    Query,
    Key,
    Value,
    Residual,
    Final, ///< the final output
};
/// "input", "q", "k", "v", "residual", "final".
[[nodiscard]] std::string_view nameOf(MixPort port);
/// nullopt for another word.
[[nodiscard]] std::optional<MixPort> mixPortNamed(std::string_view name);
/// The ports of a layer that read a mix of their own, in the order of the parameters.
[[nodiscard]] const std::vector<MixPort>& portsOf(MixPorts ports);

/// Who reads mixes of the stack: layer (or module) `target`, or the final output as target K + 1.
struct DepthReader {
    std::int64_t target = 1;
    /// The entries that it weighs, ascending. A summed middle stands under its first entry.
    std::vector<std::int64_t> sources;
    std::optional<EntryRange> middle;
    std::vector<MixPort> ports; ///< one mix each

    [[nodiscard]] std::size_t outputs() const { return ports.size(); }
    [[nodiscard]] std::size_t terms() const { return sources.size() * ports.size(); }
};

/// One term of one mix.
struct DepthTerm {
    std::size_t reader = 0; ///< its place in DepthPlan::readers()
    std::size_t output = 0; ///< which of the reader's mixes
    std::int64_t source = 0;
};

/// A DepthMix over a stack of so many layers, worked out once: who reads what, in which order the weights lie in the
/// parameters, with which weight each term starts. Cost, validation, retrofit, engine, records and views all read it,
/// so that they agree. A value; any thread.
class DepthPlan {
public:
    DepthPlan(const DepthMix& mix, std::int64_t layers);

    /// L.
    [[nodiscard]] std::int64_t layers() const { return m_layers; }
    /// K, what i and j of i:j number: L, or 2L where both sites of a layer are bridged.
    [[nodiscard]] std::int64_t modules() const { return m_modules; }
    /// Readers 1..K, then the final output where it has a mix of its own. Readers of nothing are kept: what they mean
    /// is for the wiring to say.
    [[nodiscard]] const std::vector<DepthReader>& readers() const { return m_readers; }
    /// All terms by reader, output and source: the order of the parameter "topology.coefficient".
    [[nodiscard]] const std::vector<DepthTerm>& terms() const { return m_terms; }
    /// The weight with which a term starts, before a softmax.
    [[nodiscard]] double startOf(const DepthTerm& term) const;
    /// Whether every mix is the plain residual sum, which is kept running: one addition a layer, no stack. Such a
    /// network has no weights of its own and is drawn as a stream.
    [[nodiscard]] bool isRunningSum() const { return m_runningSum; }
    /// Ports with a mix of their own in some layer; one where all read the same.
    [[nodiscard]] const std::vector<MixPort>& layerPorts() const { return portsOf(m_ports); }
    /// The name under which a term's matrix of `kind` is recorded: "mix" where readers have one mix each, else "mix/q"
    /// and so on; the final output's is then "mix/final".
    [[nodiscard]] std::string matrixName(std::string_view kind, MixPort port) const;

private:
    std::int64_t m_layers = 0;
    std::int64_t m_modules = 0;
    MixPorts m_ports = MixPorts::Input;
    MixInit m_init = MixInit::Ones;
    bool m_runningSum = false;
    std::vector<DepthReader> m_readers;
    std::vector<DepthTerm> m_terms;
};

/// Whether a DepthMix is the plain residual sum of any stack (DepthPlan::isRunningSum without the work).
[[nodiscard]] bool isRunningSum(const DepthMix& mix);

/// What learned weights are coloured by: signed about the value that they start at, or from 0 up where a softmax makes
/// them probabilities (nullopt). Canvases and heatmaps share it. A wiring without a mix records weights as they are
/// applied: from 0 up.
[[nodiscard]] std::optional<double> centreOfWeights(const Wiring& wiring);

} // namespace residua::projects
