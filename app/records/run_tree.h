// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace residua::app {

/// The list of runs as a tree: each run below the run that it was forked from, or below its group. Nodes are numbered:
/// first the runs, as in the list, then the groups.
class RunTree {
public:
    /// The parent of top-level nodes.
    static constexpr std::size_t kRoot = SIZE_MAX;

    RunTree() = default;
    /// `groups` has the title of each run's group; empty: the runs are not grouped. A fork of a run of another group is
    /// directly below its own group.
    RunTree(const std::vector<engine::RunInfo>& runs, const std::vector<QString>& groups);

    [[nodiscard]] std::size_t parentOf(std::size_t node) const { return m_parents[node]; }
    /// Returns the nodes below `node`, or the top-level nodes for kRoot. Runs keep the order of the list; groups have
    /// that of their first runs.
    [[nodiscard]] const std::vector<std::size_t>& childrenOf(std::size_t node) const;
    [[nodiscard]] bool isGroup(std::size_t node) const { return node >= m_runs; }
    [[nodiscard]] const QString& titleOf(std::size_t group) const { return m_titles[group - m_runs]; }
    /// Returns all runs below a node.
    [[nodiscard]] std::vector<std::size_t> runsBelow(std::size_t node) const;
    /// Returns the group of a run, or kRoot.
    [[nodiscard]] std::size_t groupOf(std::size_t run) const;

private:
    std::size_t m_runs = 0;
    std::vector<QString> m_titles; ///< of the groups
    std::vector<std::size_t> m_parents;
    std::map<std::size_t, std::vector<std::size_t>> m_children;
};

} // namespace residua::app
