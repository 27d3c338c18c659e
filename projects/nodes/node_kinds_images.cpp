// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds that change the layout or the size of an image without weights.
#include "projects/nodes/node_kind_rules.h"

namespace residua::projects {
namespace {

constexpr const char* kMaximum = "max";

/// A window of a maximum reads at least one value of the image at every place.
ShapeRuleResult poolShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireImage(p, in[0]));
    const ImageWindow window = windowOf(p);
    if (2 * window.padding > window.kernel) {
        return Error{"", "padding " + std::to_string(window.padding) + " is above half of the kernel " +
                             std::to_string(window.kernel) + ": a window would read nothing of the image"};
    }
    Result<Shape> out = windowedImage(p, in[0], channelsFirst(p, in[0]).dims[1]);
    return out ? ShapeRuleResult(std::vector{*std::move(out)}) : out.error();
}

/// kernel² FLOP per output. A maximum keeps the place of each, a number of 8 bytes.
NodeCost poolCost(const ParamMap& p, Shapes, Shapes out, std::int64_t context)
{
    const double elements = elementsOf(out[0], context);
    const double kernel = real(paramInt(p, "kernel"));
    const double places = paramText(p, "function") == kMaximum ? 2 * elements : 0;
    return {0, elements * kernel * kernel, elements + places};
}

NodeKind poolKind()
{
    return {
        .key = "pool2d",
        .title = "Pooling",
        .summary = "Maximum or mean of each square window of an image",
        .traits = {.keptForReaders = true},
        .params = {choiceParam("function", "Function", kMaximum, {kMaximum, "average"},
                               "average counts the zeros of the padding; max reads none."),
                   integerParam("kernel", "Kernel", std::int64_t{2}, "pixels", "Side of the square window.", 1, 1024),
                   integerParam("stride", "Stride", std::int64_t{2}, "pixels", "Step between windows.", 1, 1024),
                   integerParam("padding", "Padding", std::int64_t{0}, "pixels",
                                "Rows and columns around the image, at most half of the kernel.", 0, 512),
                   layoutParam()},
        .shapeRule = poolShape,
        .costRule = poolCost};
}

ShapeRuleResult featuresLastShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireImage(p, in[0]));
    const std::vector<std::int64_t>& dims = in[0].dims;
    return std::vector{Shape{{dims[0], dims[2], dims[3], dims[1]}}};
}

/// Each position has the values of a square, row by row, channels last.
ShapeRuleResult unpatchifyShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 3, 3));
    const std::int64_t area = paramInt(p, "patch") * paramInt(p, "patch");
    const std::int64_t columns = paramInt(p, "columns");
    if (in[0].dims[1] < 1 || in[0].dims[1] % columns != 0) {
        return Error{"in", "got " + in[0].text() + ", expected rows of " + std::to_string(columns) + " positions"};
    }
    if (in[0].dims[2] % area != 0) {
        return Error{"in", "has " + std::to_string(in[0].dims[2]) + " features, expected a multiple of " +
                               std::to_string(area) + ", the pixels of a patch"};
    }
    return std::vector{Shape{{in[0].dims[0], countOf(real(in[0].dims[1]) * real(in[0].dims[2]))}}};
}

NodeKind unpatchifyKind()
{
    return {.key = "unpatchify",
            .title = "Pictures of patches",
            .summary = "[batch, positions, patch² · channels] becomes the features of an image",
            .traits = {.keepsInputs = false, .keptForReaders = true},
            .params = {integerParam("patch", "Patch side", std::int64_t{2}, "pixels", "Side of a patch.", 1, 1024),
                       integerParam("columns", "Columns", std::int64_t{16}, "positions",
                                    "Patches beside each other: the image's width divided by the patch.")},
            .shapeRule = unpatchifyShape,
            .costRule = [](const ParamMap&, Shapes, Shapes out, std::int64_t context) {
                return NodeCost{0, 0, elementsOf(out[0], context)};
            }};
}

} // namespace

ParamSpec layoutParam()
{
    return choiceParam(kLayoutParam, "Layout", kChannelsFirst, {kChannelsFirst, kFeaturesLast},
                       "[batch, channels, height, width], or [batch, height, width, features] as between layers.");
}

Status requireImage(const ParamMap& params, const Shape& shape)
{
    const char* const expected =
        hasFeaturesLast(params) ? "[batch, height, width, features]" : "[batch, channels, height, width]";
    const bool isKnown = shape.element == Element::Real && shape.dims.size() == 4 && shape.dims[1] > 0 &&
                         shape.dims[2] > 0 && shape.dims[3] > 0;
    return isKnown ? Status(Done{}) : Error{"in", "got " + shape.text() + ", expected " + expected};
}

ImageWindow windowOf(const ParamMap& params)
{
    return {paramInt(params, "kernel"), paramInt(params, "stride"), paramInt(params, "padding")};
}

Result<Shape> windowedImage(const ParamMap& params, const Shape& in, std::int64_t channels)
{
    const ImageWindow window = windowOf(params);
    const std::size_t rows = hasFeaturesLast(params) ? 1 : 2;
    Shape out = in;
    out.dims[hasFeaturesLast(params) ? 3 : 1] = channels;
    for (const std::size_t axis : {rows, rows + 1}) {
        const std::int64_t room = in.dims[axis] + 2 * window.padding - window.kernel;
        if (room < 0) {
            return Error{"in",
                         "kernel " + std::to_string(window.kernel) + " is larger than the padded input " + in.text()};
        }
        if (window.stride > in.dims[axis]) {
            return Error{"in", "stride " + std::to_string(window.stride) + " is larger than a side of " + in.text() +
                                   ": expected larger pictures, or a smaller stride"};
        }
        out.dims[axis] = room / window.stride + 1;
    }
    return out;
}

std::vector<NodeKind> imageKinds()
{
    return {
        {.key = "features_last",
         .title = "Features last",
         .summary = "[batch, channels, height, width] becomes [batch, height, width, channels]",
         .traits = {.keepsInputs = false, .isView = true},
         .shapeRule = featuresLastShape},
        poolKind(),
        unpatchifyKind(),
    };
}

} // namespace residua::projects
