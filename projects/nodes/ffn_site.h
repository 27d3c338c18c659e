// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"
#include "projects/nodes/resolved_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::projects {

/// A block r(h) = a + f(h + a) cut at the input of its feed-forward half (ANCRe Table 1). Nodes keep their names and
/// ids. Each half is a graph with the ports "input" and "output".
struct BlockHalves {
    Graph attention;   ///< h to a
    Graph feedForward; ///< u = h + a to f
};

/// The two terms of a block's output: the ends of its halves.
struct HalfEnds {
    NodeId attention{};   ///< a
    NodeId feedForward{}; ///< f
    NodeId site{};        ///< h + a, which f reads
};
/// Returns the ends of the halves of a block that splitAtFfn() can cut, else nullopt.
[[nodiscard]] std::optional<HalfEnds> halfEndsOf(const Block& block);

/// Finds the site from the structure of the graph: an addition u of the block's only input and some a, in a block with
/// output a + f, where f reads the input only through u and a does not depend on u. Returns an error that names the
/// block if there is no such addition.
[[nodiscard]] Result<BlockHalves> splitAtFfn(const Block& block);

/// Returns the graph of the stem or head as it runs under a wiring. If ports have separate norms, no node shares
/// another node's weights.
[[nodiscard]] Graph graphAsRun(const Wiring& wiring, Graph graph);
/// Returns the graphs that a layer of the block runs, in order: the block's graph, or its two halves if the wiring acts
/// at FFN inputs. Returns an error if the block has no halves.
[[nodiscard]] Result<std::vector<Graph>> graphsAsRun(const Wiring& wiring, const Block& block);

/// An MLP of a graph: the linear nodes that compute its hidden features, and the one that reads them. The nodes between
/// them work feature by feature and have no other readers. The MLP is therefore a sum of parts, each with some of the
/// hidden features. A linear node belongs to at most one MLP.
struct MlpNodes {
    std::vector<NodeId> openers; ///< in the graph's order
    NodeId closer{};
    std::int64_t hidden = 0;          ///< features
    std::vector<NodeId> between = {}; ///< nodes that work on the hidden features one by one
};
[[nodiscard]] std::vector<MlpNodes> mlpsOf(const ResolvedGraph& graph);

} // namespace residua::projects
