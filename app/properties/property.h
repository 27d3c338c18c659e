// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "projects/base/result.h"
#include "projects/edit/edit.h"
#include "projects/model/field.h"

#include <QCoreApplication>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

class QComboBox;

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

/// One editable value of a document: a row of the inspector and of the outline. A snapshot of its value.
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

/// The context of the properties' words for translators.
struct PropertyText {
    Q_DECLARE_TR_FUNCTIONS(Properties)
};

/// Returns a property with the words and the range of its field.
[[nodiscard]] Property propertyFor(const projects::Field& field);
/// Returns the schema's words as a line of their own in the user's language.
[[nodiscard]] QString schemaLine(std::string_view words);
/// Returns a choice with its help: "Text: a file, or a folder of .txt files".
[[nodiscard]] QString choiceLine(const projects::Choice& choice);
/// Fills the box with the choices of the schema's field at `pointer` and selects its default. The data of an item is
/// the index of its choice.
void fillChoices(QComboBox& box, std::string_view pointer);

/// The pointer of the texts of a mixture.
inline constexpr const char* kMixtureParts = "/data/source/parts";

/// Returns the fields at and below a JSON pointer that the user can set one by one, with the schema's texts. Skips
/// fields without effect that have their default.
[[nodiscard]] std::vector<Property> fieldProperties(const projects::Project& project, std::string_view part);

/// True for the fields that say how a network takes part among towers and losses.
[[nodiscard]] bool isOfTowers(std::string_view pointer);
/// True if the document has one tower and no losses, and the field is one of those.
[[nodiscard]] bool needsTowers(const projects::Project& project, std::string_view pointer);

// The properties of places with more than fields. property.cpp selects among these functions.
[[nodiscard]] std::vector<Property> trainingProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> networkProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> graphProperties(const projects::Project& project, const projects::GraphRef& graph);
[[nodiscard]] std::vector<Property> nodeProperties(const projects::Project& project, const NodePlace& place);
/// Returns the sources of each input of the node.
[[nodiscard]] std::vector<Property> wireProperties(const projects::Project& project, const NodePlace& place);
[[nodiscard]] std::vector<Property> loopProperties(const projects::Project& project, const LoopPlace& place);
[[nodiscard]] std::vector<Property> lossProperties(const projects::Project& project, const LossPlace& place);
[[nodiscard]] std::vector<Property> layersProperties(const projects::Project& project, const LayersPlace& place);
[[nodiscard]] std::vector<Property> shortcutsProperties(const projects::Project& project, const ShortcutsPlace& place);
/// Returns the sources of a layer as a list of numbers, for the keyboard. Empty if the wiring is not a mix.
[[nodiscard]] std::vector<Property> readsProperty(const projects::Project& project, std::int64_t layer);
[[nodiscard]] std::vector<Property> topologyProperties(const projects::Project& project);

} // namespace residua::app
