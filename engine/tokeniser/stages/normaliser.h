// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/document_marks.h"
#include "engine/tokeniser/base/part.h"
#include "projects/base/result.h"

#include <memory>
#include <string>

namespace residua::engine {

/// Normalises text before it is split. Immutable; any thread.
class Normaliser {
public:
    virtual ~Normaliser() = default;
    /// Changes `text`, which is valid UTF-8 and remains so.
    [[nodiscard]] virtual Status apply(std::string& text, TextStart start) const = 0;
};

/// Makes the normaliser that a component of tokenizer.json describes; null if the part has failed.
[[nodiscard]] std::unique_ptr<Normaliser> makeNormaliser(const Part& part);

} // namespace residua::engine
