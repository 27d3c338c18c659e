// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

/// The studies that ship with the examples: the tables and figures of the papers, at the examples' own sizes.
/// resources/reproductions.json assigns them to the tables and figures.

[[nodiscard]] SweepAxis topologyAxis(const std::vector<std::string>& topologies);
/// Schedules in the texts of scheduleFrom, each with its label.
[[nodiscard]] SweepAxis scheduleAxis(const std::vector<std::pair<std::string, std::string>>& schedules);
/// Members that set several fields, each a label with an object of fields by their pointers.
[[nodiscard]] SweepAxis severalAxis(const std::string& label,
                                    const std::vector<std::pair<std::string, std::string>>& members);
/// Three random starts.
[[nodiscard]] SweepAxis seedAxis();

/// Of ANCRe on the example ancre-language: tables 1, 2, 4 and 5.
[[nodiscard]] std::vector<Sweep> ancreStudies();
/// Of DeepCrossAttention on the example dca-language, of `depth` layers: tables 1 to 3, 5, 6 and 9, figures 6 to 9.
[[nodiscard]] std::vector<Sweep> dcaStudies(std::int64_t depth);
/// Of RaPTr on the example staged-language: tables 4, 9 and 10, figure 7.
[[nodiscard]] std::vector<Sweep> raptrStudies();

} // namespace residua::projects
