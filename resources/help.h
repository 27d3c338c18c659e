// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::resources {

/// One page of resources/help: what a method computes, in Markdown.
struct HelpTopic {
    std::string name;                 ///< of its file, e.g. "ancre": what links and people call it
    std::string title;                ///< its first heading
    std::string summary;              ///< its first paragraph, on one line
    std::string group;                ///< the heading of the index under which it is listed; empty for the index
    std::vector<std::string> aliases; ///< further words for it: keys of presets, node kinds, laws, …
    std::string_view text;            ///< the page as it is written
};

inline constexpr std::string_view kHelpIndex = "index";

/// All of them: the index, then in the index's order. Immutable; any thread.
[[nodiscard]] std::span<const HelpTopic> helpTopics();
/// The topic of that name or alias; capitals count as small letters, and spaces and underscores as hyphens. nullptr
/// for a word that is neither.
[[nodiscard]] const HelpTopic* findTopic(std::string_view word);
/// Every word that findTopic knows, as the pages write it.
[[nodiscard]] std::vector<std::string> topicWords();
/// Whether `heading` of a page is about `word`: "## low_rank_linear" is about low_rank_linear, "## add, multiply" about
/// both.
[[nodiscard]] bool isHeadingOf(std::string_view heading, std::string_view word);

} // namespace residua::resources
