// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/graphs/node_places.h"

#include "projects/nodes/expression.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace residua::projects {
namespace {

// Returns a rank, where smaller is better; nullopt if a word does not occur.
std::optional<int> rankOf(const NodeKind& kind, const std::string& text)
{
    const std::string title = lower(kind.title);
    const std::string everything = title + " " + kind.key + " " + lower(kind.category) + " " + lower(kind.summary);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (everything.find(word) == std::string::npos) {
            return std::nullopt;
        }
    }
    if (title == text || kind.key == text) {
        return 0;
    }
    return title.starts_with(text) || kind.key.starts_with(text) ? 1 : title.find(text) != std::string::npos ? 2 : 3;
}

// Adds the choices of a kind's first parameter: "gelu" finds an activation.
void addChoices(const NodeKind& kind, const std::string& text, std::vector<std::pair<int, NodeOffer>>& found)
{
    if (text.empty() || kind.params.empty()) {
        return;
    }
    const ParamSpec& first = kind.params.front();
    for (const std::string& choice : first.choices) {
        if (choice.starts_with(text)) {
            NodeOffer offer{kind.key, choice, kind.title + ": " + kind.summary};
            if (ParamValue(choice) != first.defaultValue) {
                offer.params.emplace(first.name(), choice);
            }
            found.emplace_back(choice == text ? 0 : 1, std::move(offer));
        }
    }
}

void addFormula(const NodeKind& kind, const std::string& text, std::vector<std::pair<int, NodeOffer>>& found)
{
    const auto param = std::ranges::find(kind.params, ParamType::Formula, &ParamSpec::type);
    if (param != kind.params.end()) {
        found.emplace_back(0,
                           NodeOffer{kind.key, text, "An expression node with this formula", {{param->name(), text}}});
    }
}

// True if the text has an operator or a call. A single word is a search.
bool isFormula(std::string_view text)
{
    const auto expression = parseExpression(text);
    return expression && expression->op != Op::Name && !namesIn(*expression).empty();
}

} // namespace

std::string lower(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
    return result;
}

std::vector<NodeOffer> offersFor(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(' ');
    text = begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
    const std::string wanted = lower(text);
    const bool typedFormula = isFormula(text);
    std::vector<std::pair<int, NodeOffer>> found;
    for (const NodeKind& kind : nodeKinds()) {
        if (const auto rank = rankOf(kind, wanted)) {
            found.emplace_back(wanted.empty() ? 0 : *rank, NodeOffer{kind.key, kind.title, kind.summary});
        }
        addChoices(kind, wanted, found);
        if (typedFormula) {
            addFormula(kind, std::string(text), found);
        }
    }
    std::ranges::stable_sort(found, {}, &std::pair<int, NodeOffer>::first);
    std::vector<NodeOffer> offers;
    for (auto& [rank, offer] : found) {
        offers.push_back(std::move(offer));
    }
    return offers;
}

} // namespace residua::projects
