// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "projects/base/result.h"
#include "projects/edit/edit.h"
#include "projects/schema/field.h"

#include <QString>
#include <QStringList>
#include <QVariant>

#include <functional>
#include <string>
#include <vector>

namespace residua::app {

enum class PropertyKind {
    Toggle,  ///< bool
    Integer, ///< qlonglong
    Real,    ///< double
    Size,    ///< QString: an integer or a formula over the project's named sizes
    Text,    ///< QString
    File,    ///< QString: a path
    Choice,  ///< int: index in `choices`
};

/// One editable value of a document: a row of the inspector and of the outline. A snapshot; request it again after a
/// change.
struct Property {
    std::string key;     ///< stable, unique in its place; for a field of the schema its JSON pointer
    std::string pointer; ///< JSON pointer of the value; empty if it changes several
    QString group;       ///< heading; may be empty
    QString title;
    PropertyKind kind = PropertyKind::Text;
    QVariant value;
    QVariant defaultValue; ///< invalid if there is none
    QString unit;
    QString help;          ///< one sentence
    QString paper;         ///< the papers' value; may be empty
    projects::Range range; ///< for a number
    QStringList choices;
    QString offer; ///< text of a button below it that replaces typing; empty: no button
    /// Returns the error of a text being typed with its place ("column 5: …"); empty if it is valid.
    std::function<QString(const QString&)> check;
    /// Returns the edit that sets it in the given document.
    std::function<Result<projects::Edit>(const projects::Project&, const QVariant&)> edit;

    [[nodiscard]] bool isDefault() const { return !defaultValue.isValid() || value == defaultValue; }
    [[nodiscard]] QString valueText() const; ///< text of a cell, with the unit
    [[nodiscard]] QString toolTip() const;   ///< help, default and the papers' value
};

/// Returns all properties of a place in display order. Empty if the place does not exist.
[[nodiscard]] std::vector<Property> propertiesOf(const projects::Project& project, const Place& place);

} // namespace residua::app
