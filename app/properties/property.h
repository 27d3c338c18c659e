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
    Size,    ///< QString: a whole number or a formula over the project's named sizes
    Text,    ///< QString
    File,    ///< QString: a path
    Choice,  ///< int: the place in `choices`
};

/// One editable value of a document: a row of the inspector and of the outline. A snapshot; ask again after a change.
struct Property {
    std::string key;     ///< stable, unique among those of a place; of a field of the schema its JSON pointer
    std::string pointer; ///< JSON pointer of what it changes; empty where that is several places
    QString group;       ///< heading it stands under; may be empty
    QString title;
    PropertyKind kind = PropertyKind::Text;
    QVariant value;
    QVariant defaultValue; ///< invalid: none
    QString unit;
    QString help;          ///< one sentence
    QString paper;         ///< what the papers use; may be empty
    projects::Range range; ///< of a number
    QStringList choices;
    QString offer; ///< what a button below it does instead of a value being typed; empty: there is none
    /// What is wrong with a text that is being typed, and where ("column 5: …"); empty where it can be taken.
    std::function<QString(const QString&)> check;
    /// The edit that sets it in the document as it then is.
    std::function<Result<projects::Edit>(const projects::Project&, const QVariant&)> edit;

    [[nodiscard]] bool isDefault() const { return !defaultValue.isValid() || value == defaultValue; }
    [[nodiscard]] QString valueText() const; ///< as a cell shows it, with the unit
    [[nodiscard]] QString toolTip() const;   ///< help, default and the papers' value
};

/// All properties of a place, in display order. Empty for a place that is not there.
[[nodiscard]] std::vector<Property> propertiesOf(const projects::Project& project, const Place& place);

} // namespace residua::app
