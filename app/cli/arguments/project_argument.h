// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "app/cli/terminal/exit_codes.h"
#include "projects/base/result.h"
#include "projects/edit/edit.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace residua::cli {

/// A project named on the command line: its directory, the project.json in it, or, where there is no such file, an
/// example's name; that one's directory is the current one.
struct NamedProject {
    projects::Document document;
    std::filesystem::path directory;
};
[[nodiscard]] Result<NamedProject> openProject(const std::string& path);

/// Why a command is not begun, and what the program then ends with.
struct Refusal {
    Exit code = Exit::Usage;
    Error error;
};
/// The project that `path`, or the first word, names, with the fields set that --set gives, in their order. Errors of
/// --set name the field, what it takes, and what was probably meant; they are wrong usage.
[[nodiscard]] std::variant<NamedProject, Refusal> openProject(const std::string& path, const Arguments& arguments,
                                                              const Console& console);
[[nodiscard]] std::variant<NamedProject, Refusal> openProject(const Arguments& arguments, const Console& console);
/// `text` is FIELD=VALUE: a field of project.json by its pointer, or with dots ("training.batch=32"), and its value;
/// presets by name, whose blocks get the ports that they feed. What else it changes than the field is told as a remark.
/// Errors name the field, what it takes, and what was probably meant.
[[nodiscard]] Status setField(projects::Project& project, const std::string& text, const Console& console);
/// Gives the project's training so many steps; its stages keep their shares of them. An error, and no change, if its
/// schedule is invalid as it is written: shares of it would mean something else.
[[nodiscard]] Status trainFor(projects::Project& project, std::int64_t steps);
/// PROJECT: of a command that takes a project or an example.
[[nodiscard]] PositionalSpec projectArgument();
/// The option --set FIELD=VALUE. `of` says which project it is about, where a command may have none or several.
[[nodiscard]] OptionSpec setOption(const std::string& of = {});

/// From the root, without "." and "..". An error where the current directory is gone.
[[nodiscard]] Result<std::filesystem::path> absolutePath(const std::filesystem::path& path);

/// Problems of a project that stand in the way of training, told as remarks; nothing where there is none.
[[nodiscard]] std::optional<Error> obstacle(const projects::Project& project, const Console& console);

} // namespace residua::cli
