// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_problem.h"

namespace residua::engine {

std::string_view nameOf(Nonlinearity follows)
{
    switch (follows) {
    case Nonlinearity::Relu:
        return "relu";
    case Nonlinearity::Silu:
        return "silu";
    case Nonlinearity::Gelu:
        return "gelu";
    case Nonlinearity::Identity:
        break;
    }
    return "identity";
}

Error stoppedFit()
{
    return {"", "the fit was stopped"};
}

} // namespace residua::engine
