// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/document_marks.h"
#include "engine/tokeniser/base/part.h"
#include "projects/base/result.h"

#include <memory>
#include <string>

namespace residua::engine {

/// Makes text alike before it is cut. Immutable; any thread.
class Normaliser {
public:
    virtual ~Normaliser() = default;
    /// Changes `text`, which is valid UTF-8 and stays so.
    [[nodiscard]] virtual Status apply(std::string& text, TextStart start) const = 0;
};

/// Makes the normaliser that a component of tokenizer.json describes; null where the part has failed.
[[nodiscard]] std::unique_ptr<Normaliser> makeNormaliser(const Part& part);

} // namespace residua::engine
