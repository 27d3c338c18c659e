// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaType>
#include <QString>
#include <QTextCharFormat>

#include <functional>
#include <vector>

namespace residua::app {

/// A run of letters of an equation, or a part of it that has two dimensions.
struct EquationPart {
    enum class Shape {
        Letters,
        Fraction, ///< first over second
        Sum,      ///< the sign `text` with the limits `first` below and `second` above; either may be empty
        Root,     ///< of first
        Brackets, ///< of first, which is higher than letters; `text` is the pair: "()"
    };
    QString text;
    QTextCharFormat::VerticalAlignment place = QTextCharFormat::AlignNormal; ///< or a subscript, or a superscript
    Shape shape = Shape::Letters;
    QString first = {}; ///< an equation, as `second`
    QString second = {};
    QString source = {}; ///< as the page has it; empty for letters
    bool operator==(const EquationPart&) const = default;
};

/// Returns the width of a part, in letters.
using WidthOfPart = std::function<double(const EquationPart& part)>;

/// Splits a line of an equation as help pages write it: "x_j", "x_{j−1}", "R^d", "Y_SVD", "e^(−t/2)". An index follows
/// a single letter, a bracket, another index or a prime, so that names such as learning_rate stay. Columns, which are
/// made of several spaces, keep their places: a line without its marks is as wide. If `widthOf` is set, fractions,
/// sums, roots and the brackets around them are parts too: "a / (b + c)", "Σ_{i<j}", "Σ_{k=1…w}", "√(x² + ε)". The
/// operands of a slash are the names, numbers and brackets beside it, without the brackets; words of a path stay.
[[nodiscard]] std::vector<EquationPart> equationParts(const QString& line, const WidthOfPart& widthOf = {});

} // namespace residua::app

Q_DECLARE_METATYPE(residua::app::EquationPart)
