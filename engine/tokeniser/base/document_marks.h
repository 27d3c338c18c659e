// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace residua::engine {

/// Whether a text begins here, or continues one that was passed before.
enum class TextStart { Begins, GoesOn };

/// The tokens around a document.
struct DocumentMarks {
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> behind;
};

} // namespace residua::engine
