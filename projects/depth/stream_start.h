// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <cmath>
#include <cstdint>

namespace residua::projects {

/// The initial logits of mHC for n ≥ 2 streams. exp(logits) has no zeros, so the mixing matrix can only be near the
/// identity. The exact start uses e^8 against 1 before Sinkhorn. It starts the read weights at that matrix's row of the
/// module's home stream, whose weights sum to 1, so that with equal streams the network is the plain one. Appendix A.6
/// uses e^3 against e^−3, and read weights σ(3) and σ(−3), which sum to 0.953 + 0.047·(n − 1).
struct StreamStart {
    double carry = 8;    ///< on the diagonal
    double carryOff = 0; ///< off the diagonal
    double readOn = 0;   ///< logit of the home stream, before the sigmoid
    double readOff = 0;  ///< logit of the other streams
    double distance = 0; ///< ‖H_res − I‖_F/‖I‖_F
};

[[nodiscard]] inline StreamStart streamStart(const MultiStream& wiring)
{
    StreamStart start;
    const auto n = static_cast<double>(wiring.streams);
    if (wiring.start == StreamStartLaw::AppendixA6) {
        start.carry = 3;
        start.carryOff = -3;
        start.readOn = 3;
        start.readOff = -3;
    } else {
        start.readOn = start.carry - std::log(n - 1);             // logit of 1 − (n − 1)·off
        start.readOff = -std::log(std::exp(start.carry) + n - 2); // logit of off
    }
    const double off = 1 / (std::exp(start.carry - start.carryOff) + n - 1);
    start.distance = off * std::sqrt(n * (n - 1));
    return start;
}

/// Returns the number of consecutive modules with the same initial home stream: module m (from 0) reads stream (m /
/// modulesPerHome) mod n. Appendix A.6 counts attentions and FFNs separately.
[[nodiscard]] inline std::int64_t modulesPerHome(const MultiStream& wiring)
{
    return wiring.start == StreamStartLaw::AppendixA6 && wiring.sites == MixSites::Both ? 2 : 1;
}

} // namespace residua::projects
