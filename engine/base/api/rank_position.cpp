// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/rank_position.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <variant>

namespace residua::engine {
namespace {

/// Returns nullopt if the variable is not set.
std::optional<std::string> textIn(const char* variable)
{
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}

/// The variables of a launcher: the number of this process, their count, and its number on this machine.
struct Launcher {
    const char* title;
    const char* rank;
    const char* count;
    const char* local;
};

constexpr Launcher kSlurm{"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};
/// The inner one first, where one starts another.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    kSlurm,
};

/// True if this process belongs to a job of Slurm, but was not started by srun. The variables then describe the job.
bool isInBatchScript()
{
    constexpr std::uint32_t kFirstReserved = 0xfffffff0; // steps for a job's own script, and for an interactive shell
    const std::optional<std::string> step = textIn("SLURM_STEP_ID");
    return textIn("SLURM_JOB_ID") &&
           numberFrom<std::uint32_t>(step.value_or("")).value_or(kFirstReserved) >= kFirstReserved;
}

bool isPresent(const Launcher& launcher)
{
    const bool isSlurm = std::string_view(launcher.rank) == kSlurm.rank;
    return (textIn(launcher.rank) || textIn(launcher.count)) && !(isSlurm && isInBatchScript());
}

/// Returns the number of a variable, from `least` to `most`. Errors name the variable, its value and `expected`.
Result<std::int64_t> numberIn(const char* variable, std::int64_t least, std::int64_t most, const std::string& expected)
{
    const std::optional<std::string> text = textIn(variable);
    const auto number = numberFrom<std::int64_t>(text.value_or(""));
    if (!number || *number < least || *number > most) {
        return Error{variable, (text ? "is \"" + *text + "\"" : "is not set") + ", expected " + expected};
    }
    return *number;
}

/// Returns the variable with this process's number on its machine. Another launcher that names the same process has it
/// if this one's is not set: srun --mpi=pmi2 sets PMI_RANK, but no MPI_LOCALRANKID.
const char* localVariable(const Launcher& launcher)
{
    const auto tellsIt = [&](const Launcher& other) {
        return isPresent(other) && textIn(other.rank) == textIn(launcher.rank) &&
               textIn(other.count) == textIn(launcher.count) && textIn(other.local);
    };
    const auto* const other = tellsIt(launcher) ? &launcher : std::ranges::find_if(kLaunchers, tellsIt);
    return other == std::end(kLaunchers) ? launcher.local : other->local;
}

} // namespace

Result<std::optional<RankPosition>> rankPosition()
{
    const auto* const launcher = std::ranges::find_if(kLaunchers, isPresent);
    if (launcher == std::end(kLaunchers)) {
        return std::optional<RankPosition>();
    }
    constexpr auto kMost = static_cast<std::int64_t>(kMostRanks);
    const std::string all = " of the processes that " + std::string(launcher->title) + " has started";
    const std::int64_t count = RESIDUA_TRY(numberIn(launcher->count, 1, kMost, "the number" + all));
    const std::string counted = ", because " + std::string(launcher->count) + " is " + std::to_string(count);
    const Result<std::int64_t> rank =
        numberIn(launcher->rank, 0, count - 1, "a number from 0 to " + std::to_string(count - 1) + counted);
    if (!rank) {
        return rank.error();
    }
    if (count == 1) {
        return std::optional<RankPosition>();
    }
    const char* const ofMachine = localVariable(*launcher);
    const std::int64_t local = RESIDUA_TRY(
        textIn(ofMachine) ? numberIn(ofMachine, 0, kMost, "the process's number on its machine, from 0 on") : rank);
    const std::string host = textIn("MASTER_ADDR").value_or("");
    if (host.empty()) {
        return Error{"MASTER_ADDR", (textIn("MASTER_ADDR") ? "is empty" : "is not set") +
                                        std::string(", expected the address of the machine of rank 0") + counted +
                                        "; one process trains alone"};
    }
    const std::int64_t port = RESIDUA_TRY(numberIn("MASTER_PORT", 1, std::numeric_limits<std::uint16_t>::max(),
                                                   "a free port of rank 0's machine, 1 to 65535" + counted));
    const std::string attempt = textIn("TORCHELASTIC_RESTART_COUNT").value_or("");
    return std::optional(RankPosition{
        .rank = static_cast<int>(*rank),
        .count = static_cast<int>(count),
        .local = static_cast<int>(local),
        .storeHost = host,
        .storePort = static_cast<std::uint16_t>(port),
        .keepsStore = *rank == 0 && textIn("TORCHELASTIC_USE_AGENT_STORE").value_or("") != "True",
        .attempt = attempt.empty() ? "0" : attempt,
    });
}

Status checkShares(const projects::Project& project, std::int64_t ranks)
{
    const projects::TrainingPlan& plan = project.training;
    if (ranks > 1 && plan.batching == projects::BatchKind::Full) {
        return Error{"training · batching", "got full, expected random: several ranks share the batches of a run"};
    }
    if (plan.batch % ranks != 0) {
        return Error{"training · batch", "got " + std::to_string(plan.batch) + ", expected a multiple of the " +
                                             std::to_string(ranks) + " ranks, which share it"};
    }
    if (ranks > 1 && std::holds_alternative<projects::WorldData>(project.data.source)) {
        return Error{"data", "is a world, whose replay buffer one process has; expected a run without other ranks"};
    }
    for (const projects::Loss& loss : project.losses) {
        if (ranks > 1 && loss.kind == projects::LossKind::Contrastive) {
            return Error{"loss " + loss.name, "compares all examples of a step with each other, and each rank has a "
                                              "part of them; expected a run without other ranks"};
        }
    }
    return Done{};
}

} // namespace residua::engine
