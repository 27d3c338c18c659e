// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "projects/model/sweep.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace residua::app {

/// The fields of a project that a sweep can vary, as JSON pointers: whatever has a single value, and "/topology".
[[nodiscard]] QStringList sweepableFields(const projects::Project& project);

/// What the file says at `pointer`, on one line; empty where there is nothing.
[[nodiscard]] std::string valueAt(const projects::Project& project, const std::string& pointer);

/// The field that `property` edits, with proposed values: every choice, both states, or numbers around the present
/// one. nullopt where it edits several places.
[[nodiscard]] std::optional<projects::SweepAxis> sweepAxisOf(const projects::Project& project,
                                                             const Property& property);

/// A proposal for a field's values.
struct ValueProposal {
    QString title;
    std::vector<projects::SweepValue> values;
};
/// Proposals for the field: presets and sets of shortcuts for "/topology", numbers around the present one for numbers.
[[nodiscard]] std::vector<ValueProposal> proposalsFor(const projects::Project& project, const std::string& pointer);

/// Values as a person types them, "0.5, 1, plain", and back. A value keeps the label that it has in `known`.
[[nodiscard]] QString textOf(const std::vector<projects::SweepValue>& values);
[[nodiscard]] std::vector<projects::SweepValue> valuesFrom(const QString& text,
                                                           const std::vector<projects::SweepValue>& known);

} // namespace residua::app
