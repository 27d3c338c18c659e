// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "projects/model/sweep.h"

#include <QString>

#include <optional>
#include <vector>

namespace residua::app {

class PaletteModel;

inline constexpr const char* kTopologyField = "/topology";
inline constexpr const char* kSeedsField = "/seeds";
inline constexpr const char* kPeakRateField = "/training/learning_rate/peak";

/// A field that a sweep can vary.
struct SweepField {
    QString pointer;
    QString title; ///< in words: "Topology", "training · learning rate · peak"
    bool operator==(const SweepField&) const = default;
};
/// Returns the fields of a project that a sweep can vary: the topology, the seeds, and every single value.
[[nodiscard]] std::vector<SweepField> sweepableFields(const projects::Project& project);

/// Returns the value in the file at `pointer` on one line; empty if it does not exist.
[[nodiscard]] std::string valueAt(const projects::Project& project, const std::string& pointer);

/// Returns the field of `property` with proposed values: every choice, both states, or numbers around the current one.
/// Returns nullopt if the property edits several places.
[[nodiscard]] std::optional<projects::SweepAxis> sweepAxisOf(const projects::Project& project,
                                                             const Property& property);

/// Returns the title of such a field, or the text itself if it is no field.
[[nodiscard]] QString titleOfField(const projects::Project& project, const std::string& pointer);

/// A value of a field that can be ticked.
struct ValueTick {
    projects::SweepValue value;
    QString title;
    QString price; ///< what it costs; may be empty
    QString toolTip;
};
/// Returns the values to tick for a field, with those that `axis` has: topologies with the parameters that they add,
/// seeds, numbers around the present one, or both states. Empty for other fields.
[[nodiscard]] std::vector<ValueTick> ticksFor(const projects::Project& project, const projects::SweepAxis& axis,
                                              const PaletteModel& palette);

/// Returns the project's topology as a value: its preset's name, or if it was changed the whole topology.
[[nodiscard]] projects::SweepValue presentTopology(const projects::Project& project);
/// Returns the axis of the first `count` seeds, which set all seeds but that of the data.
[[nodiscard]] projects::SweepAxis seedAxis(int count);
/// Returns the axis of `pointer` with its first proposed values.
[[nodiscard]] projects::SweepAxis axisOver(const projects::Project& project, const std::string& pointer);

/// A proposal for the values of a field.
struct ValueProposal {
    QString title;
    std::vector<projects::SweepValue> values;
};
/// Returns proposals for the field: presets and sets of shortcuts for "/topology", else numbers around the current one.
[[nodiscard]] std::vector<ValueProposal> proposalsFor(const projects::Project& project, const std::string& pointer);

/// Convert values to and from typed text, "0.5, 1, plain". A value keeps its label in `known`.
[[nodiscard]] QString textOf(const std::vector<projects::SweepValue>& values);
[[nodiscard]] std::vector<projects::SweepValue> valuesFrom(const QString& text,
                                                           const std::vector<projects::SweepValue>& known);

} // namespace residua::app
