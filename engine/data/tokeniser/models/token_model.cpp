// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/models/token_model.h"

#include <array>
#include <cstdio>

namespace residua::engine {
namespace {

using ModelPtr = std::unique_ptr<TokenModel>;

constexpr Maker<ModelPtr> kModels[] = {
    {"BPE", &makeBpe}, {"Unigram", &makeUnigram}, {"WordPiece", &makeWordPiece}, {"WordLevel", &makeWordLevel}};

/// Makes the model of a file of an earlier version, which has no type. The type follows from fields that only one type
/// has.
ModelPtr makeByFields(const Part& part)
{
    if (part.has("merges")) {
        return makeBpe(part);
    }
    if (part.has("vocab") && part.value()["vocab"].is_array()) {
        return makeUnigram(part);
    }
    return part.has("continuing_subword_prefix") ? makeWordPiece(part) : makeWordLevel(part);
}

} // namespace

std::optional<std::uint32_t> TokenTable::id(std::string_view token) const
{
    const auto found = m_ids.find(token);
    return found == m_ids.end() ? std::nullopt : std::optional(found->second);
}

const std::string* TokenTable::token(std::uint32_t id) const
{
    return id < m_tokens.size() && m_tokens[id] ? &*m_tokens[id] : nullptr;
}

void TokenTable::add(const std::string& token, std::int64_t id, const Part& where)
{
    if (id < 0 || id >= kMostTokens) {
        where.fail("token \"" + token + "\" has the id " + std::to_string(id) + ", expected 0 to " +
                   std::to_string(kMostTokens - 1));
        return;
    }
    const auto place = static_cast<std::size_t>(id);
    if (place >= m_tokens.size()) {
        m_tokens.resize(place + 1);
    }
    if (m_tokens[place]) {
        where.fail("tokens \"" + *m_tokens[place] + "\" and \"" + token + "\" have the same id " + std::to_string(id));
        return;
    }
    if (!m_ids.emplace(token, static_cast<std::uint32_t>(id)).second) {
        where.fail("token \"" + token + "\" is there twice");
        return;
    }
    m_tokens[place] = token;
}

std::optional<std::uint32_t> TokenTable::byteId(unsigned char byte) const
{
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "<0x%02X>", static_cast<unsigned>(byte));
    return id(text.data());
}

void readTokens(const Part& model, TokenTable& table)
{
    const Part vocabulary = model.part("vocab");
    if (!vocabulary.value().is_object() || vocabulary.value().empty()) {
        vocabulary.fail("is missing or empty: the file has no vocabulary; expected an object of tokens and ids");
        return;
    }
    for (const auto& [token, id] : vocabulary.value().items()) {
        table.add(token, vocabulary.number(token, 0), vocabulary);
        if (model.failed()) {
            return;
        }
    }
}

std::optional<std::uint32_t> readUnknown(const Part& model, const TokenTable& table)
{
    const std::string token = model.text("unk_token", "");
    if (token.empty()) {
        return std::nullopt;
    }
    const auto id = table.id(token);
    if (!id) {
        model.part("unk_token").fail("\"" + token + "\" is not in the vocabulary");
    }
    return id;
}

std::unique_ptr<TokenModel> makeTokenModel(const Part& part)
{
    return part.has("type") ? madeBy(kModels, part) : makeByFields(part);
}

} // namespace residua::engine
