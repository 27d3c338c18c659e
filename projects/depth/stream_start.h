// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

namespace residua::projects {

/// Where the logits of mHC start for n ≥ 2 streams. exp(logits) has no zeros, so the mixing matrix can only be near the
/// identity: e^8 against 1 before Sinkhorn. The read starts at that matrix's row of the layer's stream, whose weights
/// sum to 1, so that on equal streams the network is the plain one.
struct StreamStart {
    double carry = 8;    ///< on the diagonal; 0 beside it
    double readOn = 0;   ///< before the sigmoid, of the layer's own stream
    double readOff = 0;  ///< of the others
    double distance = 0; ///< ‖H_res − I‖_F/‖I‖_F
};

[[nodiscard]] inline StreamStart streamStart(std::int64_t streams)
{
    StreamStart start;
    const auto n = static_cast<double>(streams);
    const double off = 1 / (std::exp(start.carry) + n - 1);
    start.readOn = start.carry - std::log(n - 1);             // logit of 1 − (n − 1)·off
    start.readOff = -std::log(std::exp(start.carry) + n - 2); // logit of off
    start.distance = off * std::sqrt(n * (n - 1));
    return start;
}

} // namespace residua::projects
