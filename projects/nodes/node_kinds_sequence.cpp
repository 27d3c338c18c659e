// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds that make a sequence, mark its positions, or make one vector of it.
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kind_rules.h"

namespace residua::projects {
namespace {

ShapeRuleResult tokenEmbeddingShape(const ParamMap& p, Shapes in)
{
    if (in[0].element != Element::Token) {
        return Error{"in", "got " + in[0].text() + ", expected tokens [batch, time]"};
    }
    Shape out{in[0].dims};
    out.dims.push_back(paramInt(p, "dim"));
    return std::vector{out};
}

ShapeRuleResult positionShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireSequence(in[0], "in"));
    const auto length = p.find("length"); // sinusoidal ones have no table
    if (length != p.end() && paramInt(p, "length") < in[0].dims[1]) {
        return Error{"in", "has " + std::to_string(in[0].dims[1]) + " positions, the table " +
                               std::to_string(paramInt(p, "length"))};
    }
    return std::vector{in[0]};
}

ShapeRuleResult segmentShape(const ParamMap&, Shapes in)
{
    RESIDUA_TRY(requireSequence(in[0], "in"));
    const Shape expected{{in[0].dims[0], in[0].dims[1]}, Element::Token};
    return in.size() == 1 || in[1] == expected
               ? ShapeRuleResult(std::vector{in[0]})
               : Error{kSegmentsPort, "got " + in[1].text() + ", expected tokens " + Shape{expected.dims}.text()};
}

/// A grid needs a quarter of the features, at least two, for each of the two waves of row and column.
ShapeRuleResult sinusoidShape(const ParamMap& p, Shapes in)
{
    ShapeRuleResult shape = positionShape(p, in);
    const std::int64_t features = in[0].features();
    if (shape && paramInt(p, kColumnsParam) > 0 && (features % 4 != 0 || features < 8)) {
        return Error{"in", "has " + std::to_string(features) +
                               " features, expected a multiple of 4 from 8 on for positions in a grid"};
    }
    if (shape && paramInt(p, kColumnsParam) == 0 && paramText(p, kWavesParam) == kWavesInHalves &&
        (features % 2 != 0 || features < 4)) {
        return Error{"in", "has " + std::to_string(features) +
                               " features, expected an even number from 4 on for waves in "
                               "halves"};
    }
    return shape;
}

/// The positions are those of a sequence or, without a mask, of an image with its features last.
ShapeRuleResult meanPoolShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 3, in.size() == 1 ? 4 : 3));
    RESIDUA_TRY(checkMask(in[0], in, 1));
    Shape out{{in[0].dims[0], in[0].features()}};
    if (paramBool(p, kKeepDimensionsParam)) {
        out.dims.insert(out.dims.begin() + 1, in[0].dims.size() - 2, 1);
    }
    return std::vector{std::move(out)};
}

/// One position more, in front. The number of positions of a text changes, so its class token is a token of the data.
ShapeRuleResult classTokenShape(const ParamMap&, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 3, 3));
    if (in[0].dims[1] < 1) {
        return Error{"in", "got " + in[0].text() +
                               ", expected a known number of positions; in a text the first token is "
                               "the class token"};
    }
    return std::vector{Shape{{in[0].dims[0], in[0].dims[1] + 1, in[0].dims[2]}}};
}

ShapeRuleResult firstTokenShape(const ParamMap&, Shapes in)
{
    const Status ok = requireReal(in[0], "in", 3, 3);
    return ok ? ShapeRuleResult(std::vector{Shape{{in[0].dims[0], in[0].dims[2]}}}) : ok.error();
}

ShapeRuleResult stepEmbeddingShape(const ParamMap& p, Shapes in)
{
    if (in[0] != Shape{{kBatch}, Element::Token}) {
        return Error{"in", "got " + in[0].text() + ", expected tokens [batch], such as the condition timestep"};
    }
    const std::int64_t features = paramInt(p, "features");
    return features % 2 == 0 ? ShapeRuleResult(std::vector{Shape{{kBatch, features}}})
                             : Error{"features", "got " + std::to_string(features) + ", expected an even number"};
}

ShapeRuleResult onePositionShape(const ParamMap&, Shapes in)
{
    const Status ok = requireReal(in[0], "in", 2, 2);
    return ok ? ShapeRuleResult(std::vector{Shape{{in[0].dims[0], 1, in[0].dims[1]}}}) : ok.error();
}

/// The cost of an output that is copied from the inputs or a table.
NodeCost copyCost(const ParamMap&, Shapes, Shapes out, std::int64_t context)
{
    return {0, 0, elementsOf(out[0], context)};
}

/// The cost of an output to whose elements one number each is added.
NodeCost additionCost(const ParamMap&, Shapes, Shapes out, std::int64_t context)
{
    const double elements = elementsOf(out[0], context);
    return {0, elements, elements};
}

} // namespace

std::vector<NodeKind> sequenceKinds()
{
    return {
        attentionKind(),
        {.key = "token_embedding",
         .title = "Token embedding",
         .summary = "Looks each token up in a learned table",
         .traits = {.role = NodeRole::TokenEmbedding, .keptForReaders = true},
         .params = {integerParam("vocab", "Vocabulary", std::string("vocab"), "tokens",
                                 "Rows of the table; vocab is the data's."),
                    integerParam("dim", "Features", std::string("d"), "features", "Features of a row."),
                    realParam("start", "Start", 1.0, "Factor on the initial table: 50 makes 0.02 a deviation of 1.",
                              0.0, 1e6)},
         .shapeRule = tokenEmbeddingShape,
         .costRule = copyCost,
         .parametersRule =
             [](const ParamMap& p, Shapes) {
                 return std::vector<NodeParameter>{
                     {"weight", {paramInt(p, "vocab"), paramInt(p, "dim")}, ParameterClass::Table}};
             }},
        {.key = "position_embedding",
         .title = "Position embedding",
         .summary = "Adds a learned row for each position",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .params = {integerParam("length", "Positions", std::string("seq"), "tokens",
                                 "The longest sequence; seq is the training plan's.")},
         .shapeRule = positionShape,
         .costRule = additionCost,
         .parametersRule =
             [](const ParamMap& p, Shapes in) {
                 return std::vector<NodeParameter>{
                     {"weight", {paramInt(p, "length"), in[0].features()}, ParameterClass::Table}};
             }},
        {.key = "segment_embedding",
         .title = "Segment embedding",
         .summary = "Adds a learned row for the text of a pair that each token belongs to",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .params = {integerParam("segments", "Segments", std::int64_t{2}, "segments", "Rows of the table."),
                    flagParam(kPairedParam, "Pairs", false,
                              "Adds the port segments, the row of each token; without it all tokens have row 0.")},
         .inputRule = [](const Node& node) { return withPort({"in"}, node, kPairedParam, kSegmentsPort); },
         .shapeRule = segmentShape,
         .costRule = additionCost,
         .parametersRule =
             [](const ParamMap& p, Shapes in) {
                 return std::vector<NodeParameter>{
                     {"weight", {paramInt(p, "segments"), in[0].features()}, ParameterClass::Table}};
             }},
        {.key = "sinusoidal_positions",
         .title = "Sinusoidal positions",
         .summary = "Adds sines and cosines of the position, which are not learned",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .params = {realParam("base", "Base", 10000.0, "The longest wave has 2π times this many positions.", 1.0, 1e9),
                    integerParam(kColumnsParam, "Columns", std::int64_t{0}, "positions",
                                 "Of a grid of patches, row by row: 14 in ViT-S/16; 0: a sequence.", 0),
                    onlyWhere(choiceParam(kWavesParam, "Waves", kWavesInTurn, {kWavesInTurn, kWavesInHalves},
                                          "Sine and cosine in turn (Vaswani et al.), or all sines before all cosines "
                                          "(Flax)."),
                              {{kColumnsParam, {std::int64_t{0}}}}),
                    choiceParam(kLastWaveParam, "Last wave", kLastWaveAtBase, {kLastWaveAtBase, kLastWaveBefore},
                                "Of a grid: its length is that of the base (ViT), or one step before it (DiT).")},
         .shapeRule = sinusoidShape,
         .costRule = additionCost},
        {.key = "step_embedding",
         .title = "Step embedding",
         .summary = "Cosines and sines of a number, such as the step of diffusion",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .params = {integerParam("features", "Features", std::int64_t{256}, "features", "Cosines, then as many sines.",
                                 2),
                    realParam("base", "Base", 10000.0, "The longest wave has almost 2π times this many steps.", 1.0,
                              1e9)},
         .shapeRule = stepEmbeddingShape,
         .costRule = additionCost},
        {.key = "one_position",
         .title = "One position",
         .summary = "[batch, d] becomes [batch, 1, d], which combines with every position",
         .traits = {.keepsInputs = false, .isView = true},
         .shapeRule = onePositionShape},
        {.key = "class_token",
         .title = "Class token",
         .summary = "Puts a learned row before the positions",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .shapeRule = classTokenShape,
         .costRule = copyCost,
         .parametersRule =
             [](const ParamMap&, Shapes in) {
                 return std::vector<NodeParameter>{{"weight", {1, in[0].features()}, ParameterClass::Table}};
             }},
        {.key = "first_token",
         .title = "First position",
         .summary = "[batch, positions, d] becomes [batch, d]: the first position alone",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .shapeRule = firstTokenShape,
         .costRule = copyCost},
        {.key = "mean_pool",
         .title = "Mean over positions",
         .summary = "[batch, positions, d] or [batch, height, width, d] becomes [batch, d]",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .params = {maskedParam(),
                    flagParam(kKeepDimensionsParam, "Keep dimensions", false,
                              "Keeps each dimension of positions with size 1, so that add and multiply meet every "
                              "position.")},
         .inputRule = [](const Node& node) { return withPort({"in"}, node, kMaskedParam, kMaskPort); },
         .shapeRule = meanPoolShape,
         .costRule =
             [](const ParamMap&, Shapes in, Shapes out, std::int64_t context) {
                 return NodeCost{0, elementsOf(in[0], context), elementsOf(out[0], context)};
             }},
    };
}

} // namespace residua::projects
