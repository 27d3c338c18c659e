// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/graph_builder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// Builds graphs of convolutions over images with their features last, [batch, height, width, features].
class ConvolutionGraph {
public:
    ConvolutionGraph() { m_graph.node("input", "input"); }

    /// Adds a node that reads the last one.
    ConvolutionGraph& then(const std::string& name, const std::string& kind, std::map<std::string, ParamValue> params);
    ConvolutionGraph& activation(const std::string& name, const std::string& function);
    /// Adds a picture [batch, 3, side, side] of the values of a vector, and puts its features last.
    ConvolutionGraph& picture(std::int64_t side);
    /// Adds "conv" + `name`, a convolution that keeps the size, up to its stride, and "norm" + `name`, a batch norm.
    ConvolutionGraph& convolution(const std::string& name, const ParamValue& out, std::int64_t kernel,
                                  std::int64_t stride = 1, std::map<std::string, ParamValue> params = {});
    /// Adds the features of two nodes side by side.
    ConvolutionGraph& concatenate(const std::string& name, const std::string& first, const std::string& second);
    /// Adds squeeze-and-excitation (Hu et al., 2018): the last node's value times σ(W2·silu(W1·mean + b1) + b2), with
    /// `inner` features between. The names of its nodes end with `suffix`.
    ConvolutionGraph& excite(const ParamValue& features, const ParamValue& inner, const std::string& suffix);

    /// Returns the name of the last node.
    [[nodiscard]] const std::string& last() const { return m_last; }
    /// Makes `node` the last node, which the next one reads.
    ConvolutionGraph& from(const std::string& node)
    {
        m_last = node;
        return *this;
    }

    /// Returns the graph, whose output is the sum of `terms`.
    [[nodiscard]] Graph sumOf(const std::vector<std::string>& terms);
    /// Returns the graph, whose output is that of the last node.
    [[nodiscard]] Graph end();

private:
    GraphBuilder m_graph;
    std::string m_last = "input";
};

/// A mobile inverted bottleneck (MBConv; Sandler et al., 2018, with squeeze-and-excitation as Tan and Le, 2019): 1×1 to
/// `expansion` times the features, a depthwise convolution, excitation, 1×1 to `out` features.
struct MbConv {
    std::optional<std::int64_t> in; ///< features of the input; nullopt: the stack's width d
    ParamValue out = std::string("d");
    std::int64_t expansion = 6; ///< 1: there is no first convolution
    std::int64_t kernel = 3;
    std::int64_t stride = 1;
    std::string suffix = {}; ///< of the names of its nodes, for several in one graph
};
/// Adds the nodes of the block, without a shortcut.
ConvolutionGraph& addMbConv(ConvolutionGraph& graph, const MbConv& block);

} // namespace residua::projects
