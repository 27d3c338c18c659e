// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/cost/cost.h"
#include "projects/model/project.h"
#include "projects/studies/membership.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// One point of a sweep's grid: a project of its own, ready to train.
struct SweepMember {
    std::string label;               ///< its values' labels, "0:2, small": no other member has it
    std::vector<std::string> values; ///< labels, one per axis
    Membership membership;           ///< for its run
    /// The document with the fields set, named as its membership (nameOf), without the sweeps.
    Project project;
    Cost cost;             ///< per token or sample
    double trainFlops = 0; ///< of the whole training, less what its stages are expected to leave out
    /// Why the member cannot be trained: a value that the field does not take (then `project` is the document as it
    /// was), or the first error of validate(). Its place names axis and value.
    std::optional<Error> error;
};

/// The grid of `sweep`, the last axis fastest. Errors where there is no grid: no axis or more than kMaxSweepAxes, an
/// axis without a field or values, a field that decides nothing that is trained, one field on two axes, two members
/// with one label, more than kMaxSweepMembers. A member that cannot train is in the grid with its error. Pure; the cost
/// of one validation per member.
[[nodiscard]] Result<std::vector<SweepMember>> expand(const Project& project, const Sweep& sweep);

/// True if a value of one of the sweep's axes sets the field at `pointer`, by itself, among several or with its part.
[[nodiscard]] bool setsField(const Sweep& sweep, std::string_view pointer);

/// One of n shares of a grid: members k, k + n, k + 2n, … counted from 1, so that neighbours, which cost much the same,
/// are spread over the shares.
struct SweepPart {
    std::size_t k = 1;
    std::size_t n = 1;
    /// `index` counts from 0.
    [[nodiscard]] bool holds(std::size_t index) const { return index % n == k - 1; }
    bool operator==(const SweepPart&) const = default;
};
/// "2/8". Errors for what is not k/n with 1 ≤ k ≤ n.
[[nodiscard]] Result<SweepPart> sweepPartFrom(std::string_view text);

/// The index of the member that `text` means: its label, or its number in the grid from 1 as "#3", which "3" means too
/// where no label is a number. Errors name what there is.
[[nodiscard]] Result<std::size_t> memberFrom(std::string_view text, const std::vector<SweepMember>& members);

/// `project` with the field at `pointer` set. Read as a file would be: a key that is not known, a value of the wrong
/// type or an index past the end is an error at its pointer. "/topology" also takes the texts of topologyFrom
/// (a preset's blocks get the ports that it feeds),
/// "/schedule" those of scheduleFrom (schedule_presets.h), and a part that is one of several alternatives the name of
/// one: "/training/optimiser" takes "sgd". "/schedule/full_model_steps" moves the borders of the stages too
/// (withFullModelSteps). "/" takes an object of fields by their pointers, to set several at once.
[[nodiscard]] Result<Project> withField(const Project& project, const std::string& pointer, const FieldValue& value);

/// What the file says at `pointer`; nullopt where there is nothing.
[[nodiscard]] std::optional<FieldValue> fieldAt(const Project& project, std::string_view pointer);

/// A preset's name ("grn-v1"), or shortcuts of weight 1 beside the branch in the texts of shortcutsFrom ("1:2+2:3",
/// "i:i+2"). For the layers of `network`.
/// A preset that is a schedule beside the plain wiring is refused here: as a field's text it sets both.
[[nodiscard]] Result<Topology> topologyFrom(std::string_view text, const Network& network);

/// FLOP of all of a project's steps, each of the whole network: what one token or sample costs times how many are
/// seen.
[[nodiscard]] double trainingFlops(const Project& project, const Cost& perUnit);

} // namespace residua::projects
