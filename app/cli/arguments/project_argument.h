// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/session.h"
#include "projects/base/result.h"
#include "projects/edit/edit.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace residua::cli {

/// Marks the name of a shipped example: "example:small-vit". A folder of the same name is never meant.
inline constexpr std::string_view kExamplePrefix = "example:";

/// A project named on the command line: its directory, the project.json in it, or an example by its name. A name
/// without kExamplePrefix means an example only if no such file exists. The directory of an example is the current one.
struct NamedProject {
    projects::Document document;
    std::filesystem::path directory;
};
[[nodiscard]] Result<NamedProject> openProject(const std::string& path);

/// The reason why a command does not start, and its exit code.
struct Refusal {
    Exit code = Exit::Usage;
    Error error;
};
/// Returns `result`, whose error refuses the command with `code`.
template <class T>
[[nodiscard]] ValueOr<T, Refusal> refusing(Exit code, Result<T> result)
{
    return result ? ValueOr<T, Refusal>(*std::move(result)) : Refusal{code, result.error()};
}
/// Returns the value of `result`, or reports the refusal and returns its exit code.
template <class T>
[[nodiscard]] ValueOr<T, Exit> reported(ValueOr<T, Refusal> result, const Console& console)
{
    return result ? ValueOr<T, Exit>(*std::move(result)) : console.fail(result.error().code, result.error().error);
}
/// Returns the project named by `path`, or by the first word, with the fields of --set applied (setFields). Errors of
/// --set name the field and its allowed values, and suggest a name; their exit code is that of wrong usage.
[[nodiscard]] ValueOr<NamedProject, Refusal> openProject(const std::string& path, const Arguments& arguments,
                                                         const Console& console);
[[nodiscard]] ValueOr<NamedProject, Refusal> openProject(const Arguments& arguments, const Console& console);
/// Applies each of `texts` as setField() does: depth and widths first, then loops, then the topology and the schedule,
/// then the fields of these (settingTurn), otherwise in order. Returns the first error. `groups` are as of setField().
[[nodiscard]] Status setFields(projects::Project& project, std::vector<std::string> texts, const Console& console,
                               std::vector<projects::LayerGroup>* groups = nullptr);
/// Applies `text`, FIELD=VALUE: a field of project.json by its pointer, or with dots ("training.batch=32"), and its
/// value. Presets are given by name, and their blocks get the ports that they feed. Prints other changes as remarks.
/// The error names the field and its allowed values, and suggests a name. `groups` are those of the document's layout,
/// which are renumbered with the layers (withField); null to leave them.
[[nodiscard]] Status setField(projects::Project& project, const std::string& text, const Console& console,
                              std::vector<projects::LayerGroup>* groups);
/// Sets the number of steps of the project's training; its stages keep their shares of the steps. Returns an error and
/// changes nothing if the schedule is invalid, because its shares would then have no meaning.
[[nodiscard]] Status trainFor(projects::Project& project, std::int64_t steps);
/// Returns the argument PROJECT of a command that accepts a project or an example.
[[nodiscard]] PositionalSpec projectArgument();
/// Returns the option --set FIELD=VALUE. `of` tells which project it applies to, for a command with none or several.
[[nodiscard]] OptionSpec setOption(const std::string& of = {});

/// Returns an absolute path without "." and "..". Returns an error if the current directory does not exist.
[[nodiscard]] Result<std::filesystem::path> absolutePath(const std::filesystem::path& path);

/// Prints the problems that prevent training as remarks and returns an error; nullopt if there are no such problems.
[[nodiscard]] std::optional<Error> obstacle(const projects::Project& project, const Console& console);

/// Prints the notes of an answer to stderr.
inline void remarkNotes(const std::vector<std::string>& notes, const Console& console)
{
    for (const std::string& note : notes) {
        console.remark("note: " + note);
    }
}

/// Ends a command without an answer: reports the error, or the interrupt followed by `after`.
inline Exit unanswered(const std::optional<engine::Event>& answer, const Console& console, const std::string& after)
{
    if (!answer) {
        return console.fail(Exit::Quit, {"", "interrupted: " + after});
    }
    const auto* const failed = std::get_if<engine::QueryFailed>(&*answer);
    if (failed != nullptr) {
        remarkNotes(failed->notes, console);
    }
    return console.fail(Exit::RunFailed, failed != nullptr ? failed->error : Error{"engine", "unexpected answer"});
}

} // namespace residua::cli
