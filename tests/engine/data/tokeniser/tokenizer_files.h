// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

/// Parts of tokenizer.json files of our own making.
namespace residua::tests {

/// As many tokens as given, with the ids 0, 1, …
inline nlohmann::json vocabularyOf(const std::vector<std::string>& tokens)
{
    nlohmann::json vocabulary = nlohmann::json::object();
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        vocabulary[tokens[id]] = id;
    }
    return vocabulary;
}

inline nlohmann::json fileOf(const nlohmann::json& model)
{
    return {{"version", "1.0"}, {"model", model}};
}

inline nlohmann::json addedToken(int id, const std::string& content,
                                 const nlohmann::json& changes = nlohmann::json::object())
{
    nlohmann::json token{{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
    token.update(changes);
    return token;
}

} // namespace residua::tests
