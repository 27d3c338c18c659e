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

/// Whether the document says of shortcut i:j that it is learned, frozen or pruned, as `state` asks.
[[nodiscard]] bool hasState(const DepthMix& mix, Shortcut shortcut, ShortcutState state);

/// Who reads mixes of the stack: layer `target`, or the final output as target L + 1.
struct DepthReader {
    std::int64_t target = 1;
    /// The entries that it weighs, ascending. A summed middle stands under its first entry.
    std::vector<std::int64_t> sources;
    std::optional<EntryRange> middle;
    int outputs = 1;     ///< mixes of its own: 1, or one per port
    bool passes = false; ///< it weighs nothing and takes the newest entry as it is (passesNewest)

    /// Whether entry `source` is weighed by itself, not as a part of the middle.
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

/// A depth mix over a stack of layers, worked out once: who reads what, and the weights one by one in the order of the
/// parameter "topology.coefficient" (learnedTerms).
struct DepthPlan {
    std::int64_t layers = 0;
    std::int64_t modules = 0;         ///< K, what i and j of i:j number: layers, or both halves of each (MixSites)
    bool runningSum = false;          ///< the plain residual sum, which stores no entries (isRunningSum)
    std::vector<MixPort> ports;       ///< of a layer that have a mix of their own
    std::vector<DepthReader> readers; ///< modules 1..K, then the final output where it has a mix. Readers of nothing
                                      ///< are kept: what they mean is for who runs them to say
    std::vector<DepthTerm> terms;     ///< by reader, output and source
    std::vector<double> start;        ///< the coefficient with which each term starts

    /// Whose mix `output` of a reader is.
    [[nodiscard]] MixPort portOf(const DepthReader& reader, int output) const;
};
[[nodiscard]] DepthPlan planOf(const DepthMix& mix, std::int64_t layers);
/// The same of one reader alone: of a deep stack the whole is large, for every layer reads every one before it. What a
/// softmax over targets makes of its weights, it does not know.
[[nodiscard]] DepthPlan planOf(const DepthMix& mix, std::int64_t layers, std::int64_t target);

/// Reader `target` of a mix over so many modules.
[[nodiscard]] DepthReader readerOf(const DepthMix& mix, std::int64_t target, std::int64_t modules,
                                   Pruned pruned = Pruned::LeftOut);

/// What the sources are now, one by one; a summed middle is none of them. Pruned shortcuts stay among them, for their
/// state says that. An error for modules of which there are millions of pairs.
[[nodiscard]] Result<ExplicitSources> listedSources(const DepthMix& mix, std::int64_t modules);

/// Hidden features of the small network that makes `weights` weights for each token (MUDD): as many, for the final
/// output finalHidden times as many, and of that the next multiple of hiddenMultiple, as its authors' code rounds:
/// (h/64 + 1)·64. A multiple of 1 leaves it as it is.
[[nodiscard]] std::int64_t perTokenHidden(const DepthMix& mix, std::int64_t weights, bool isFinal);

/// A number per term and feature: value(t, f) is values[t · features + f]. One feature where all weigh alike.
struct MixNumbers {
    std::int64_t features = 1;
    std::vector<double> values;

    [[nodiscard]] double at(std::size_t term, std::int64_t feature) const
    {
        return values[term * static_cast<std::size_t>(features) + static_cast<std::size_t>(feature)];
    }
};

/// The weights that the coefficients of all terms apply: under a softmax those of c/τ over the sources of each target,
/// or over the targets of each source (ANCRe eq. 6 to 8).
[[nodiscard]] MixNumbers appliedWeights(const DepthMix& mix, const DepthPlan& plan, MixNumbers coefficients);

/// The terms whose coefficients are learned one by one, by their index, in the order of "topology.coefficient": all of
/// them, or where the wiring's weights are fixed those of learned shortcuts.
[[nodiscard]] std::vector<std::size_t> learnedTerms(const DepthMix& mix, const DepthPlan& plan);
/// The coefficients of all terms: `learned` has those of learnedTerms, the others are as they start. nullopt where the
/// counts differ.
[[nodiscard]] std::optional<MixNumbers> withLearned(const DepthMix& mix, const DepthPlan& plan, MixNumbers learned);

/// The terms that one softmax normalises together, by their index; each term alone where none does.
[[nodiscard]] std::vector<std::vector<std::size_t>> normalisedTogether(const DepthMix& mix, const DepthPlan& plan);

} // namespace residua::projects
