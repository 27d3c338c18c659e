// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/rank_position.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

namespace residua::cli {
namespace {

constexpr std::int64_t kGpusPerNode = 8;
/// Between the end of the run and that of the job.
constexpr std::chrono::minutes kMargin{5};

/// "1-02:30:00", as Slurm writes a time.
std::string slurmTime(std::chrono::seconds time)
{
    const auto whole = time.count();
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%lld-%02lld:%02lld:%02lld", static_cast<long long>(whole / 86'400),
                  static_cast<long long>(whole / 3600 % 24), static_cast<long long>(whole / 60 % 60),
                  static_cast<long long>(whole % 60));
    return text.data();
}

struct Job {
    std::string project;
    std::string run;
    std::int64_t ranks = 1; ///< one for each GPU
    std::int64_t nodes = 1;
    std::chrono::seconds time{};
};

std::string scriptOf(const Job& job)
{
    const std::string perNode = std::to_string(job.ranks / job.nodes);
    const auto limit = std::chrono::duration_cast<std::chrono::minutes>(job.time - kMargin);
    return "#!/bin/sh\n"
           "#SBATCH --job-name=" +
           shellWord(std::filesystem::path(job.run).filename().string()) +
           "\n"
           "#SBATCH --nodes=" +
           std::to_string(job.nodes) +
           "\n"
           "#SBATCH --ntasks-per-node=" +
           perNode +
           "\n"
           "#SBATCH --gpus-per-node=" +
           perNode +
           "\n"
           "#SBATCH --time=" +
           slurmTime(job.time) +
           "\n"
           "# One rank for each GPU. The same job, submitted again, goes on from the last checkpoint.\n"
           "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
           "MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))\n"
           "export MASTER_ADDR MASTER_PORT\n"
           "srun residua-cli train " +
           shellWord(job.project) + " --run " + shellWord(job.run) +
           " --resume-or-start --device cuda:0 --time-limit " + std::to_string(limit.count()) + "m\n";
}

Exit runClusterScript(const Arguments& arguments, const Console& console)
{
    const auto [document, directory] = RESIDUA_TRY(reported(openProject(arguments, console), console));
    if (const auto error = obstacle(document.project, console)) {
        return console.fail(Exit::InvalidProject, *error);
    }
    const std::int64_t gpus = arguments.integer("gpus", 1);
    const std::int64_t perNode = std::min(arguments.integer("gpus-per-node", kGpusPerNode), gpus);
    if (gpus % perNode != 0) {
        return console.fail(Exit::Usage, {"--gpus", "got " + std::to_string(gpus) + ", expected a multiple of the " +
                                                        std::to_string(perNode) + " of a node"});
    }
    RESIDUA_TRY_OR_FAIL(Exit::InvalidProject, engine::checkShares(document.project, gpus));
    const std::chrono::seconds time = arguments.duration("time").value_or(std::chrono::hours(4));
    if (time <= 2 * kMargin) {
        return console.fail(Exit::Usage, {"--time", "expected more than 10 minutes"});
    }
    const std::filesystem::path folder = RESIDUA_TRY_OR_FAIL(Exit::Usage, absolutePath(directory));
    const std::filesystem::path run = RESIDUA_TRY_OR_FAIL(
        Exit::Usage, absolutePath(arguments.text("run", (directory / projects::kRunsFolder / "cluster").string())));
    const std::string script = scriptOf({folder.string(), run.string(), gpus, gpus / perNode, time});
    console.line(script.substr(0, script.size() - 1));
    console.value({{"script", script}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> clusterCommands()
{
    return {
        {"cluster-script",
         "write the Slurm script that trains a project on several GPUs",
         "residua-cli cluster-script my-project --gpus 8",
         {{projectArgument()},
          {integerOption("gpus", "N", "GPUs in all, each with a rank (default 1); the batch is divided by them", 1,
                         engine::kMostRanks),
           {"gpus-per-node", OptionKind::Integer, "N", "GPUs of a machine (default 8)", {}, 1, engine::kMostRanks},
           {"time", OptionKind::Duration, "TIME", "of the job (default 4h); the run stops 5 minutes before"},
           {"run", OptionKind::Text, "DIR", "the run's directory (default: PROJECT/runs/cluster)"},
           setOption()}},
         &runClusterScript},
    };
}

} // namespace residua::cli
