// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/document_change.h"
#include "projects/commands/graph_commands.h"
#include "projects/edit/edit.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// What the view says of a text while it is being typed.
struct TypedAnswer {
    struct Completion {
        std::string text; ///< in place of what was typed
        std::string detail;
    };
    std::vector<Completion> completions; ///< best first
    std::string message;                 ///< what entering it does, or why it does nothing
    bool valid = false;
};

struct Typed {
    TypedAnswer answer;
    std::optional<DocumentChange> change; ///< where the answer is valid
};

/// What a text typed on a view of the topology means: shortcuts ("3:7", "0:2, 1:4", "i:i+2", "cascaded"), a wiring by
/// name ("ancre"), layers of a block ("mlp", "4 mlp", behind the selected ones), a name for the selected layers
/// ("group early").
[[nodiscard]] Typed typed(const Document& document, const Selection& selection, std::string_view text);

/// What a text typed on a graph means: a node (offersFor) at the spot.
[[nodiscard]] Typed typedNode(const Document& document, std::string_view text, const NodeSpot& spot,
                              const GraphView& seen);

} // namespace residua::projects
