// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/choices.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "resources/help.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace residua::cli {
namespace {

using nlohmann::json;
using resources::HelpTopic;

constexpr std::size_t kWidestText = 100; ///< columns; longer lines are hard to read

json jsonOf(const HelpTopic& topic)
{
    return {{"name", topic.name},
            {"title", topic.title},
            {"summary", topic.summary},
            {"group", topic.group},
            {"aliases", topic.aliases}};
}

Exit listTopics(const Console& console)
{
    std::size_t width = 0;
    for (const HelpTopic& topic : resources::helpTopics()) {
        width = std::max(width, topic.name.size());
    }
    json list = json::array();
    std::string group;
    for (const HelpTopic& topic : resources::helpTopics()) {
        if (topic.group != group) {
            group = topic.group;
            console.line("\n" + group);
        }
        console.line("  " + topic.name + std::string(width + 2 - topic.name.size(), ' ') + topic.title);
        list.push_back(jsonOf(topic));
    }
    console.line(
        "\nresidua-cli explain NAME prints a page; the names of presets, node kinds and laws find theirs too.");
    console.value(list);
    return Exit::Ok;
}

Exit runExplain(const Arguments& arguments, const Console& console)
{
    const std::string word = arguments.positional(0);
    if (word.empty()) {
        return listTopics(console);
    }
    const HelpTopic* const topic = resources::findTopic(word);
    if (topic == nullptr) {
        return console.fail(Exit::Usage, {"", "no topic \"" + word + "\"" +
                                                  meantHint(word, resources::topicWords(), kTypedHint,
                                                            "; residua-cli explain lists them")});
    }
    console.line(terminalText(topic->text, std::min(console.width(), kWidestText)));
    json value = jsonOf(*topic);
    value["text"] = topic->text;
    console.value(value);
    return Exit::Ok;
}

} // namespace

std::vector<Command> explainCommands()
{
    return {{"explain",
             "say what a method computes: its equation, start, cost and source",
             "residua-cli explain ancre",
             {{{"TOPIC", "a method, preset, node kind, optimiser, law or data source (default: list them)",
                Presence::Optional, topicNames()}},
              {}},
             &runExplain}};
}

} // namespace residua::cli
