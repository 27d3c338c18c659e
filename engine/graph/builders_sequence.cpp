// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/attention.h"
#include "engine/graph/node_builder.h"
#include "engine/ops/fused.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <c10/util/Exception.h>

namespace residua::engine {
namespace {

using projects::paramInt;

OperatorResult buildTokenEmbedding(const NodeContext& node)
{
    const at::Tensor table =
        node.parameter("weight", {paramInt(node.params, "vocab"), paramInt(node.params, "dim")}, Role::Table);
    return makeOperator([table](const Inputs& in, const Pass&) { return at::embedding(table, in[0]); });
}

OperatorResult buildPositionEmbedding(const NodeContext& node)
{
    const at::Tensor table = node.parameter("weight", {paramInt(node.params, "length"), node.features()}, Role::Table);
    return makeOperator([table](const Inputs& in, const Pass&) {
        const std::int64_t time = in[0].size(1);
        TORCH_CHECK(time <= table.size(0), "a sequence of ", time, " tokens is longer than the ", table.size(0),
                    " positions of the embedding");
        return in[0] + table.narrow(0, 0, time);
    });
}

OperatorResult buildMeanPool(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) { return in[0].mean(1); });
}

constexpr NodeBuilderEntry kTable[] = {
    {"attention", buildAttention},
    {"token_embedding", buildTokenEmbedding},
    {"position_embedding", buildPositionEmbedding},
    {"mean_pool", buildMeanPool},
};

} // namespace

std::span<const NodeBuilderEntry> sequenceBuilders()
{
    return kTable;
}

} // namespace residua::engine
