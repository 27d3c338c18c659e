// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/study_page.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::JsonArray;
using projects::JsonObject;
using projects::JsonValue;

constexpr std::size_t kLongestPath = 4096; ///< bytes of a run's path or a sweep's name, as Linux limits paths
constexpr std::size_t kLongestQuote = 100; ///< bytes of an invalid path that an error shows
constexpr std::int64_t kVersion = 1;

/// True for a relative path of directories, of at most kLongestPath bytes, without "." and "..".
bool isBelow(std::string_view path)
{
    const fs::path parts(path);
    return !path.empty() && path.size() <= kLongestPath && parts.is_relative() && isPrintable(path) &&
           std::ranges::none_of(parts, [](const auto& part) { return part.empty() || part == "." || part == ".."; });
}

/// Reads the members of a page. A member of another type sets the error.
class Members {
public:
    Members(std::string place, const JsonValue& object) : m_place(std::move(place)), m_object(object) {}

    template <class T>
    T value(const char* key)
    {
        const JsonValue* const found = projects::findMember(m_object, key);
        const T* const held = found != nullptr ? std::get_if<T>(&found->data) : nullptr;
        if (found != nullptr && held == nullptr) {
            fail(key, "is " + projects::nameOfValue(*found) + ", which does not belong there");
        }
        return held != nullptr ? *held : T{};
    }

    std::vector<std::string> texts(const char* key)
    {
        std::vector<std::string> texts;
        for (const JsonValue& each : value<JsonArray>(key)) {
            const auto* const text = std::get_if<std::string>(&each.data);
            text != nullptr ? texts.push_back(*text) : fail(key, "has an entry that is no text");
        }
        return texts;
    }

    std::string run(const char* key)
    {
        std::string path = value<std::string>(key);
        return path.empty() || checkRun(key, path) ? path : std::string();
    }

    bool checkRun(const char* key, const std::string& path)
    {
        const bool good = isBelow(path);
        if (!good) {
            fail(key, "has \"" + printable(path.substr(0, kLongestQuote), LineEnds::Escape) +
                          "\"; expected the directory of a run below the folder of runs");
        }
        return good;
    }

    /// Returns a text of at most `most` bytes.
    std::string text(const char* key, std::size_t most)
    {
        std::string text = value<std::string>(key);
        if (text.size() > most) {
            fail(key, "has " + std::to_string(text.size()) + " bytes; expected at most " + std::to_string(most));
        }
        return text;
    }

    void fail(const char* key, const std::string& message)
    {
        if (!m_error) {
            m_error = Error{m_place, std::string("\"") + key + "\" " + message};
        }
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    std::string m_place;
    const JsonValue& m_object;
    std::optional<Error> m_error;
};

std::optional<double> numberIn(const JsonValue& value)
{
    const auto* const real = std::get_if<double>(&value.data);
    const auto* const whole = std::get_if<std::int64_t>(&value.data);
    const double number = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : NAN;
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Result<PageView> viewFrom(const std::string& place, const JsonValue& json)
{
    Members members(place, json);
    PageView view{.canvas = members.value<std::string>("canvas"),
                  .panels = members.texts("panels"),
                  .columns = members.texts("columns")};
    for (const projects::JsonMember& control : members.value<JsonObject>("controls")) {
        const auto* const text = std::get_if<std::string>(&control.value.data);
        text != nullptr ? void(view.controls[control.key] = *text)
                        : members.fail("controls", "has an entry that is no text");
    }
    const JsonValue hidden{members.value<JsonObject>("hidden")};
    Members plots(place, hidden);
    for (const projects::JsonMember& plot : std::get<JsonObject>(hidden.data)) {
        view.hidden[plot.key] = plots.texts(plot.key.c_str());
    }
    for (const projects::JsonMember& zoom : members.value<JsonObject>("zooms")) {
        const auto* const ends = std::get_if<JsonArray>(&zoom.value.data);
        std::array<double, 4> range{};
        bool good = ends != nullptr && ends->size() == range.size();
        for (std::size_t i = 0; good && i < range.size(); ++i) {
            const std::optional<double> end = numberIn((*ends)[i]);
            good = end.has_value();
            range[i] = end.value_or(0);
        }
        good = good && range[0] < range[1] && range[2] < range[3];
        good ? void(view.zooms[zoom.key] = range)
             : members.fail("zooms", "has an entry that is not [x from, x to, y from, y to]");
    }
    const auto& error = members.error() ? members.error() : plots.error();
    return error ? Result<PageView>(*error) : view;
}

JsonValue jsonOf(const std::vector<std::string>& texts)
{
    JsonArray list;
    for (const std::string& text : texts) {
        list.push_back({text});
    }
    return {std::move(list)};
}

JsonValue jsonOf(const PageView& view)
{
    JsonObject controls;
    for (const auto& [name, text] : view.controls) {
        controls.push_back({name, {text}});
    }
    JsonObject zooms;
    for (const auto& [name, range] : view.zooms) {
        JsonArray ends;
        std::ranges::for_each(range, [&](double end) { ends.push_back({end}); });
        zooms.push_back({name, {std::move(ends), projects::JsonLayout::Inline}});
    }
    JsonObject hidden;
    for (const auto& [name, entries] : view.hidden) {
        hidden.push_back({name, jsonOf(entries)});
    }
    return {JsonObject{{"canvas", {view.canvas}},
                       {"panels", jsonOf(view.panels)},
                       {"controls", {std::move(controls)}},
                       {"zooms", {std::move(zooms)}},
                       {"columns", jsonOf(view.columns)},
                       {"hidden", {std::move(hidden)}}}};
}

} // namespace

bool isPageFile(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.ends_with(kPageSuffix) && name != kPageSuffix;
}

Result<fs::path> pageFile(const fs::path& folder, const std::string& name)
{
    const bool good = isBelow(name) && name.size() <= kLongestPageName && name.find('/') == std::string::npos &&
                      !name.starts_with('.');
    if (!good) {
        return Error{"page", "cannot be called \"" + printable(name, LineEnds::Escape) + "\"; expected at most " +
                                 std::to_string(kLongestPageName) + " bytes without \"/\" and without a dot in front"};
    }
    return folder / (name + kPageSuffix);
}

std::string pageName(const fs::path& file)
{
    std::string name = file.filename().string();
    name.resize(name.size() - (isPageFile(file) ? std::string_view(kPageSuffix).size() : 0));
    return name;
}

std::vector<std::string> listPages(const fs::path& folder)
{
    std::vector<std::string> names;
    std::error_code code; // the folder may change meanwhile, or may not exist
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (isPageFile(entry->path()) && pageFile(folder, pageName(entry->path())) && entry->is_regular_file(code)) {
            names.push_back(pageName(entry->path()));
        }
    }
    std::ranges::sort(names);
    return names;
}

Result<StudyPage> readPage(const fs::path& file)
{
    const Result<std::string> text = readFile(file, kLargestPage);
    const auto json = text ? projects::parseJson(*text) : Result<JsonValue>(text.error());
    if (!json) {
        return Error{file.string(), json.error().text()};
    }
    Members members(file.string(), *json);
    if (const auto version = members.value<std::int64_t>("page"); version != kVersion) {
        return Error{file.string(), version > kVersion ? "was made by a newer program"
                                                       : "is no page about runs; expected \"page\": 1"};
    }
    StudyPage page{.runs = members.texts("runs"),
                   .sweep = members.text("sweep", kLongestPath),
                   .baseline = members.run("baseline"),
                   .baselineAlone = members.value<bool>("baselineAlone"),
                   .front = members.run("front"),
                   .chosen = members.run("chosen"),
                   .notes = members.text("notes", kLongestNote)};
    for (const std::string& run : page.runs) {
        members.checkRun("runs", run);
    }
    if (const JsonValue* const view = projects::findMember(*json, "view")) {
        page.view = RESIDUA_TRY(viewFrom(file.string(), *view));
    }
    return members.error() ? Result<StudyPage>(*members.error()) : page;
}

Status writePage(const fs::path& folder, const std::string& name, const StudyPage& page)
{
    const auto file = RESIDUA_TRY(pageFile(folder, name));
    const std::string text = projects::printJson({JsonObject{{"page", {kVersion}},
                                                             {"runs", jsonOf(page.runs)},
                                                             {"sweep", {page.sweep}},
                                                             {"baseline", {page.baseline}},
                                                             {"baselineAlone", {page.baselineAlone}},
                                                             {"front", {page.front}},
                                                             {"chosen", {page.chosen}},
                                                             {"notes", {page.notes}},
                                                             {"view", jsonOf(page.view)}}});
    if (page.notes.size() > kLongestNote || text.size() > kLargestPage) {
        return Error{file.string(), "would be too large; expected notes of at most " + std::to_string(kLongestNote) +
                                        " bytes and a page of at most " + std::to_string(kLargestPage)};
    }
    return writeOwnFile(file, text);
}

std::string pathOnPage(const fs::path& folder, const fs::path& run)
{
    std::error_code ignored; // without a working folder both stay as they are
    const fs::path from = fs::absolute(folder, ignored).lexically_normal();
    const std::string path = fs::absolute(run, ignored).lexically_normal().lexically_relative(from).generic_string();
    return isBelow(path) ? path : std::string();
}

PageRuns runsOf(const StudyPage& page, std::span<const RunInfo> listed, const fs::path& folder)
{
    std::set<std::string> wanted(page.runs.begin(), page.runs.end());
    PageRuns found;
    bool hasSweep = page.sweep.empty();
    for (const RunInfo& run : listed) {
        const bool isMember = !page.sweep.empty() && run.membership && run.membership->sweep == page.sweep;
        hasSweep = hasSweep || isMember;
        if (wanted.erase(pathOnPage(folder, run.directory)) > 0 || isMember) {
            found.runs.push_back(run);
        }
    }
    found.missing.assign(wanted.begin(), wanted.end());
    if (!hasSweep) {
        found.missing.push_back("sweep " + page.sweep);
    }
    return found;
}

} // namespace residua::engine
