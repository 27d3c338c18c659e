// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A formula over named values: + - * / ^, unary minus, parentheses, numbers, names and calls of sqrt, exp, log, tanh,
/// sigmoid, relu, silu, gelu (by erf), abs, floor, ceil, round, min, max (any number of arguments) and mean. It is used
/// for sizes and by the expression node. In the node, the names are input ports, and mean averages over the features
/// and keeps that dimension with size 1. round rounds halves away from zero. -x^2 is -(x^2); ^ is right-associative.
enum class Op { Number, Name, Negate, Add, Subtract, Multiply, Divide, Power, Call };

struct Expression {
    Op op = Op::Number;
    double number = 0;
    std::string name; ///< name of a Name or a Call
    std::vector<Expression> args;
    bool operator==(const Expression&) const = default;
};

/// The functions that a formula can call. The engine and the PyTorch code have each of them for tensors.
[[nodiscard]] std::vector<std::string> formulaFunctions();
/// Parses the formula. Errors give the column.
[[nodiscard]] Result<Expression> parseExpression(std::string_view text);
/// Returns the names in the formula, sorted and unique.
[[nodiscard]] std::vector<std::string> namesIn(const Expression& expression);
/// Evaluates the formula. An unknown name is an error. mean of a number is the number.
[[nodiscard]] Result<double> evaluate(const Expression& expression, const std::map<std::string, double>& values);
/// Evaluates a size: an integer, or a formula over `names` with a positive integer value.
[[nodiscard]] Result<std::int64_t> evaluateSize(std::string_view text,
                                                const std::map<std::string, std::int64_t>& names);

} // namespace residua::projects
