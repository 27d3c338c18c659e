// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"

#include <QCoreApplication>

#include <string_view>
#include <vector>

namespace residua::app {

/// Context of the properties' words for translators.
struct PropertyText {
    Q_DECLARE_TR_FUNCTIONS(Properties)
};

/// The schema's words as they stand by themselves, in the user's language.
[[nodiscard]] QString schemaLine(std::string_view words);
/// A choice with its help, for whoever has not seen it before: "Text: a file, or a folder of .txt files".
[[nodiscard]] QString choiceLine(const projects::Choice& choice);

/// Where the texts of a mixture stand in the document.
inline constexpr const char* kMixtureParts = "/data/source/parts";

/// The fields at and below a JSON pointer that people set one by one, with what the schema says of them; less those
/// that change nothing as the document is and have their default.
[[nodiscard]] std::vector<Property> fieldProperties(const projects::Project& project, std::string_view part);

// The properties of places that have more than fields; property.cpp chooses among these functions.
[[nodiscard]] std::vector<Property> networkProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> graphProperties(const projects::Project& project, const projects::GraphRef& graph);
[[nodiscard]] std::vector<Property> nodeProperties(const projects::Project& project, const NodePlace& place);
/// What each input of the node reads.
[[nodiscard]] std::vector<Property> wireProperties(const projects::Project& project, const NodePlace& place);
[[nodiscard]] std::vector<Property> layersProperties(const projects::Project& project, const LayersPlace& place);
[[nodiscard]] std::vector<Property> shortcutsProperties(const projects::Project& project, const ShortcutsPlace& place);
/// What a layer reads, as a list of numbers: the shortcuts into it, for the keyboard. Empty where wiring is no mix.
[[nodiscard]] std::vector<Property> readsProperty(const projects::Project& project, std::int64_t layer);
[[nodiscard]] std::vector<Property> topologyProperties(const projects::Project& project);

} // namespace residua::app
