// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::resources {

/// One page of resources/help on a method, in Markdown.
struct HelpTopic {
    std::string name;                 ///< name of its file, e.g. "ancre", used by links and people
    std::string title;                ///< its first heading
    std::string summary;              ///< its first paragraph, on one line
    std::string group;                ///< the heading of the index under which it is listed; empty for the index
    std::vector<std::string> aliases; ///< further names: keys of presets, node kinds, laws, …
    std::string_view text;            ///< the text of the page
};

inline constexpr std::string_view kHelpIndex = "index";

/// Returns all topics: the index, then in the index's order. Immutable; any thread.
[[nodiscard]] std::span<const HelpTopic> helpTopics();
/// Returns the topic with that name or alias. Ignores case, and treats spaces and underscores as hyphens. Returns null
/// for any other word.
[[nodiscard]] const HelpTopic* findTopic(std::string_view word);
/// Returns every word that findTopic() finds, as the pages write it.
[[nodiscard]] std::vector<std::string> topicWords();
/// True if `heading` of a page is about `word`: "## low_rank_linear" is about low_rank_linear, "## add, multiply" about
/// both.
[[nodiscard]] bool isHeadingOf(std::string_view heading, std::string_view word);

/// A page of the help: a file of resources/help, or the page of all fields.
struct HelpPage {
    std::string_view name; ///< name of the file without .md
    std::string_view text;
};

/// Returns all pages, in no particular order. The build generates the source (EmbedText.cmake).
[[nodiscard]] std::span<const HelpPage> helpPages();

} // namespace residua::resources
