// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstdint>
#include <random>

namespace residua::tests {

/// How wild the values are.
enum class Values {
    Plausible, ///< what a person might enter: small sizes, at most a few dozen layers
    Any,       ///< whatever a file can hold: extreme numbers, empty and odd texts
};

/// Seeded documents and edits; the same seed gives the same ones. Every field is drawn, also those of later
/// versions, since the document's own description of its fields is walked.
class RandomDocument {
public:
    explicit RandomDocument(std::uint32_t seed, Values values = Values::Plausible);

    /// A document that a file can hold; it need not be one that trains.
    [[nodiscard]] projects::Document document();
    /// An edit that applies to `document`. Kinds of edits are equally likely, as far as they apply.
    [[nodiscard]] projects::Edit edit(const projects::Document& document);

private:
    std::mt19937 m_engine;
    Values m_values;
};

} // namespace residua::tests
