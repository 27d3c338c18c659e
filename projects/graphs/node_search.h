// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Something that a typed text may mean: a node of a kind, one of its choices ("relu"), or an expression node with the
/// text as its formula.
struct NodeOffer {
    std::string kind;
    std::string title;
    std::string summary;
    std::map<std::string, ParamValue> params = {};
};

/// `text` with its ASCII letters in lower case: typed texts are compared in this form.
[[nodiscard]] std::string lower(std::string_view text);

/// What a typed text may mean. All kinds for an empty text; else those whose title, key, category or summary has every
/// word of it, titles that begin with it first. A text that reads as a formula over at least one name offers an
/// expression node.
[[nodiscard]] std::vector<NodeOffer> offersFor(std::string_view text);

} // namespace residua::projects
