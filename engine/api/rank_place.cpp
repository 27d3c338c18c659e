// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/rank_place.h"

#include "projects/base/text.h"

#include <cstdlib>

namespace residua::engine {
namespace {

std::string textIn(const char* variable)
{
    const char* const text = std::getenv(variable);
    return text != nullptr ? text : "";
}

struct Launcher {
    const char* rank;
    const char* count;
    const char* local;
};

constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
};

} // namespace

std::optional<RankPlace> rankPlace()
{
    const auto port = numberFrom<std::uint16_t>(textIn("MASTER_PORT"));
    const std::string host = textIn("MASTER_ADDR");
    if (host.empty() || !port) {
        return std::nullopt;
    }
    for (const Launcher& launcher : kLaunchers) {
        const auto rank = numberFrom<int>(textIn(launcher.rank));
        const auto count = numberFrom<int>(textIn(launcher.count));
        if (rank && count && *count > 1 && *rank >= 0 && *rank < *count) {
            const std::string attempt = textIn("TORCHELASTIC_RESTART_COUNT");
            return RankPlace{.rank = *rank,
                             .count = *count,
                             .local = numberFrom<int>(textIn(launcher.local)).value_or(*rank),
                             .storeHost = host,
                             .storePort = *port,
                             .keepsStore = *rank == 0 && textIn("TORCHELASTIC_USE_AGENT_STORE") != "True",
                             .attempt = attempt.empty() ? "0" : attempt};
        }
    }
    return std::nullopt;
}

Status checkShares(const projects::TrainingPlan& plan, std::int64_t ranks)
{
    if (ranks > 1 && plan.batching == projects::BatchKind::Full) {
        return Error{"training · batching", "got full, expected random: several ranks share the batches of a run"};
    }
    if (plan.batch % ranks != 0) {
        return Error{"training · batch", "got " + std::to_string(plan.batch) + ", expected a multiple of the " +
                                             std::to_string(ranks) + " ranks, which share it"};
    }
    return Done{};
}

} // namespace residua::engine
