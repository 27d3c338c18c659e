// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lowrank/low_rank_fit.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace residua::engine {
namespace {

struct NamedMethod {
    LowRankMethod method;
    std::string_view name;
};
constexpr std::array kMethods{
    NamedMethod{LowRankMethod::Baseline, "baseline"}, NamedMethod{LowRankMethod::Spectral, "spectral"},
    NamedMethod{LowRankMethod::Lfai, "lfai"},         NamedMethod{LowRankMethod::LfaiWarmStart, "lfai-ws"},
    NamedMethod{LowRankMethod::ReluSvd, "relu-svd"},  NamedMethod{LowRankMethod::Exact, "exact"}};

} // namespace

std::string_view nameOf(LowRankMethod method)
{
    return std::ranges::find(kMethods, method, &NamedMethod::method)->name;
}

std::optional<LowRankMethod> lowRankMethodFrom(std::string_view name)
{
    const auto found = std::ranges::find(kMethods, name, &NamedMethod::name);
    return found == std::end(kMethods) ? std::nullopt : std::optional(found->method);
}

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
