// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/data_argument.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "projects/schema/fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::cli {
namespace {

using nlohmann::json;

/// Returns the absolute path, or an error if it does not exist.
Result<std::string> placeOf(const std::string& option, const std::string& text, const std::string& expected)
{
    const std::filesystem::path path = RESIDUA_TRY(absolutePath(text));
    std::error_code code;
    if (!std::filesystem::exists(path, code)) {
        return Error{option, path.string() + " does not exist; expected " + expected};
    }
    return path.string();
}

/// Parses a part of a mixture such as "web.jsonl=0.57". The last "=" separates, so that a path may contain one.
Result<projects::MixturePart> partFrom(const std::string& text, const std::filesystem::path& project)
{
    constexpr const char* kOption = "--mix";
    const std::size_t equals = text.rfind('=');
    const auto weight =
        equals == std::string::npos ? std::nullopt : numberFrom<double>(std::string_view(text).substr(equals + 1));
    if (!weight || equals == 0) {
        return Error{kOption, "got \"" + shortened(text) + "\", expected PATH=WEIGHT such as web.txt=0.57"};
    }
    if (!std::isfinite(*weight) || *weight <= 0) {
        return Error{kOption, "got \"" + shortened(text) + "\", expected a weight above 0"};
    }
    const std::string path = RESIDUA_TRY(placeOf(
        kOption, text.substr(0, equals), "a text, .jsonl, .parquet, or a folder of such, and its weight behind a ="));
    if (std::holds_alternative<projects::TokenFileData>(projects::sourceAt(path))) {
        return Error{kOption, path + " is ready-made tokens; expected a text, .jsonl, .parquet, or a folder of such"};
    }
    return projects::MixturePart{.path = storedPath(text.substr(0, equals), project), .weight = *weight};
}

Result<projects::Source> mixtureFrom(const std::vector<std::string>& texts, const std::filesystem::path& project)
{
    projects::MixtureData mixture;
    for (const std::string& text : texts) {
        projects::MixturePart part = RESIDUA_TRY(partFrom(text, project));
        mixture.parts.push_back(std::move(part));
    }
    return projects::Source(std::move(mixture));
}

Result<projects::Source> sourceFrom(const std::string& text, const engine::TableColumns& columns,
                                    const std::filesystem::path& project)
{
    const std::string path =
        RESIDUA_TRY(placeOf("--data", text, "a text, .jsonl, .parquet, .bin, .safetensors, or a folder of data"));
    projects::Source source = RESIDUA_TRY(engine::dataAt(path, columns));
    const std::filesystem::path typed(text);
    // A part of a folder is below it, or beside it.
    projects::forEachPath(source, [&](std::string& found) {
        if (found.empty()) {
            return;
        }
        const std::filesystem::path below = std::filesystem::path(found).lexically_relative(path);
        std::error_code ignored;
        const std::filesystem::path beside =
            typed.is_absolute() ? std::filesystem::path(found) : std::filesystem::relative(found, ignored);
        found = storedPath(below == "."                              ? text
                           : below.empty() || *below.begin() == ".." ? beside.string()
                                                                     : (typed / below).string(),
                           project);
    });
    return source;
}

/// Sets the key of the source, except the columns of a table. Returns false if the source has no key.
bool takeKey(projects::Source& source, const std::string& key)
{
    if (auto* const mixture = std::get_if<projects::MixtureData>(&source)) {
        for (projects::MixturePart& part : mixture->parts) {
            part.field = key;
        }
        return true;
    }
    return std::visit(
        [&](auto& each) {
            constexpr bool keyed = requires
            {
                each.field;
            };
            if constexpr (keyed) {
                each.field = key;
            }
            return keyed || std::holds_alternative<projects::LabelledTextData>(source);
        },
        source);
}

} // namespace

OptionSpec mixOption()
{
    return {"mix", OptionKind::Text, "PATH=WEIGHT",
            "instead of --data, any number of times: a text, JSON Lines (.jsonl), Parquet or a folder of such, and how "
            "often examples are of it, in proportion to the other weights"};
}

OptionSpec fieldOption()
{
    return {"field", OptionKind::Text, "NAME",
            "the key of JSON Lines, or the column of Parquet or a table, that holds the text (default: text)"};
}

OptionSpec labelOption()
{
    return {"label", OptionKind::Text, "NAME", "the column of a table that holds the label (default: label)"};
}

std::string storedPath(const std::string& typed, const std::filesystem::path& project)
{
    std::error_code code;
    const std::filesystem::path path(typed);
    if (path.is_absolute()) {
        return path.lexically_normal().string();
    }
    // Both are resolved on the disk, because ".." after a link leads elsewhere.
    const auto onDisk = [&code](const std::filesystem::path& given) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(given, code), code);
    };
    return onDisk(path).lexically_relative(onDisk(project)).string();
}

bool namesData(const Arguments& arguments)
{
    return arguments.has("data") || arguments.has("mix") || arguments.has("field") || arguments.has("label");
}

Result<projects::Source> dataSource(const Arguments& arguments, const std::filesystem::path& project)
{
    if (arguments.has("data") && arguments.has("mix")) {
        return Error{"--mix", "is instead of --data; expected one of the two"};
    }
    if (!arguments.has("data") && !arguments.has("mix")) {
        const char* const option = arguments.has("field") ? "--field" : "--label";
        return Error{option, "is for JSON Lines, Parquet and tables, which --data or --mix name"};
    }
    const engine::TableColumns columns{arguments.text("field"), arguments.text("label")};
    Result<projects::Source> source = arguments.has("mix") ? mixtureFrom(arguments.texts("mix"), project)
                                                           : sourceFrom(arguments.text("data"), columns, project);
    if (source && arguments.has("field") && !takeKey(*source, arguments.text("field"))) {
        return Error{"--field",
                     "is for JSON Lines, Parquet and tables; " + arguments.text("data") + " is none of these"};
    }
    if (source && arguments.has("label") && !std::holds_alternative<projects::LabelledTextData>(*source)) {
        return Error{"--label", "is for tables of labelled texts, expected --data with a .csv or .tsv"};
    }
    return source;
}

json tellProblems(const std::vector<projects::Problem>& problems, const Console& console)
{
    json list = json::array();
    for (const projects::Problem& problem : problems) {
        const bool isError = problem.severity == projects::Severity::Error;
        console.line((isError ? "error: " : "warning: ") + problem.text());
        list.push_back({{"severity", isError ? "error" : "warning"},
                        {"path", problem.path},
                        {"place", problem.place},
                        {"message", problem.message}});
        if (problem.wanted) {
            list.back()["wanted"] = *problem.wanted;
        }
    }
    return list;
}

void tellCures(const std::vector<projects::Problem>& problems, const std::string& project, const Console& console)
{
    for (const projects::Problem& problem : problems) {
        if (problem.wanted) {
            console.remark("to set it: residua-cli set " + shellWord(project) + " " + problem.path + "=" +
                           std::to_string(*problem.wanted));
        }
    }
}

std::string splitsText(const engine::DataSummary& data)
{
    const std::int64_t units[] = {data.train, data.validation, data.test};
    const char* const names[] = {"train", "validation", "test"};
    std::string text;
    for (std::size_t split = 0; split < std::size(units); ++split) {
        text += std::string(split == 0 ? "" : ", ") + names[split] + " ";
        if (split < data.texts.size()) {
            const engine::TextCount& count = data.texts[split];
            text += countText(static_cast<std::size_t>(count.texts), "text") + " of " +
                    countText(static_cast<std::size_t>(count.tokens), "token");
        } else {
            text += units[split] < 0 ? std::string("endless") : groupedText(units[split]);
        }
    }
    return text;
}

nlohmann::json showReadings(const std::vector<engine::DataReading>& readings, const Console& console)
{
    nlohmann::json list = nlohmann::json::array();
    for (const engine::DataReading& reading : readings) {
        if (!reading.files.empty()) {
            console.line(printable(reading.path, LineEnds::Escape) + ": " + reading.files);
        }
        list.push_back({{"path", reading.path}, {"files", reading.files}, {"notes", reading.notes}});
    }
    return list;
}

OptionSpec fieldOption(std::string_view pointer, std::string name, std::string value, std::string help)
{
    const projects::FieldEntry entry = projects::fieldOfSchema(pointer).value();
    const projects::Range& range = entry.field.more.range;
    return {.name = std::move(name),
            .kind = entry.type == projects::FieldType::Integer ? OptionKind::Integer : OptionKind::Real,
            .value = std::move(value),
            .help = std::move(help),
            .minimum = std::max(range.least, -kMostInteger),
            .maximum = std::min(range.most, kMostInteger)};
}

} // namespace residua::cli
