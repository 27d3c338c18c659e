// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/topology.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace residua::projects {

/// The maximum number of streams for StreamConstraint::Permutations.
inline constexpr std::int64_t kMostPermutedStreams = 4;
/// Returns n!, or that of kMostPermutedStreams for a larger n, which validate() refuses.
[[nodiscard]] constexpr std::int64_t permutationsOf(std::int64_t n)
{
    return n <= 1 ? 1 : std::min(n, kMostPermutedStreams) * permutationsOf(std::min(n, kMostPermutedStreams) - 1);
}

/// The initial standard deviation of the dynamic weights if the mixing matrix is the identity (Hy4), and of the learned
/// head. If it were 0, equal streams would stay equal.
inline constexpr double kStreamDrawn = 0.006;
/// The constant that Hy4 adds to its sigmoids.
inline constexpr double kStreamEpsilon = 1e-6;

/// The sizes of the wiring's weights at one module. Fractions have n read mixes, one for each fraction of the layer's
/// input; copies have one.
struct StreamSizes {
    std::int64_t width = 0;  ///< features of a stream
    std::int64_t reads = 1;  ///< mixes that make the layer's input
    std::int64_t carry = 0;  ///< learned numbers of the mixing matrix
    std::int64_t logits = 0; ///< per token, if weights are dynamic; per token and stream if the matrix is free
};
[[nodiscard]] inline StreamSizes streamSizes(const MultiStream& wiring, std::int64_t width)
{
    const std::int64_t n = std::max<std::int64_t>(wiring.streams, 1);
    const bool cut = wiring.state == StreamState::Fractions;
    StreamSizes sizes{cut ? width / n : width, cut ? n : 1, n * n, 0};
    if (wiring.constraint == StreamConstraint::Identity) {
        sizes.carry = 0;
    } else if (wiring.constraint == StreamConstraint::Permutations) {
        sizes.carry = permutationsOf(n);
    }
    const bool free = wiring.constraint == StreamConstraint::None;
    sizes.logits = free ? sizes.reads + n + 1 : sizes.carry + 2 * n;
    return sizes;
}

/// Returns ε of the root-mean-square norm over all features: Hy4's, or that of the other papers.
[[nodiscard]] constexpr double streamNormEpsilon(const MultiStream& wiring)
{
    return wiring.constraint == StreamConstraint::Identity ? 1e-5 : 1e-6;
}

/// The initial values of a module's reads, mixing matrix and writes, before the constraint.
///
/// mHC's exp(logits) has no zeros, so its mixing matrix can only be near the identity. The exact start uses e^8 against
/// 1 before Sinkhorn. It starts the read weights at that matrix's row of the module's home stream, whose weights sum to
/// 1, so that with equal streams the network is the plain one. Appendix A.6 uses e^3 against e^−3, and read weights
/// σ(3) and σ(−3), which sum to 0.953 + 0.047·(n − 1). mHC-lite uses 0 for the identity and −8 for every other
/// permutation; reads and writes are σ(1) and 2σ(1) for the home stream, σ(−1) and 2σ(−1) for the others. Hy4's reads
/// start as the mean.
struct StreamStart {
    double carry = 1;    ///< on the diagonal, or of the identity permutation
    double carryOff = 0; ///< off the diagonal, or of the other permutations
    double readOn = 1;   ///< of the home stream
    double readOff = 0;  ///< of the others
    double writeOn = 1;
    double writeOff = 1;
    double distance = 0; ///< ‖H_res − I‖_F/‖I‖_F
};

[[nodiscard]] inline StreamStart streamStart(const MultiStream& wiring)
{
    const auto n = static_cast<double>(wiring.streams);
    double off = 0; // the mixing matrix off its diagonal
    StreamStart start;
    switch (wiring.constraint) {
    case StreamConstraint::None:
        break;
    case StreamConstraint::Identity:
        start = {0, 0, -std::log(n - 1), -std::log(n - 1), 0, 0};
        break;
    case StreamConstraint::Permutations: {
        start = {0, -8, 1, -1, 1, -1};
        const auto each = static_cast<double>(permutationsOf(wiring.streams - 1)); // permutations that share an entry
        off = each / (std::exp(8.0) + n * each - 1);
        break;
    }
    case StreamConstraint::DoublyStochastic:
        start = {8, 0, 8 - std::log(n - 1), -std::log(std::exp(8.0) + n - 2), 0, 0};
        if (wiring.start == StreamStartLaw::AppendixA6) {
            start = {3, -3, 3, -3, 0, 0};
        }
        off = 1 / (std::exp(start.carry - start.carryOff) + n - 1);
        break;
    }
    start.distance = off * std::sqrt(n * (n - 1));
    return start;
}

/// Returns the number of consecutive modules with the same initial home stream: module m (from 0) reads stream (m /
/// modulesPerHome) mod n. Appendix A.6 counts attentions and FFNs separately.
[[nodiscard]] inline std::int64_t modulesPerHome(const MultiStream& wiring)
{
    const bool apart = wiring.constraint == StreamConstraint::DoublyStochastic &&
                       wiring.start == StreamStartLaw::AppendixA6 && wiring.sites == MixSites::Both;
    return apart ? 2 : 1;
}

/// The initial coefficient of entry i for reader j, as a number and as an expression in exported code.
struct StartLaw {
    double (*number)(const DepthReader& reader, std::int64_t source);
    const char* python;   ///< expression of j, i and SOURCES[j], the entries that reader j weights
    bool ofReader = true; ///< true if it uses j
    bool ofSource = true; ///< true if it uses i
};
[[nodiscard]] const StartLaw& startLaw(MixInit init);
/// Returns the initial coefficient of entry `source` for a reader: the number that it is frozen at, else by the law.
[[nodiscard]] double startOf(const DepthMix& mix, const DepthReader& reader, std::int64_t source);

} // namespace residua::projects
