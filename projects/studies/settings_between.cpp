// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/settings_between.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/file/json.h"
#include "projects/schema/fields.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

namespace {

constexpr int kRounds = 4;                           ///< a setting may change other fields, which are then set back
constexpr std::size_t kLongestWord = 128 * 1024 - 1; ///< bytes of one argument under Linux

/// How the difference of two parts is written.
enum class Detail {
    Names,    ///< only names of other alternatives and presets, which come with their defaults
    Fields,   ///< field by field
    Sections, ///< as one value for each section of the file
};

std::string word(const std::string& pointer, const JsonValue& value)
{
    const auto* const text = std::get_if<std::string>(&value.data);
    if (text != nullptr && isPrintable(*text)) {
        const JsonValue read = treeOf(FieldValue{*text});
        if (const auto* const same = std::get_if<std::string>(&read.data); same != nullptr && *same == *text) {
            return pointer + "=" + (text->empty() ? "\"\"" : *text);
        }
    }
    return pointer + "=" + lineOf(value);
}

/// Finds the settings between two trees.
class Difference {
public:
    Difference(const Project& before, Detail detail) : m_before(before), m_detail(detail) {}

    std::vector<std::string> words;

    void add(const JsonValue& before, const JsonValue& after, const std::string& at)
    {
        const auto* const object = std::get_if<JsonObject>(&after.data);
        const auto* const list = std::get_if<JsonArray>(&after.data);
        const auto* const earlier = std::get_if<JsonArray>(&before.data);
        const bool isSection = m_detail == Detail::Sections && !at.empty();
        if (lineOf(before) == lineOf(after)) {
            return;
        }
        if (!isSection && object != nullptr && std::holds_alternative<JsonObject>(before.data)) {
            addMembers(before, *object, after, at);
        } else if (!isSection && list != nullptr && earlier != nullptr && list->size() == earlier->size()) {
            for (std::size_t i = 0; i < list->size(); ++i) {
                add((*earlier)[i], (*list)[i], at + "/" + std::to_string(i));
            }
        } else if (m_detail != Detail::Names) {
            words.push_back(word(at, after));
        }
    }

private:
    void addMembers(const JsonValue& before, const JsonObject& object, const JsonValue& after, const std::string& at)
    {
        if (addName(before, after, at)) {
            return;
        }
        const auto isGone = [&](const JsonMember& member) { return findMember(after, member.key) == nullptr; };
        const auto& earlier = std::get<JsonObject>(before.data);
        const bool namesOnly = m_detail == Detail::Names;
        if (!namesOnly && !at.empty() && (std::ranges::any_of(earlier, isGone) || differ(before, after, "kind"))) {
            words.push_back(word(at, after)); // setting members would keep those that are gone
            return;
        }
        for (const JsonMember& member : earlier) {
            if (!namesOnly && isGone(member)) { // a section of the file that is empty now, such as the sweeps
                words.push_back("/" + member.key +
                                (std::holds_alternative<JsonArray>(member.value.data) ? "=[]" : "={}"));
            }
        }
        for (const JsonMember& member : object) {
            const std::string pointer = at + "/" + pointerToken(member.key);
            if (const JsonValue* const held = findMember(before, member.key)) {
                add(*held, member.value, pointer);
            } else if (!namesOnly) {
                words.push_back(word(pointer, member.value));
            }
        }
    }

    /// Names the alternative or preset of `after` if it is another one that is accepted by name.
    bool addName(const JsonValue& before, const JsonValue& after, const std::string& at)
    {
        const char* const key = at == "/topology" ? "preset" : "kind";
        const JsonValue* const name = findMember(after, key);
        const bool isNode = at.find("/nodes/") != std::string::npos; // its kind is no choice of alternatives
        if (m_detail != Detail::Names || isNode || at.empty() || name == nullptr || !differ(before, after, key)) {
            return false;
        }
        const std::string named = word(at, *name);
        if (!withSettings(m_before, {named})) {
            return false;
        }
        words.push_back(named);
        return true;
    }

    static bool differ(const JsonValue& before, const JsonValue& after, std::string_view key)
    {
        const JsonValue* const one = findMember(before, key);
        const JsonValue* const other = findMember(after, key);
        return one != nullptr && other != nullptr && lineOf(*one) != lineOf(*other);
    }

    const Project& m_before;
    Detail m_detail;
};

/// Returns the settings in this detail; nullopt if they do not give exactly `after`.
std::optional<std::vector<std::string>> settings(const Project& before, const Project& after, Detail detail)
{
    std::vector<std::string> all;
    Project reached = before;
    for (int round = 0; round < kRounds && !(reached == after); ++round) {
        Difference difference(reached, round == 0 || detail != Detail::Names ? detail : Detail::Fields);
        difference.add(treeOf(reached), treeOf(after), {});
        all.insert(all.end(), difference.words.begin(), difference.words.end());
        Result<Project> made = withSettings(before, all);
        if (!made) {
            return std::nullopt;
        }
        reached = *std::move(made);
    }
    return reached == after ? std::optional(std::move(all)) : std::nullopt;
}

} // namespace

Result<std::vector<std::string>> settingsBetween(const Project& before, const Project& after)
{
    std::optional<std::vector<std::string>> shortest;
    const auto length = [](const std::vector<std::string>& words) { return joinedText(words, " ").size(); };
    for (const Detail detail : {Detail::Names, Detail::Fields, Detail::Sections}) {
        auto found = settings(before, after, detail);
        if (found && (!shortest || length(*found) < length(*shortest))) {
            shortest = std::move(found);
        }
    }
    if (!shortest) {
        return Error{"", "no settings of fields give this change; save the project instead"};
    }
    return *std::move(shortest);
}

std::optional<std::string> settingAt(const Project& project, std::string_view pointer)
{
    while (!pointer.empty()) {
        if (const std::optional<FieldValue> held = fieldAt(project, pointer)) {
            return word(std::string(pointer), treeOf(*held));
        }
        pointer = pointer.substr(0, pointer.rfind('/'));
    }
    return std::nullopt;
}

Result<Project> withSettings(Project project, std::vector<std::string> settings)
{
    const auto fieldOf = [](const std::string& text) { return pointerFrom(text.substr(0, text.find('='))); };
    std::ranges::stable_sort(settings, {}, [&](const std::string& text) { return settingTurn(fieldOf(text)); });
    for (const std::string& text : settings) {
        project = RESIDUA_TRY(withField(project, fieldOf(text), FieldValue{text.substr(text.find('=') + 1)}));
    }
    return project;
}

Result<std::string> setCommand(const std::filesystem::path& directory, const std::vector<std::string>& settings)
{
    std::string command = "residua-cli set " + shellWord(directory.string());
    for (const std::string& setting : settings) {
        if (setting.size() > kLongestWord) {
            return Error{setting.substr(0, setting.find('=')),
                         "has a value of " + bytesText(static_cast<double>(setting.size())) +
                             ", which is too long for a command line; save the project instead"};
        }
        command += " " + shellWord(setting);
    }
    return command;
}

} // namespace residua::projects
