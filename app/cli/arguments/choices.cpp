// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/choices.h"

#include "engine/api/export_format.h"
#include "projects/library/examples.h"
#include "projects/schema/fields.h"
#include "resources/help.h"

#include <algorithm>

namespace residua::cli {
namespace {

/// Returns the result of `nameOf` for each item.
template <class List, class Name>
std::vector<std::string> namesOf(const List& list, Name nameOf)
{
    std::vector<std::string> names;
    for (const auto& each : list) {
        names.emplace_back(nameOf(each));
    }
    return names;
}

/// Returns the word for a pointer: "training.batch=" for "/training/batch".
std::string dotted(const std::string& pointer)
{
    std::string word = pointer.substr(1);
    std::ranges::replace(word, '/', '.');
    return word + "=";
}

/// Returns the words of the fields that `isWanted` accepts. Skips fields in lists, because a word list cannot contain
/// their indices.
std::vector<std::string> fieldsThat(bool (*isWanted)(const projects::FieldEntry&))
{
    std::vector<std::string> words{"topology="};
    for (const projects::FieldEntry& entry : projects::everyField()) {
        if (isWanted(entry) && !entry.isInList) {
            words.push_back(dotted(entry.pointer));
        }
    }
    std::ranges::sort(words);
    const auto twice = std::ranges::unique(words); // a field of several alternatives
    words.erase(twice.begin(), twice.end());
    return words;
}

} // namespace

const std::vector<std::string>& exampleNames()
{
    static const auto kNames =
        namesOf(projects::examples(), [](const projects::Example& example) { return example.name; });
    return kNames;
}

const std::vector<std::string>& recipeNames()
{
    static const auto kNames = namesOf(projects::recipes(), [](const projects::Recipe& recipe) { return recipe.name; });
    return kNames;
}

const std::vector<std::string>& topologyNames()
{
    static const auto kNames = namesOf(projects::topologyPresets(projects::examples().front().project.network),
                                       [](const projects::TopologyPreset& preset) { return preset.name; });
    return kNames;
}

const std::vector<std::string>& topicNames()
{
    static const auto kNames =
        namesOf(resources::helpTopics(), [](const resources::HelpTopic& topic) { return topic.name; });
    return kNames;
}

const std::vector<std::string>& exportNames()
{
    static const auto kNames =
        namesOf(engine::exportFormats(), [](const engine::ExportFormatInfo& format) { return format.key; });
    return kNames;
}

const std::vector<std::string>& fieldWords()
{
    static const auto kWords = fieldsThat(&projects::isSettable);
    return kWords;
}

const std::vector<std::string>& axisWords()
{
    static const auto kWords = fieldsThat(&projects::isSweepable);
    return kWords;
}

} // namespace residua::cli
