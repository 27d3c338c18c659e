// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"

#include "engine/base/api/data_summary.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/file/store.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>

namespace residua::cli {
namespace {

/// Reports what a field has changed beside itself: stages with the steps, blocks with the topology.
void tellAdapted(const projects::Project& before, const projects::Project& after, const Console& console)
{
    const bool hasOtherSteps = before.training.steps != after.training.steps;
    if (hasOtherSteps && before.stack().schedule != after.stack().schedule) {
        console.remark("note: the stages are scaled from " + std::to_string(before.training.steps) + " to " +
                       std::to_string(after.training.steps) + " steps, so that each keeps its share");
    }
    if (before.stack().topology == after.stack().topology) {
        return;
    }
    for (const projects::Block& block : after.network.blocks) {
        const projects::Block* const known = before.network.findBlock(block.name);
        if (known == nullptr || *known != block) {
            console.remark("note: block " + block.name + " is adapted to what the topology feeds it");
        }
    }
}

} // namespace

Result<NamedProject> openProject(const std::string& path)
{
    std::error_code ignored;
    const bool marked = path.starts_with(kExamplePrefix);
    const std::string name = marked ? path.substr(kExamplePrefix.size()) : path;
    const projects::Example* const example = projects::findExample(name);
    if (marked && example == nullptr) {
        return Error{path, "no example \"" + name + "\"" +
                               meantHint(name, exampleNames(), kTypedHint, "; residua-cli new --list shows them")};
    }
    if (example != nullptr && (marked || !std::filesystem::exists(path, ignored))) {
        const std::filesystem::path current = RESIDUA_TRY(absolutePath("."));
        projects::Document fresh;
        fresh.project = example->project;
        return NamedProject{std::move(fresh), current};
    }
    projects::Document document = RESIDUA_TRY(projects::loadProject(path));
    const bool isDirectory = std::filesystem::is_directory(path, ignored);
    const std::filesystem::path directory = RESIDUA_TRY(
        absolutePath(isDirectory ? std::filesystem::path(path) : std::filesystem::path(path).parent_path()));
    return NamedProject{std::move(document), directory};
}

Status setField(projects::Project& project, const std::string& text, const Console& console,
                std::vector<projects::LayerGroup>* groups)
{
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
        return Error{"", "got \"" + text + "\", expected FIELD=VALUE such as training.steps=100"};
    }
    const std::string field = text.substr(0, equals);
    const projects::FieldValue value{text.substr(equals + 1)};
    Result<projects::Project> changed = projects::withField(project, projects::pointerFrom(field), value, groups);
    if (!changed) {
        // If a single word names no field but is the last part of a field's name, the error names that field.
        const bool isWord = field.find_first_of("/.") == std::string::npos;
        const bool isField = projects::fieldAt(project, projects::pointerFrom(field)).has_value();
        return isWord && !isField ? projects::withField(project, field, value).error() : changed.error();
    }
    tellAdapted(project, *changed, console);
    project = *std::move(changed);
    return Done{};
}

Status setFields(projects::Project& project, std::vector<std::string> texts, const Console& console,
                 std::vector<projects::LayerGroup>* groups)
{
    const auto turnOf = [](const std::string& text) {
        return projects::settingTurn(projects::pointerFrom(text.substr(0, text.find('='))));
    };
    std::ranges::stable_sort(texts, {}, turnOf);
    for (const std::string& text : texts) {
        RESIDUA_TRY(setField(project, text, console, groups));
    }
    return Done{};
}

ValueOr<NamedProject, Refusal> openProject(const Arguments& arguments, const Console& console)
{
    return openProject(arguments.positional(0), arguments, console);
}

ValueOr<NamedProject, Refusal> openProject(const std::string& path, const Arguments& arguments, const Console& console)
{
    NamedProject opened = RESIDUA_TRY(refusing(Exit::InvalidProject, openProject(path)));
    projects::Document& document = opened.document;
    if (const Status set = setFields(document.project, arguments.texts("set"), console, &document.layout.groups);
        !set) {
        return Refusal{Exit::Usage, {"--set", set.error().text()}};
    }
    return opened;
}

Status trainFor(projects::Project& project, std::int64_t steps)
{
    if (steps == project.training.steps) {
        return Done{};
    }
    for (const projects::Problem& problem : projects::validate(project)) {
        if (problem.severity == projects::Severity::Error && problem.path.starts_with("/schedule")) {
            return Error{problem.place, problem.message + "; --steps keeps the shares of a valid schedule alone"};
        }
    }
    project.stack().schedule = projects::stretched(std::move(project.stack().schedule), project.training.steps, steps);
    project.training.steps = steps;
    return Done{};
}

PositionalSpec projectArgument()
{
    return offering(
        PositionalSpec{"PROJECT", "a project's directory, its project.json, or an example's name (example:NAME, though "
                                  "there is a folder NAME)"},
        exampleNames(), Beside::Files);
}

OptionSpec setOption(const std::string& of)
{
    return offering(
        OptionSpec{"set", OptionKind::Text, "FIELD=VALUE",
                   of + "a field of project.json by its pointer or with dots (training.batch=32, topology=dca) and its "
                        "value for this command; any number of times (residua-cli explain fields lists them)"},
        fieldWords());
}

Result<std::filesystem::path> absolutePath(const std::filesystem::path& path)
{
    std::error_code code;
    const std::filesystem::path absolute = std::filesystem::absolute(path.empty() ? "." : path, code);
    if (code) {
        return Error{path.string(),
                     "the current directory cannot be found: " + code.message() + "; go to one that exists"};
    }
    const std::filesystem::path normal = absolute.lexically_normal();
    return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

std::optional<Error> obstacle(const projects::Project& project, const Console& console)
{
    const std::vector<projects::Problem> problems = projects::validate(project);
    if (!projects::hasErrors(problems)) {
        return std::nullopt;
    }
    for (const projects::Problem& problem : problems) {
        console.remark(problem.text());
    }
    return Error{"", "the project is invalid: nothing was trained"};
}

} // namespace residua::cli
