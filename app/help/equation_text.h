// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QTextCharFormat>

#include <vector>

namespace residua::app {

/// A run of letters of an equation.
struct EquationPart {
    QString text;
    QTextCharFormat::VerticalAlignment place = QTextCharFormat::AlignNormal; ///< or a subscript, or a superscript
    bool operator==(const EquationPart&) const = default;
};

/// Splits a line of an equation as help pages write it: "x_j", "x_{j−1}", "R^d", "Y_SVD". An index follows a single
/// letter, a bracket, another index or a prime, so that names such as learning_rate stay. Columns, which are made of
/// several spaces, keep their places: a line without its marks is as wide.
[[nodiscard]] std::vector<EquationPart> equationParts(const QString& line);

} // namespace residua::app
