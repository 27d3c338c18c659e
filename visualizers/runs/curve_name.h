// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace residua::visualizers {

/// The curve of one column of a row of a recorded matrix (engine/api/row_curves.h). Its text, "norms/0/00012", by which
/// RunCurves knows it, sorts by column.
struct CurveName {
    std::string matrix;
    std::int64_t row = 0;
    std::int64_t column = 1; ///< from 1

    /// How the names of a row's curves begin: "norms/0/".
    [[nodiscard]] static std::string beginning(std::string_view matrix, std::int64_t row);
    /// Nothing for a text that is none: "loss", "norms/0/".
    [[nodiscard]] static std::optional<CurveName> from(std::string_view text);
    [[nodiscard]] std::string text() const;
    bool operator==(const CurveName&) const = default;
};

} // namespace residua::visualizers
