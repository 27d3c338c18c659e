// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/real.h"
#include "projects/nodes/node_kinds.h"

#include <cstddef>
#include <string>
#include <vector>

/// What the tables of node kinds share. Private to projects.
namespace residua::projects {

using Shapes = std::span<const Shape>;
using ShapeRuleResult = Result<std::vector<Shape>>;

inline constexpr std::size_t kMostDims = 8;
/// What a new expression node computes.
inline constexpr const char* kDefaultFormula = "x + y";

/// One table per category, in palette order.
[[nodiscard]] std::vector<NodeKind> portKinds();
[[nodiscard]] std::vector<NodeKind> linearKinds();
[[nodiscard]] std::vector<NodeKind> normKinds();
[[nodiscard]] std::vector<NodeKind> sequenceKinds();
[[nodiscard]] std::vector<NodeKind> arithmeticKinds();

/// Rows of a table: a whole number (or a formula for one), a flag, a real number.
[[nodiscard]] ParamSpec integerParam(std::string name, std::string title, ParamValue value, std::string unit,
                                     std::string help, double minimum = 1, double maximum = 1e8);
[[nodiscard]] ParamSpec flagParam(std::string name, std::string title, bool value, std::string help);
/// The rank of one weight; the network's by default.
[[nodiscard]] ParamSpec rankParam(std::string name, std::string title);
[[nodiscard]] ParamSpec realParam(std::string name, std::string title, double value, std::string help, double minimum,
                                  double maximum);

/// Numbers that a weight [out, in] holds: out·in, or below full rank r·(out + in). Its product takes twice as many
/// FLOP.
[[nodiscard]] double weightsOf(const ParamMap& params, const std::string& name, std::int64_t out, std::int64_t in);

/// A count of parameters. The product is taken in double, so that absurd sizes saturate instead of overflowing.
[[nodiscard]] std::int64_t countOf(double product);

/// Elements of `shape` for one token (or one sample, where context is 1): a tensor without a time
/// dimension is shared by the whole sequence.
[[nodiscard]] double elementsOf(const Shape& shape, std::int64_t context);

/// The input on `port` must be real and have between `minimum` and `maximum` dimensions, batch among them.
[[nodiscard]] Status requireReal(const Shape& shape, const std::string& port, std::size_t minimum,
                                 std::size_t maximum = kMostDims);
/// The input on `port` must be [batch, time, features].
[[nodiscard]] Status requireSequence(const Shape& shape, const std::string& port);
/// "width 64 does not match 128": the error for an input whose features are not those of the first.
[[nodiscard]] Error widthMismatch(const std::string& port, std::int64_t got, std::int64_t expected);

/// Elementwise meeting of two shapes: equal, or one of them has a single feature. Error's place is `port`.
[[nodiscard]] Result<Shape> meet(const Shape& a, const Shape& b, const std::string& port);

/// `shape` with another last dimension.
[[nodiscard]] Shape withFeatures(Shape shape, std::int64_t features);

/// The rule of a kind whose one real input passes with its shape unchanged.
[[nodiscard]] ShapeRuleResult sameShapeRule(const ParamMap& params, Shapes in);

} // namespace residua::projects
