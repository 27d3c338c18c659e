// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/curve_name.h"

#include "projects/base/number_from.h"

#include <algorithm>

namespace residua::visualizers {

std::string CurveName::beginning(std::string_view matrix, std::int64_t row)
{
    return std::string(matrix) + "/" + std::to_string(row) + "/";
}

std::optional<CurveName> CurveName::from(std::string_view text)
{
    const std::size_t second = text.rfind('/');
    const std::size_t first = second == 0 || second == text.npos ? text.npos : text.rfind('/', second - 1);
    if (first == text.npos) {
        return std::nullopt;
    }
    const auto row = numberFrom<std::int64_t>(text.substr(first + 1, second - first - 1));
    const auto column = numberFrom<std::int64_t>(text.substr(second + 1));
    return row && column ? std::optional(CurveName{std::string(text.substr(0, first)), *row, *column}) : std::nullopt;
}

std::string CurveName::text() const
{
    constexpr std::size_t kDigits = 5;
    const std::string digits = std::to_string(column);
    return beginning(matrix, row) + std::string(kDigits - std::min(digits.size(), kDigits), '0') + digits;
}

} // namespace residua::visualizers
