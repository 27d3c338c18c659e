// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/document_marks.h"
#include "engine/tokeniser/base/part.h"

namespace residua::engine {

/// Returns the special tokens that a post-processor of tokenizer.json adds around one text.
[[nodiscard]] DocumentMarks readMarks(const Part& part);

} // namespace residua::engine
