// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"

#include <string>

namespace residua::engine {

/// The conversion of spaces to a visible character and the addition of one before the text. Splitting and decoding
/// share it.
struct Metaspace {
    enum class Before { Never, First, Always }; ///< before no piece, the text's first piece, or every piece
    std::string mark;                           ///< the visible character
    Before before = Before::Always;
};

[[nodiscard]] Metaspace readMetaspace(const Part& part);

} // namespace residua::engine
