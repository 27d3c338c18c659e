// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// What the mixing weights of a DepthMix are, one by one, in the order of the parameter "topology.coefficient".
namespace residua::projects {

/// Who reads mixes of the stack: layer `target`, or the final output as target L + 1.
struct DepthReader {
    std::int64_t target = 1;
    /// The entries that it weighs, ascending. A summed middle stands under its first entry.
    std::vector<std::int64_t> sources;
    std::optional<EntryRange> middle;
    int outputs = 1; ///< mixes of its own: 1, or one per port

    [[nodiscard]] std::int64_t terms() const { return static_cast<std::int64_t>(sources.size()) * outputs; }
};

/// Every reader of a topology, layers 1..depth first, then the final output where it has a mix. Readers of nothing are
/// kept: what they mean is for the trunk to say.
[[nodiscard]] std::vector<DepthReader> readersOf(const DepthMix& mix, std::int64_t depth);

/// One term of one mix.
struct DepthTerm {
    std::size_t reader = 0;
    int output = 0;
    std::int64_t source = 0;
};
/// All terms, by reader, output and source.
[[nodiscard]] std::vector<DepthTerm> termsOf(const std::vector<DepthReader>& readers);

/// The weight with which a term starts.
[[nodiscard]] double startOf(const DepthMix& mix, const DepthReader& reader, std::int64_t source);

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
[[nodiscard]] MixNumbers appliedWeights(const DepthMix& mix, const std::vector<DepthReader>& readers,
                                        MixNumbers coefficients);

/// The terms that one softmax normalises together, by their index; each term alone where none does.
[[nodiscard]] std::vector<std::vector<std::size_t>> normalisedTogether(const DepthMix& mix,
                                                                       const std::vector<DepthReader>& readers);

} // namespace residua::projects
