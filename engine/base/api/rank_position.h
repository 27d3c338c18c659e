// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from environment.h, because sessions and ranks need the position alone.

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>

namespace residua::engine {

/// The most ranks that a job may have.
inline constexpr double kMostRanks = 65'536;

/// The place of this process among those that train one run together.
struct RankPosition {
    int rank = 0;
    int count = 1;
    int local = 0;         ///< number among the ranks of this machine
    std::string storeHost; ///< of the store through which the ranks find each other
    std::uint16_t storePort = 0;
    bool keepsStore = false;   ///< true if this process provides the store
    std::string attempt = "0"; ///< differs after a restart
};

/// Returns the place by the variables of torchrun (RANK, WORLD_SIZE, LOCAL_RANK), Open MPI (OMPI_COMM_WORLD_RANK, …),
/// MPICH (PMI_RANK, PMI_SIZE) or srun (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID), each with MASTER_ADDR and
/// MASTER_PORT. Nullopt if no launcher has set its variables, or for one rank. Errors: a launcher's variable that is
/// missing or unusable, because the process would otherwise train the whole run by itself.
[[nodiscard]] Result<std::optional<RankPosition>> rankPosition();

/// Checks that so many ranks can share the batches of a run: they are drawn at random and not from a world, each rank
/// has as many rows, and no loss compares all examples of a step.
[[nodiscard]] Status checkShares(const projects::Project& project, std::int64_t ranks);

} // namespace residua::engine
