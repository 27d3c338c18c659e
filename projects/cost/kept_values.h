// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph_ref.h"
#include "projects/model/project.h"
#include "projects/nodes/resolved_graph.h"

#include <map>
#include <string>
#include <vector>

/// What a training step keeps for its backward pass. Private to this folder.
namespace residua::projects {

class KeptValues {
public:
    /// `residualBytes` and `activationBytes` are those of an element.
    KeptValues(const Project& project, double residualBytes, double activationBytes);

    /// Returns the outputs that some reader needs again, with the bytes per element. The topology decides about the
    /// outputs of a block. The input of a loss is kept, and what other graphs read of the head's output.
    [[nodiscard]] std::map<NodeId, double> outputs(const GraphRef& ref, const ResolvedGraph& resolved) const;
    /// True for each executed layer, and then for the head, if the backward pass needs what it reads. `graphs` are
    /// those of the blocks as they run.
    [[nodiscard]] std::vector<bool> inputs(const std::map<std::string, std::vector<Graph>>& graphs) const;

private:
    [[nodiscard]] bool keepsInput(const GraphRef& ref, const std::vector<Graph>& graphs) const;
    [[nodiscard]] bool keepsOutput() const;
    [[nodiscard]] bool keepsStates() const;
    [[nodiscard]] bool keepsStem() const;

    const Project& m_project;
    double m_residualBytes;
    double m_activationBytes;
};

} // namespace residua::projects
