// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"

#include <compare>
#include <string>
#include <string_view>

namespace residua::engine {

/// Kinds of recorded matrices (values.h, Matrix); a run may have others, of programs that come later.
namespace matrix {
inline constexpr const char* kMix = "mix";                 ///< the weight that is applied: p under a softmax
inline constexpr const char* kCoefficient = "coefficient"; ///< what is learned: c
inline constexpr const char* kSpread = "spread";           ///< the standard deviation of the weight over features
inline constexpr const char* kActive = "active";           ///< 1 for each layer that the step ran, 0 for the others
} // namespace matrix

/// What a recorded matrix is of, and whose mix. Its text is "mix", or "mix/q" where a layer has several.
struct MatrixName {
    std::string kind;
    projects::MixPort port = projects::MixPort::Input;

    /// A text that ends in no port's name is all kind.
    [[nodiscard]] static MatrixName from(std::string_view text);
    [[nodiscard]] std::string text() const;
    /// Whether it is of what a shortcut has: its weight, its coefficient or their spread.
    [[nodiscard]] bool isOfShortcuts() const;
    /// What its numbers are, which says how they are coloured.
    [[nodiscard]] projects::WeightQuantity quantity() const;
    /// In the order in which they are listed: weights as applied first, then ports in theirs.
    friend std::strong_ordering operator<=>(const MatrixName& a, const MatrixName& b);
    bool operator==(const MatrixName&) const = default;
};

} // namespace residua::engine
