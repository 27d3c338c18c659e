// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/commands.h"
#include "projects/commands/graph_commands.h"
#include "projects/edit/edit.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The feedback on a text while it is being typed.
struct TypedAnswer {
    struct Completion {
        std::string text; ///< replaces the typed text
        std::string detail;
    };
    std::vector<Completion> completions; ///< best first
    std::string message;                 ///< the effect of entering the text, or the reason why it has none
    bool valid = false;
};

struct Typed {
    TypedAnswer answer;
    std::optional<DocumentChange> change; ///< set if the answer is valid
};

/// Interprets a text typed on a view of the topology: shortcuts ("3:7", "0:2, 1:4", "i:i+2", "cascaded"), a wiring by
/// name ("ancre"), layers of a block after the selected ones ("mlp", "4 mlp"), a name for the selected layers
/// ("group early"), or how often they are visited ("visits 4").
[[nodiscard]] Typed typed(const Document& document, const Selection& selection, std::string_view text);

/// Interprets a text typed on a graph: adds a node (offersFor) at the spot.
[[nodiscard]] Typed typedNode(const Document& document, std::string_view text, const NodeSpot& spot,
                              const GraphView& seen);

} // namespace residua::projects
