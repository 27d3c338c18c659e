// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/mix_port.h"
#include "projects/model/topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::projects {

/// True if the document sets the state of shortcut i:j to one of this kind.
[[nodiscard]] bool hasState(const DepthMix& mix, Shortcut shortcut, ShortcutState::Kind kind);
/// True if shortcut i:j has a parameter: a weight that is learned, or was learned before it was frozen.
[[nodiscard]] bool hasOwnWeight(const DepthMix& mix, Shortcut shortcut);

/// A reader of the stack: layer `target`, or the final output as target L + 1.
struct DepthReader {
    std::int64_t target = 1;
    /// The entries that have a weight, ascending. A summed middle is listed by its first entry.
    std::vector<std::int64_t> sources;
    std::optional<EntryRange> middle;
    int outputs = 1;     ///< number of mixes: 1, or one per port
    bool passes = false; ///< true if it has no weights and passes the newest entry through (passesNewest)

    /// True if entry `source` has a weight of its own and is not part of the middle.
    [[nodiscard]] bool readsAlone(std::int64_t source) const
    {
        return std::ranges::binary_search(sources, source) && !(middle && middle->first == source);
    }
    [[nodiscard]] std::int64_t terms() const { return static_cast<std::int64_t>(sources.size()) * outputs; }
};

/// One term of one mix.
struct DepthTerm {
    std::size_t reader = 0;
    int output = 0;
    std::int64_t source = 0;
};

/// A depth mix over a stack of layers: its readers and sources, and its weights in the order of the parameter
/// "topology.coefficient" (learnedTerms).
struct DepthPlan {
    std::int64_t layers = 0;
    std::int64_t modules = 0;         ///< K, the modules that i:j counts: layers, or both halves of each (MixSites)
    std::vector<MixPort> ports;       ///< ports of a layer that have separate mixes
    std::vector<DepthReader> readers; ///< modules 1..K, then the final output if it has a mix. Includes readers without
                                      ///< sources, which the caller must handle
    std::vector<DepthTerm> terms;     ///< ordered by reader, output and source
    std::vector<double> start;        ///< initial coefficient of each term

    /// Returns the port that mix `output` of a reader belongs to.
    [[nodiscard]] MixPort portOf(const DepthReader& reader, int output) const;
};
[[nodiscard]] DepthPlan planOf(const DepthMix& mix, std::int64_t layers);
/// Plans a single reader, because the full plan grows quadratically with depth. Weights under a softmax over targets
/// are not available here.
[[nodiscard]] DepthPlan planOf(const DepthMix& mix, std::int64_t layers, std::int64_t target);

/// Returns reader `target` of a mix over `modules` modules.
[[nodiscard]] DepthReader readerOf(const DepthMix& mix, std::int64_t target, std::int64_t modules,
                                   Pruned pruned = Pruned::LeftOut);

/// Lists the current sources one by one, without a summed middle. Pruned shortcuts are included, because their state
/// records that they are pruned. Returns an error if there are millions of pairs.
[[nodiscard]] Result<ExplicitSources> listedSources(const DepthMix& mix, std::int64_t modules);

/// Returns the hidden features of the small network that computes `weights` weights for each token (MUDD): `weights`,
/// or finalHidden times as many for the final output, rounded to the next multiple of hiddenMultiple as the authors'
/// code does: (h/64 + 1)·64. A multiple of 1 means no rounding.
[[nodiscard]] std::int64_t perTokenHidden(const DepthMix& mix, std::int64_t weights, bool isFinal);

/// A number per term and feature: value(t, f) is values[t · features + f]. One feature if all features share a weight.
struct MixNumbers {
    std::int64_t features = 1;
    std::vector<double> values;

    [[nodiscard]] double at(std::size_t term, std::int64_t feature) const
    {
        return values[term * static_cast<std::size_t>(features) + static_cast<std::size_t>(feature)];
    }
};

/// Returns the weights that the coefficients of all terms apply. Under a softmax, these are the softmax of c/τ over the
/// sources of each target, or over the targets of each source (ANCRe eq. 6 to 8).
[[nodiscard]] MixNumbers appliedWeights(const DepthMix& mix, const DepthPlan& plan, MixNumbers coefficients);

/// Returns the indices of the terms with learned coefficients, in the order of "topology.coefficient": all terms, or if
/// the wiring's weights are fixed, those of shortcuts with weights of their own.
[[nodiscard]] std::vector<std::size_t> learnedTerms(const DepthMix& mix, const DepthPlan& plan);
/// A frozen term and the number that it is held at; nullopt if the document gives none.
struct HeldTerm {
    std::size_t place = 0; ///< among learnedTerms(), which is its index in "topology.coefficient"
    std::optional<double> number;
};
/// Returns the frozen ones among the learned terms, in their order.
[[nodiscard]] std::vector<HeldTerm> heldTerms(const DepthMix& mix, const DepthPlan& plan);
/// Returns the coefficients of all terms: `learned` for learnedTerms(), initial values for the others. Returns nullopt
/// if the counts differ.
[[nodiscard]] std::optional<MixNumbers> withLearned(const DepthMix& mix, const DepthPlan& plan, MixNumbers learned);

/// Returns groups of the indices of terms that one softmax normalises together. Without a softmax, each term is a
/// group.
[[nodiscard]] std::vector<std::vector<std::size_t>> normalisedTogether(const DepthMix& mix, const DepthPlan& plan);

} // namespace residua::projects
