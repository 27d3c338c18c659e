// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/help.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::resources {
namespace {

constexpr std::string_view kAliasLine = "Also:";

/// Returns the lines of `text` without their line ends.
std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Returns the words between `open` and `close` in `text`, in order.
std::vector<std::string> wordsBetween(std::string_view text, std::string_view open, std::string_view close)
{
    std::vector<std::string> words;
    for (std::size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at)) {
        at += open.size();
        const std::size_t end = text.find(close, at);
        if (end == std::string_view::npos) {
            break;
        }
        words.emplace_back(text.substr(at, end - at));
        at = end + close.size();
    }
    return words;
}

/// Returns the lines from `first` up to the next empty one as one line.
std::string paragraphAt(const std::vector<std::string_view>& lines, std::size_t first)
{
    std::string text;
    for (std::size_t i = first; i < lines.size() && !lines[i].empty(); ++i) {
        text += (text.empty() ? "" : " ") + std::string(lines[i]);
    }
    return text;
}

/// Parses a page: "# title", a paragraph, optionally "Also: `word`, …", and the rest.
HelpTopic topicOf(const HelpPage& page, std::string group)
{
    HelpTopic topic{std::string(page.name), {}, {}, std::move(group), {}, page.text};
    const std::vector<std::string_view> lines = linesOf(page.text);
    if (!lines.empty() && lines[0].starts_with("# ")) {
        topic.title = lines[0].substr(2);
    }
    topic.summary = paragraphAt(lines, 2);
    const auto aliases =
        std::ranges::find_if(lines, [](std::string_view line) { return line.starts_with(kAliasLine); });
    if (aliases != lines.end()) {
        topic.aliases = wordsBetween(paragraphAt(lines, static_cast<std::size_t>(aliases - lines.begin())), "`", "`");
    }
    return topic;
}

/// Returns the index first, then its links, grouped by the heading above each link.
std::vector<HelpTopic> makeTopics()
{
    const auto pages = helpPages();
    const auto pageNamed = [pages](std::string_view name) { return std::ranges::find(pages, name, &HelpPage::name); };
    std::vector<HelpTopic> topics;
    const auto index = pageNamed(kHelpIndex);
    if (index == pages.end()) {
        return topics;
    }
    topics.push_back(topicOf(*index, {}));
    std::string group;
    for (const std::string_view line : linesOf(index->text)) {
        if (line.starts_with("## ")) {
            group = line.substr(3);
        }
        for (const std::string& link : wordsBetween(line, "](", ".md)")) {
            if (const auto page = pageNamed(link); page != pages.end()) {
                topics.push_back(topicOf(*page, group));
            }
        }
    }
    return topics;
}

std::string plain(std::string_view word)
{
    std::string result;
    std::ranges::transform(word, std::back_inserter(result), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' || c == ' ' ? '-' : c;
    });
    return result;
}

} // namespace

std::span<const HelpTopic> helpTopics()
{
    static const std::vector<HelpTopic> topics = makeTopics();
    return topics;
}

const HelpTopic* findTopic(std::string_view word)
{
    const std::string wanted = plain(word);
    const auto is = [&wanted](std::string_view other) { return plain(other) == wanted; };
    const auto topics = helpTopics();
    const auto found = std::ranges::find_if(
        topics, [&](const HelpTopic& topic) { return is(topic.name) || std::ranges::any_of(topic.aliases, is); });
    return found == topics.end() ? nullptr : &*found;
}

std::vector<std::string> topicWords()
{
    std::vector<std::string> words;
    for (const HelpTopic& topic : helpTopics()) {
        words.push_back(topic.name);
        words.insert(words.end(), topic.aliases.begin(), topic.aliases.end());
    }
    return words;
}

bool isHeadingOf(std::string_view heading, std::string_view word)
{
    const std::string wanted = plain(word);
    while (!heading.empty()) {
        const std::size_t end = std::min(heading.find(", "), heading.size());
        if (plain(heading.substr(0, end)) == wanted) {
            return true;
        }
        heading.remove_prefix(std::min(end + 2, heading.size()));
    }
    return false;
}

} // namespace residua::resources
