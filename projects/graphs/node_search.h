// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A search result: a node of a kind, one of its choices ("relu"), or an expression node with the text as its formula.
struct NodeOffer {
    std::string kind;
    std::string title;
    std::string summary;
    std::map<std::string, ParamValue> params = {};
};

/// Returns `text` with its ASCII letters in lower case, as typed texts are compared.
[[nodiscard]] std::string lower(std::string_view text);

/// Returns the nodes that a typed text can stand for. An empty text gives all kinds, other text the kinds whose title,
/// key, category or summary contains every word, with titles that begin with it first. A text that is a formula with at
/// least one name also gives an expression node.
[[nodiscard]] std::vector<NodeOffer> offersFor(std::string_view text);

} // namespace residua::projects
