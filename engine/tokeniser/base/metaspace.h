// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"

#include <string>

namespace residua::engine {

/// How spaces become a visible character, and the text gets one before it: what cutting text and decoding it agree on.
struct Metaspace {
    enum class Before { Never, First, Always }; ///< before no piece, the text's first one, every one
    std::string mark;                           ///< that character
    Before before = Before::Always;
};

[[nodiscard]] Metaspace readMetaspace(const Part& part);

} // namespace residua::engine
