// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/cost/cost.h"
#include "projects/model/field.h"
#include "projects/model/objective.h"
#include "projects/model/project.h"
#include "projects/model/sweep.h"
#include "projects/studies/membership.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// One point of a sweep's grid: a project that is ready to train.
struct SweepMember {
    std::string label;               ///< labels of its values, "0:2, small"; unique in the grid
    std::vector<std::string> values; ///< labels, one per axis
    Membership membership;           ///< for its run
    /// The document with the fields set, without sweeps. It is named by its membership (nameOf).
    Project project;
    Cost cost;             ///< per token or sample
    double trainFlops = 0; ///< of the whole training, without the parts that its stages are expected to leave out
    /// The reason why the member cannot be trained: a value that the field does not accept (`project` is then the
    /// original document), or the first error of validate(). Its place names axis and value.
    std::optional<Error> error;
};

/// Returns the grid of `sweep`; the last axis varies fastest. Errors: no axis or more than kMaxSweepAxes, an axis
/// without a field or values, a field that does not affect the training, one field on two axes, two members with one
/// label, more than kMaxSweepMembers. A member that cannot be trained is in the grid with its error. Pure; takes the
/// time of one validation per member.
[[nodiscard]] Result<std::vector<SweepMember>> expand(const Project& project, const Sweep& sweep);

/// True if a value of one of the sweep's axes sets the field at `pointer`, alone, among several or with its part.
[[nodiscard]] bool setsField(const Sweep& sweep, std::string_view pointer);

/// Returns a sentence for each axis whose values all train alike: a seed that nothing is drawn from, or a field that is
/// idle in this project. `members` is the grid of `sweep`.
[[nodiscard]] std::vector<std::string> axesWithoutEffect(const Sweep& sweep, const std::vector<SweepMember>& members);

/// One of n shares of a grid: members k, k + n, k + 2n, … counted from 1. Neighbours, whose costs are similar, are
/// spread over the shares.
struct SweepPart {
    std::size_t k = 1;
    std::size_t n = 1;
    /// `index` counts from 0.
    [[nodiscard]] bool holds(std::size_t index) const { return index % n == k - 1; }
    bool operator==(const SweepPart&) const = default;
};
/// Parses "2/8". Returns an error unless the text is k/n with 1 ≤ k ≤ n.
[[nodiscard]] Result<SweepPart> sweepPartFrom(std::string_view text);

/// Returns the index of the member that `text` refers to: by its label, or by its number in the grid from 1 as "#3".
/// "3" works too if no label is a number. The error lists the members.
[[nodiscard]] Result<std::size_t> memberFrom(std::string_view text, const std::vector<SweepMember>& members);

/// Returns `project` with the field at `pointer` set. The value is read as from a file: an unknown key, a value of the
/// wrong type or an index past the end is an error at its pointer. "/topology" also accepts the texts of
/// topologyFrom(), and a preset's blocks get the ports that it feeds. "/schedule" accepts those of scheduleFrom()
/// (schedule_presets.h), "/network/rank" a number or a share. "/seeds" accepts one number for all seeds but that of the
/// data, so that members are measured on the same examples. A part that is one of several alternatives accepts a
/// name:
/// "/training/optimiser" accepts "sgd". "/schedule/full_model_steps" also moves the borders of the stages
/// (withFullModelSteps), and "/training/steps" scales them (stretched). If fields of loops change, or with loops the
/// repeat of a segment, numbers of layers keep their visits (restackEdit). "/" accepts an object from pointers to
/// values, to set several fields at once. `groups`, if not null, are the document's groups of layers, which are
/// renumbered too.
[[nodiscard]] Result<Project> withField(const Project& project, const std::string& pointer, const FieldValue& value,
                                        std::vector<LayerGroup>* groups = nullptr);

/// Returns the turn, 0 to 3, in which a field is set among several: depth and widths, then loops, then the topology and
/// the schedule, which are made for them, then the fields of these two.
[[nodiscard]] int settingTurn(std::string_view field);

/// Returns the value at `pointer` in the form of files, also of a field that the file leaves out because it has its
/// default; nullopt if there is no such field.
[[nodiscard]] std::optional<FieldValue> fieldAt(const Project& project, std::string_view pointer);

/// Parses a preset's name ("grn-v1"), or shortcuts of weight 1 beside the branch in the form of shortcutsFrom() of
/// visit_shortcuts.h ("1:2+2:3", "i:i+2"), for the layers of `network`. Rejects a preset with a schedule, because it
/// sets two fields.
[[nodiscard]] Result<Topology> topologyFrom(std::string_view text, const Network& network);

/// Returns the FLOP of all of a project's steps with the whole network: the cost of one token or sample times their
/// number.
[[nodiscard]] double trainingFlops(const Project& project, const Cost& perUnit);

/// The cost of a run and the value that it is judged by.
struct CostAndValue {
    double cost = 0;
    double value = 0; ///< NaN if unknown
};
/// Returns the indices of the runs on the Pareto front: no other run is at most as expensive with a better
/// value, or cheaper with the same value. Sorted by cost.
[[nodiscard]] std::vector<std::size_t> paretoFront(std::span<const CostAndValue> runs, const Judge& judge = {});

/// Runs that differ only in their seeds repeat one experiment. Their losses are averaged, and their curves are shown as
/// one band.

/// True if the pointer refers to one of the seeds, or to all of them.
[[nodiscard]] bool isSeedField(std::string_view pointer);

/// Returns a text that is equal exactly for projects that repeat one experiment: the document without its seeds, name,
/// description and sweeps. Without fields at their defaults, it is the same in later versions (changedFields()).
[[nodiscard]] std::string textApartFromSeeds(Project project, InFiles defaults = InFiles::IfSet);

/// Edits of the sweeps of a document. SetSweeps (edit.h) stores the result. Pure functions; any thread.

/// Replaces the first sweep called `name` by `sweep`, or appends it if no sweep has that name.
[[nodiscard]] std::vector<Sweep> withSweep(std::vector<Sweep> sweeps, const std::string& name, Sweep sweep);
/// Appends a sweep over `axes` with a free name.
[[nodiscard]] std::vector<Sweep> withNewSweep(std::vector<Sweep> sweeps, std::vector<SweepAxis> axes);
/// Removes the sweeps called `name`.
[[nodiscard]] std::vector<Sweep> withoutSweep(std::vector<Sweep> sweeps, const std::string& name);
/// Replaces the axis over the same field by `axis`, or appends it. Returns nullopt if there are kMaxSweepAxes other
/// axes.
[[nodiscard]] std::optional<Sweep> withAxis(Sweep sweep, const SweepAxis& axis);

} // namespace residua::projects
