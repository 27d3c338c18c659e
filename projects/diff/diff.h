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

/// A change in a few words: "width 64 features", "3000 steps".
[[nodiscard]] std::string briefText(const Change& change);
/// What of `b` is not as in `a` and matters to the training, a few words each: how it is wired (wiringName), then
/// blocks and the like, then fields. Empty if nothing is: a name, a description and sweeps train nothing.
[[nodiscard]] std::vector<std::string> differingWords(const Project& a, const Project& b);

} // namespace residua::projects
