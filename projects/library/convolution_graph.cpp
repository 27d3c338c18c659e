// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/convolution_graph.h"

#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace residua::projects {

ConvolutionGraph& ConvolutionGraph::then(const std::string& name, const std::string& kind,
                                         std::map<std::string, ParamValue> params)
{
    m_graph.node(name, kind, std::move(params)).wire(m_last, name);
    m_last = name;
    return *this;
}

ConvolutionGraph& ConvolutionGraph::activation(const std::string& name, const std::string& function)
{
    return then(name, "activation", {{"function", function}});
}

ConvolutionGraph& ConvolutionGraph::picture(std::int64_t side)
{
    constexpr std::int64_t kChannels = 3;
    return then("image", "image", {{"channels", kChannels}, {"height", side}, {"width", side}})
        .then("features_last", "features_last", {});
}

ConvolutionGraph& ConvolutionGraph::convolution(const std::string& name, const ParamValue& out, std::int64_t kernel,
                                                std::int64_t stride, std::map<std::string, ParamValue> params)
{
    params.insert({{"out", out},
                   {"kernel", kernel},
                   {"stride", stride},
                   {"padding", kernel / 2},
                   {kLayoutParam, std::string(kFeaturesLast)}});
    return then("conv" + name, "conv2d", std::move(params)).then("norm" + name, "batch_norm", {});
}

ConvolutionGraph& ConvolutionGraph::concatenate(const std::string& name, const std::string& first,
                                                const std::string& second)
{
    m_graph.node(name, "concat").wire(first, name + ".in1").wire(second, name + ".in2");
    return from(name);
}

ConvolutionGraph& ConvolutionGraph::excite(const ParamValue& features, const ParamValue& inner,
                                           const std::string& suffix)
{
    const std::string read = m_last;
    then("mean" + suffix, "mean_pool", {{kKeepDimensionsParam, true}})
        .then("squeeze" + suffix, "linear", {{"out", inner}, {"bias", true}})
        .activation("silu_squeeze" + suffix, "silu")
        .then("excite" + suffix, "linear", {{"out", features}, {"bias", true}})
        .activation("gate" + suffix, "sigmoid");
    const std::string product = "excited" + suffix;
    m_graph.node(product, "multiply").wire(read, product + ".in1").wire(m_last, product + ".in2");
    return from(product);
}

Graph ConvolutionGraph::sumOf(const std::vector<std::string>& terms)
{
    m_graph.node("sum", "add");
    for (std::size_t i = 0; i < terms.size(); ++i) {
        m_graph.wire(terms[i], "sum.in" + std::to_string(i + 1));
    }
    return m_graph.node("output", "output").wire("sum", "output").build();
}

Graph ConvolutionGraph::end()
{
    return m_graph.node("output", "output").wire(m_last, "output").build();
}

ConvolutionGraph& addMbConv(ConvolutionGraph& graph, const MbConv& block)
{
    const std::string times = block.expansion == 1 ? "" : std::to_string(block.expansion) + "*";
    const ParamValue wide = block.in ? ParamValue(block.expansion * *block.in) : ParamValue(times + "d");
    const ParamValue inner =
        block.in ? ParamValue(std::max<std::int64_t>(1, *block.in / 4)) : ParamValue(std::string("max(1, floor(d/4))"));
    if (block.expansion > 1) {
        graph.convolution("_expand" + block.suffix, wide, 1).activation("silu_expand" + block.suffix, "silu");
    }
    return graph.convolution("_depth" + block.suffix, wide, block.kernel, block.stride, {{kGroupsParam, wide}})
        .activation("silu_depth" + block.suffix, "silu")
        .excite(wide, inner, block.suffix)
        .convolution("_project" + block.suffix, block.out, 1);
}

} // namespace residua::projects
