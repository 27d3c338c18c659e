// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"

#include <optional>

namespace residua::projects {

/// A block r(h) = a + f(h + a) cut at the input of its feed-forward half (ANCRe Table 1). Nodes keep their names and
/// numbers; each half is a graph of its own with the ports "input" and "output".
struct BlockHalves {
    Graph attention;   ///< h to a
    Graph feedForward; ///< u = h + a to f
};

/// What a block's output adds up: the ends of its two halves.
struct HalfEnds {
    NodeId attention{};   ///< a
    NodeId feedForward{}; ///< f
};
/// The ends of the halves of a block that splitAtFfn() cuts; nothing for another.
[[nodiscard]] std::optional<HalfEnds> halfEndsOf(const Block& block);

/// Finds the site by structure: an addition u of the block's one input and some a, after which a alone, and the block's
/// output an addition of that same a and of something that reads the input through u alone. An error, naming the block,
/// where there is no such addition.
[[nodiscard]] Result<BlockHalves> splitAtFfn(const Block& block);

} // namespace residua::projects
