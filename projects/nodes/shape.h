// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

struct Project;

/// Sizes known only when training runs, kept symbolic.
inline constexpr std::int64_t kBatch = -1;
inline constexpr std::int64_t kTime = -2;

/// Element type of what flows on a wire.
enum class Element { Real, Token };

/// [batch, time, 256] and the like; a dimension is a size or one of the symbols above.
struct Shape {
    std::vector<std::int64_t> dims;
    Element element = Element::Real;

    /// "[batch, time, 256]"; tokens read "tokens [batch, time]".
    [[nodiscard]] std::string text() const;
    /// The last dimension; 0 for a shape of none.
    [[nodiscard]] std::int64_t features() const { return dims.empty() ? 0 : dims.back(); }
    bool operator==(const Shape&) const = default;
};

/// Named sizes that a formula may use: d (network.width), vocab, seq (training.sequenceLength),
/// in and out (the data's vector widths).
struct Sizes {
    std::map<std::string, std::int64_t> named;
};
[[nodiscard]] Result<Sizes> sizesOf(const Project& project);

/// Where a graph sits in the document: "stem", "head" or "block:<name>".
using GraphRef = std::string;
[[nodiscard]] const Graph* findGraph(const Project& project, const GraphRef& ref);
[[nodiscard]] Graph* findGraph(Project& project, const GraphRef& ref);

/// The shape on every output port of a graph; nodes whose inputs could not be inferred are absent,
/// with their reason in `errors`.
struct GraphShapes {
    std::map<PortRef, Shape> outputs;
    std::map<NodeId, Error> errors;
    std::map<std::string, Shape> graphOutputs; ///< by the port of each "output" node
};
[[nodiscard]] GraphShapes inferShapes(const Project& project, const GraphRef& ref);

/// The nodes in an order in which each comes after what feeds it; an error names a cycle's nodes.
[[nodiscard]] Result<std::vector<NodeId>> topologicalOrder(const Graph& graph);

/// What a tied head shares: the stem's first token_embedding and the head's last linear.
struct TiedNodes {
    NodeId embedding{};
    NodeId linear{};
};
/// nullopt where the head is not tied, or there is nothing to tie.
[[nodiscard]] std::optional<TiedNodes> tiedNodes(const Network& network);

} // namespace residua::projects
