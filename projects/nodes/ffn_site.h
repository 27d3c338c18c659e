// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"

#include <optional>

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
};
/// Returns the ends of the halves of a block that splitAtFfn() can cut, else nullopt.
[[nodiscard]] std::optional<HalfEnds> halfEndsOf(const Block& block);

/// Finds the site from the structure of the graph: an addition u of the block's only input and some a, in a block with
/// output a + f, where f reads the input only through u and a does not depend on u. Returns an error that names the
/// block if there is no such addition.
[[nodiscard]] Result<BlockHalves> splitAtFfn(const Block& block);

} // namespace residua::projects
