// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/real.h"
#include "projects/nodes/node_kinds.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Helpers that the tables of node kinds share. Private to projects.
namespace residua::projects {

using Shapes = std::span<const Shape>;
using ShapeRuleResult = Result<std::vector<Shape>>;

inline constexpr std::size_t kMostDims = 8;
/// The formula of a new expression node.
inline constexpr const char* kDefaultFormula = "x + y";

/// One table per category, in palette order.
[[nodiscard]] std::vector<NodeKind> portKinds();
[[nodiscard]] std::vector<NodeKind> linearKinds();
[[nodiscard]] std::vector<NodeKind> normKinds();
[[nodiscard]] std::vector<NodeKind> sequenceKinds();
[[nodiscard]] std::vector<NodeKind> arithmeticKinds();
[[nodiscard]] std::vector<NodeKind> imageKinds();

[[nodiscard]] NodeKind attentionKind();

/// Returns `ports`, and `port` if the node's flag `param` is set.
[[nodiscard]] std::vector<std::string> withPort(std::vector<std::string> ports, const Node& node, const char* param,
                                                const char* port);
/// Checks the mask of `sequence`, which follows the node's other inputs if there is one.
[[nodiscard]] Status checkMask(const Shape& sequence, Shapes in, std::size_t others);
/// The flag that adds the port of the padding mask.
[[nodiscard]] ParamSpec maskedParam();

/// Rows of a parameter table: an integer (or a formula for one), a flag, a real number, a choice. The words are
/// literals.
[[nodiscard]] ParamSpec integerParam(std::string_view name, std::string_view title, ParamValue value,
                                     std::string_view unit, std::string_view help, double minimum = 1,
                                     double maximum = 1e8);
[[nodiscard]] ParamSpec flagParam(std::string_view name, std::string_view title, bool value, std::string_view help);
/// The rank of one weight. The default is the network's rank.
[[nodiscard]] ParamSpec rankParam(std::string_view name, std::string_view title);
[[nodiscard]] ParamSpec realParam(std::string_view name, std::string_view title, double value, std::string_view help,
                                  double minimum, double maximum);
[[nodiscard]] ParamSpec choiceParam(std::string_view name, std::string_view title, const char* value,
                                    std::vector<std::string> choices, std::string_view help);
/// Returns `spec` with the conditions under which it applies.
[[nodiscard]] ParamSpec onlyWhere(ParamSpec spec, std::vector<ParamCondition> where);

/// The layout of the images that a node reads and makes.
[[nodiscard]] ParamSpec layoutParam();
/// Checks that the input "in" is an image of known size in the node's layout.
[[nodiscard]] Status requireImage(const ParamMap& params, const Shape& shape);
/// A square window that moves over an image with zeros or nothing around it.
struct ImageWindow {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
};
/// Reads the node's parameters kernel, stride and padding.
[[nodiscard]] ImageWindow windowOf(const ParamMap& params);
/// Returns the image of `channels` channels that a window makes of the image `in`, both in the node's layout. The error
/// says that the window is larger than the padded image.
[[nodiscard]] Result<Shape> windowedImage(const ParamMap& params, const Shape& in, std::int64_t channels);

/// Returns the count of numbers in a weight [out, in]: out·in, or r·(out + in) below full rank. Its product takes twice
/// as many FLOP.
[[nodiscard]] double weightsOf(const ParamMap& params, const std::string& name, std::int64_t out, std::int64_t in);

/// Converts a parameter count. The product is computed in double, so that very large sizes saturate instead of
/// overflowing.
[[nodiscard]] std::int64_t countOf(double product);

/// Returns the elements of `shape` for one token (or for one sample if context is 1). A tensor without a time dimension
/// is shared by the whole sequence.
[[nodiscard]] double elementsOf(const Shape& shape, std::int64_t context);

/// Checks that the input on `port` is real and has between `minimum` and `maximum` dimensions, including batch.
[[nodiscard]] Status requireReal(const Shape& shape, const std::string& port, std::size_t minimum,
                                 std::size_t maximum = kMostDims);
/// Checks that the input on `port` is real, with features, or a tensor that all examples share.
[[nodiscard]] Status requireValue(const Shape& shape, const std::string& port);
/// Checks that the input on `port` is real [batch, time, features], of any length.
[[nodiscard]] Status requireSequence(const Shape& shape, const std::string& port);
/// Returns the error "width 64 does not match 128" for an input whose features differ from those of the first.
[[nodiscard]] Error widthMismatch(const std::string& port, std::int64_t got, std::int64_t expected);

/// Returns the elementwise combination of two shapes, whose dimensions must be equal or, after batch, 1 in one of
/// them. A tensor that all examples share may have fewer dimensions: the last ones of the other, or 1. The error's
/// place is `port`.
[[nodiscard]] Result<Shape> meet(const Shape& a, const Shape& b, const std::string& port);

/// Returns `shape` with another last dimension.
[[nodiscard]] Shape withFeatures(Shape shape, std::int64_t features);

/// The shape rule of a kind with one real input whose shape is unchanged.
[[nodiscard]] ShapeRuleResult sameShapeRule(const ParamMap& params, Shapes in);

} // namespace residua::projects
