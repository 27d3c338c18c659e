// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Whether a text begins there, or goes on from one that was handed over before.
enum class TextStart { Begins, GoesOn };

/// Tokens that stand around a document.
struct DocumentMarks {
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> behind;
};

} // namespace residua::engine
