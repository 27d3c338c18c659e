// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

enum class ChangeKind { Added, Removed, Changed };

/// The part of the document that contains a difference.
enum class ChangedPart {
    Remark, ///< a name, a description or sweeps, which do not affect the training
    Topology,
    Preset, ///< the topology's preset
    Block,  ///< the inside of a block
    Other,
};

/// One difference in meaning between two documents.
struct Change {
    ChangeKind kind = ChangeKind::Changed;
    std::vector<std::string> place; ///< in parts: training, learning rate, peak; or "block mlp", "node up"
    std::string before;             ///< empty when added
    std::string after;              ///< empty when removed
    ChangedPart part = ChangedPart::Other;

    [[nodiscard]] std::string placeText() const; ///< "training · learning rate · peak"
    [[nodiscard]] std::string text() const;      ///< "~ place: before → after", "+ …", "- …"
    bool operator==(const Change&) const = default;
};

/// Returns the differences in meaning, in document order. Ignores positions and the order of wires.
[[nodiscard]] std::vector<Change> diff(const Project& a, const Project& b);
/// Returns the differences between two topologies of otherwise equal documents.
[[nodiscard]] std::vector<Change> diff(const Topology& a, const Topology& b);

/// Describes a change briefly: "width 64 features", "3000 steps".
[[nodiscard]] std::string briefText(const Change& change);
/// Returns short descriptions of the differences of `b` from `a` that affect the training: first the wiring
/// (wiringName), then blocks and the like, then fields. Empty if only a name, a description or sweeps differ.
[[nodiscard]] std::vector<std::string> differingWords(const Project& a, const Project& b);

/// Describes a network's wiring briefly: a preset's title, "GRN-v1"; with added shortcuts, "No shortcuts + 1:4"; or
/// with other differences from the preset, "custom from ANCRe, ingoing, 3 pruned". Returns "custom" if no preset has
/// the topology's name.
[[nodiscard]] std::string wiringName(const Topology& topology, const Network& network);
/// True if a preset has this title.
[[nodiscard]] bool isPresetTitle(const std::string& title, const Network& network);

} // namespace residua::projects
