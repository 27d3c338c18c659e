// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "projects/model/sweep.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace residua::app {

/// Returns the fields of a project that a sweep can vary, as JSON pointers: every single value, and "/topology".
[[nodiscard]] QStringList sweepableFields(const projects::Project& project);

/// Returns the value in the file at `pointer` on one line; empty if it does not exist.
[[nodiscard]] std::string valueAt(const projects::Project& project, const std::string& pointer);

/// Returns the field of `property` with proposed values: every choice, both states, or numbers around the current one.
/// Returns nullopt if the property edits several places.
[[nodiscard]] std::optional<projects::SweepAxis> sweepAxisOf(const projects::Project& project,
                                                             const Property& property);

/// A proposal for the values of a field.
struct ValueProposal {
    QString title;
    std::vector<projects::SweepValue> values;
};
/// Returns proposals for the field: presets and sets of shortcuts for "/topology", numbers around the current one for
/// numbers.
[[nodiscard]] std::vector<ValueProposal> proposalsFor(const projects::Project& project, const std::string& pointer);

/// Convert values to and from typed text, "0.5, 1, plain". A value keeps its label in `known`.
[[nodiscard]] QString textOf(const std::vector<projects::SweepValue>& values);
[[nodiscard]] std::vector<projects::SweepValue> valuesFrom(const QString& text,
                                                           const std::vector<projects::SweepValue>& known);

} // namespace residua::app
