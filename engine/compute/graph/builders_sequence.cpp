// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/row_layout.h"
#include "projects/nodes/attention_options.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/pow.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <memory>

namespace residua::engine {
namespace {

using projects::paramInt;

OperatorResult buildTokenEmbedding(const NodeContext& node)
{
    const ParameterStart start{
        .role = Role::Table, .factor = projects::paramDouble(node.params, "start"), .values = {}, .follows = {}};
    const at::Tensor table = node.plan.add(
        node.prefix() + "weight", {paramInt(node.params, "vocab"), paramInt(node.params, "dim")}, start, Decay::Yes);
    return makeOperator([table](const Inputs& in, const Pass&) { return at::embedding(table, in[0]); });
}

/// Returns the rows of a table of positions that are added to the tokens of a pass.
at::Tensor positionRows(const at::Tensor& table, std::int64_t time, const Pass& pass)
{
    return pass.rows ? pass.rows->rowsOf(table, time) : table.narrow(0, 0, time);
}

OperatorResult buildPositionEmbedding(const NodeContext& node)
{
    const at::Tensor table = node.parameter("weight", {paramInt(node.params, "length"), node.features()}, Role::Table);
    return makeOperator([table](const Inputs& in, const Pass& pass) {
        const std::int64_t time = in[0].size(1);
        TORCH_CHECK(time <= table.size(0), "a sequence of ", time, " tokens is longer than the ", table.size(0),
                    " positions of the embedding");
        return in[0] + positionRows(table, time, pass);
    });
}

OperatorResult buildSegmentEmbedding(const NodeContext& node)
{
    const at::Tensor table =
        node.parameter("weight", {paramInt(node.params, "segments"), node.features()}, Role::Table);
    return makeOperator([table](const Inputs& in, const Pass&) {
        return in[0] + (in.size() > 1 ? at::embedding(table, in[1]) : table[0]);
    });
}

/// Returns [time, features]: feature 2i is sin(p/base^(2i/d)), feature 2i + 1 the cosine of the same (Vaswani et al.,
/// 2017, section 3.5).
at::Tensor sinusoids(std::int64_t time, std::int64_t features, double base)
{
    at::Tensor table = at::empty({time, features}, at::kDouble);
    double* value = table.mutable_data_ptr<double>();
    for (std::int64_t p = 0; p < time; ++p) {
        for (std::int64_t i = 0; i < features; ++i, ++value) {
            const double exponent = static_cast<double>(i - i % 2) / static_cast<double>(features);
            const double angle = static_cast<double>(p) / std::pow(base, exponent);
            *value = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
        }
    }
    return table;
}

/// Returns [time, features]: the sines of all frequencies, then their cosines, with ω_i = base^(−i/(features/2 − 1))
/// (the example of LM1B in Flax).
at::Tensor sinusoidHalves(std::int64_t time, std::int64_t features, double base)
{
    at::Tensor table = at::empty({time, features}, at::kDouble);
    double* value = table.mutable_data_ptr<double>();
    const std::int64_t half = features / 2;
    for (std::int64_t p = 0; p < time; ++p) {
        for (std::int64_t i = 0; i < features; ++i, ++value) {
            const double exponent = static_cast<double>(i % half) / static_cast<double>(half - 1);
            const double angle = static_cast<double>(p) / std::pow(base, exponent);
            *value = i < half ? std::sin(angle) : std::cos(angle);
        }
    }
    return table;
}

/// Returns [time, features] for positions in a grid, row by row: a quarter each of sin(x·ω), cos(x·ω), sin(y·ω) and
/// cos(y·ω), with x the column, y the row and ω_i = base^(−i/(features/4 − 1)) (Beyer et al., 2022), or without the −1
/// if `endsBefore` (Peebles and Xie, 2023).
at::Tensor gridSinusoids(std::int64_t time, std::int64_t features, double base, std::int64_t columns, bool endsBefore)
{
    at::Tensor table = at::empty({time, features}, at::kDouble);
    double* value = table.mutable_data_ptr<double>();
    const std::int64_t quarter = features / 4;
    for (std::int64_t p = 0; p < time; ++p) {
        for (std::int64_t i = 0; i < features; ++i, ++value) {
            const std::int64_t part = i / quarter;
            const std::int64_t at = part < 2 ? p % columns : p / columns;
            const double exponent =
                static_cast<double>(i % quarter) / static_cast<double>(endsBefore ? quarter : quarter - 1);
            const double angle = static_cast<double>(at) / std::pow(base, exponent);
            *value = part % 2 == 0 ? std::sin(angle) : std::cos(angle);
        }
    }
    return table;
}

OperatorResult buildSinusoidalPositions(const NodeContext& node)
{
    const std::int64_t columns = paramInt(node.params, projects::kColumnsParam);
    const double base = projects::paramDouble(node.params, "base");
    const bool halves = projects::paramText(node.params, projects::kWavesParam) == projects::kWavesInHalves;
    const bool before = projects::paramText(node.params, projects::kLastWaveParam) == projects::kLastWaveBefore;
    const auto table = std::make_shared<at::Tensor>(); // grows with the longest sequence
    return makeOperator([table, base, columns, halves, before](const Inputs& in, const Pass& pass) {
        const std::int64_t time = in[0].size(1);
        if (!table->defined() || table->size(0) < time || table->scalar_type() != in[0].scalar_type()) {
            const std::int64_t features = in[0].size(2);
            *table = (columns > 0 ? gridSinusoids(time, features, base, columns, before)
                      : halves    ? sinusoidHalves(time, features, base)
                                  : sinusoids(time, features, base))
                         .to(in[0].options());
        }
        return in[0] + positionRows(*table, time, pass);
    });
}

/// Returns [batch, features]: the cosines of the numbers times ω_i = base^(−i/(features/2)), then their sines.
OperatorResult buildStepEmbedding(const NodeContext& node)
{
    const std::int64_t half = paramInt(node.params, "features") / 2;
    const double base = projects::paramDouble(node.params, "base");
    const at::Tensor exponents = at::arange(half, at::kDouble) / static_cast<double>(half);
    return makeOperator([frequencies = at::pow(base, -exponents), there = std::make_shared<at::Tensor>(),
                         type = node.plan.compute().activationType](const Inputs& in, const Pass&) {
        const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
        if (!there->defined() || there->device() != in[0].device()) {
            *there = frequencies.to(in[0].device(), wide);
        }
        const at::Tensor angles = in[0].to(wide).unsqueeze(-1) * *there;
        return at::cat({angles.cos(), angles.sin()}, -1).to(type);
    });
}

OperatorResult buildOnePosition(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) { return in[0].unsqueeze(1); });
}

OperatorResult buildClassToken(const NodeContext& node)
{
    const at::Tensor token = node.parameter("weight", {1, node.features()}, Role::Table);
    return makeOperator([token](const Inputs& in, const Pass&) {
        return at::cat({token.to(in[0].scalar_type()).unsqueeze(0).expand({in[0].size(0), 1, in[0].size(2)}), in[0]},
                       1);
    });
}

/// Copies the position: a view that a reader keeps for the backward pass would keep the whole sequence.
OperatorResult buildFirstToken(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) { return in[0].select(1, 0).clone(); });
}

OperatorResult buildMeanPool(const NodeContext& node)
{
    std::vector<std::int64_t> shape;
    if (projects::paramBool(node.params, projects::kKeepDimensionsParam)) {
        shape.assign(node.inputs[0].dims.size(), 1);
        shape.front() = -1;
        shape.back() = node.features();
    }
    return makeOperator([shape](const Inputs& in, const Pass&) {
        at::Tensor mean;
        if (in.size() == 1) {
            mean = in[0].flatten(1, -2).mean(1);
        } else {
            const at::Tensor weights = in[1].to(in[0].scalar_type()).unsqueeze(-1);
            mean = (in[0] * weights).sum(1) / weights.sum(1).clamp_min(1);
        }
        return shape.empty() ? mean : mean.view(shape);
    });
}

constexpr NodeBuilderEntry kSequenceBuilders[] = {
    {"attention", buildAttention},
    {"token_embedding", buildTokenEmbedding},
    {"position_embedding", buildPositionEmbedding},
    {"segment_embedding", buildSegmentEmbedding},
    {"sinusoidal_positions", buildSinusoidalPositions},
    {"step_embedding", buildStepEmbedding},
    {"one_position", buildOnePosition},
    {"class_token", buildClassToken},
    {"first_token", buildFirstToken},
    {"mean_pool", buildMeanPool},
};

} // namespace

std::span<const NodeBuilderEntry> sequenceBuilders()
{
    return kSequenceBuilders;
}

} // namespace residua::engine
