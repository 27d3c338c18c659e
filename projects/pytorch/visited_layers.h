// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/pytorch/helper_code.h"
#include "projects/pytorch/python_text.h"
#include "projects/pytorch/pytorch_code.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the executed layers that are exported, in the order in which a pass visits them.
struct VisitedLayers {
    std::vector<ExportedLayer> executed; ///< of the whole stack; the factors include those of their loops
    std::vector<std::int64_t> order;     ///< the stored layer of each exported one; 0 for visits that a pass omits
    std::vector<std::int64_t> visits;    ///< number of visits that a pass makes, of each loop
    std::int64_t stored = 0;             ///< number of stored layers in `order`

    /// Returns the number of exported executed layers.
    [[nodiscard]] std::int64_t present() const { return static_cast<std::int64_t>(order.size()); }
    /// True if a pass omits some of the exported visits.
    [[nodiscard]] bool leavesOut() const;
    /// True if the branch of an exported layer has a factor.
    [[nodiscard]] bool scales() const;
    /// Returns the factor of the branch of stored layer `layer`, from 1.
    [[nodiscard]] double factorOf(const Stack& stack, std::int64_t layer) const;
};

/// Returns the layers of an export; `layers` is empty to export all. The error names what the code cannot express, and
/// the way on.
[[nodiscard]] Result<VisitedLayers> visitedLayers(const Project& project, const std::vector<ExportedLayer>& layers);

/// Writes the member with the modules of the stored layers. `classOf` has the class of each block.
void writeLayers(PythonText& out, const Stack& stack, const VisitedLayers& layers,
                 const std::map<std::string, std::string>& classOf);
/// Writes the members with the order of the visits, if loops visit layers several times.
void writeOrder(PythonText& out, HelperCode& helpers, const Stack& stack, const VisitedLayers& layers);

} // namespace residua::projects
