// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// A project that ships with the program, as resources/examples/<name>.json. It opens and trains without a download.
struct Example {
    std::string name; ///< stable key for --example
    std::string title;
    std::string summary; ///< one line for its card
    Project project;
};
/// Name and texts of an example, without its project.
struct ExampleCard {
    const char* name;
    const char* title;
    const char* summary;
};
/// Returns the cards of examples(), in the same order.
[[nodiscard]] std::span<const ExampleCard> exampleCards();
/// Returns the examples in display order. The program opens the first one when it is started for the first time.
[[nodiscard]] const std::vector<Example>& examples();
[[nodiscard]] const Example* findExample(const std::string& name);
/// Reads the project of one example, which must exist, and no other's.
[[nodiscard]] Project exampleProject(std::string_view name);

/// A file of resources/examples.
struct ExampleFile {
    std::string_view name; ///< without .json
    std::string_view text;
};
/// Returns all files, in no particular order. The build generates the source (resources/EmbedText.cmake).
[[nodiscard]] std::span<const ExampleFile> exampleFiles();

} // namespace residua::projects
