// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "engine/results/sweep_members.h"
#include "projects/studies/sweep_grid.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::cli {

/// A member of the grid, where its run is, and how far that is.
struct Planned {
    projects::SweepMember member;
    std::filesystem::path directory;
    engine::MemberStatus status; ///< as it was last looked at
    bool chosen = true;          ///< by --member and --part
    std::string otherData = {};  ///< how its data now differ from those that its run was trained on; empty: not at all
};

struct SweepPlan {
    projects::Sweep sweep;
    std::filesystem::path projectDirectory;
    std::filesystem::path folder; ///< of the runs
    std::vector<Planned> members; ///< the whole grid
};

/// The sweep that the command line means: its own axes, the named one, or the project's only one.
[[nodiscard]] Result<projects::Sweep> chosenSweep(const Arguments& arguments, const projects::Project& project);

/// The grid with a directory for each member, and the status of each. Errors where there is no grid, or two members
/// would have one directory.
[[nodiscard]] Result<SweepPlan> planOf(const NamedProject& project, const projects::Sweep& sweep,
                                       const std::filesystem::path& folder);
/// Where the runs are kept unless the command line says otherwise.
[[nodiscard]] std::filesystem::path defaultFolder(const NamedProject& project, const projects::Sweep& sweep);

/// Leaves only the members chosen that --member or --part means.
[[nodiscard]] Status choose(const Arguments& arguments, SweepPlan& plan);

/// Looks at every member again that is not finished.
void lookAgain(SweepPlan& plan);
/// Compares the data of all members that have a run with what those were trained on.
void compareData(SweepPlan& plan);
/// The status of a member in one or two words, and that it has other data.
[[nodiscard]] std::string statusText(const Planned& planned);

} // namespace residua::cli
