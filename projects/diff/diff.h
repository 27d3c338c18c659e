// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

enum class ChangeKind { Added, Removed, Changed };

/// Which part of the document a difference is in.
enum class ChangedPart {
    Remark, ///< a name, a description, sweeps: what trains nothing
    Topology,
    Preset, ///< the topology's
    Block,  ///< the inside of one
    Other,
};

/// One difference in meaning between two documents.
struct Change {
    ChangeKind kind = ChangeKind::Changed;
    std::vector<std::string> place; ///< word by word: training, learning rate, peak; or "block mlp", "node up"
    std::string before;             ///< empty when added
    std::string after;              ///< empty when removed
    ChangedPart part = ChangedPart::Other;

    [[nodiscard]] std::string placeText() const; ///< "training · learning rate · peak"
    [[nodiscard]] std::string text() const;      ///< "~ place: before → after", "+ …", "- …"
    bool operator==(const Change&) const = default;
};

/// What differs in meaning, in document order. Positions and the order of wires never count.
[[nodiscard]] std::vector<Change> diff(const Project& a, const Project& b);
/// The same of the topologies of two documents, which are otherwise alike.
[[nodiscard]] std::vector<Change> diff(const Topology& a, const Topology& b);

/// Those of the changes that matter most to the training, in a few words: "GRN-v1", "width 64 features, peak 0.01".
/// Empty where none does: a name, a description and sweeps train nothing.
[[nodiscard]] std::string brief(const std::vector<Change>& changes);

} // namespace residua::projects
