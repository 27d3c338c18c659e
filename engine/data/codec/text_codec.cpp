// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/codec/text_codec.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>

namespace residua::engine {
namespace {

constexpr char32_t kReplacement = U'\uFFFD';

std::string quoted(char32_t codePoint)
{
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "U+%04X", static_cast<unsigned>(codePoint));
    std::string text = number.data();
    if (codePoint >= 0x20) {
        text += " '";
        appendUtf8(text, codePoint);
        text += "'";
    }
    return text;
}

class ByteCodec : public TextCodec {
public:
    std::int64_t vocabulary() const override { return projects::kByteVocabulary; }

    Status encode(std::string_view text, TextStart, std::vector<std::uint32_t>& tokens) const override
    {
        for (const char byte : text) {
            tokens.push_back(static_cast<unsigned char>(byte));
        }
        return Done{};
    }

    /// UTF-8 has no byte 0xff.
    std::optional<std::int64_t> unusedToken() const override { return 0xff; }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        std::string text;
        for (const std::int64_t token : tokens) {
            // 0xff is never part of UTF-8, so asUtf8() replaces it, as other invalid bytes.
            text += static_cast<char>(token >= 0 && token < projects::kByteVocabulary ? token : 0xff);
        }
        return asUtf8(text);
    }
};

class CharacterCodec : public TextCodec {
public:
    explicit CharacterCodec(std::vector<char32_t> alphabet) : m_alphabet(std::move(alphabet)) {}

    std::int64_t vocabulary() const override { return static_cast<std::int64_t>(m_alphabet.size()); }

    Status encode(std::string_view text, TextStart, std::vector<std::uint32_t>& tokens) const override
    {
        for (std::size_t at = 0, position = 0; at < text.size(); ++position) {
            const char32_t codePoint = nextCodePoint(text, at);
            const auto found = std::lower_bound(m_alphabet.begin(), m_alphabet.end(), codePoint);
            if (found == m_alphabet.end() || *found != codePoint) {
                return Error{"character " + std::to_string(position), quoted(codePoint) + " is not among the " +
                                                                          std::to_string(m_alphabet.size()) +
                                                                          " characters of the data"};
            }
            tokens.push_back(static_cast<std::uint32_t>(found - m_alphabet.begin()));
        }
        return Done{};
    }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        std::string text;
        for (const std::int64_t token : tokens) {
            const bool known = token >= 0 && token < vocabulary();
            appendUtf8(text, known ? m_alphabet[static_cast<std::size_t>(token)] : kReplacement);
        }
        return text;
    }

private:
    std::vector<char32_t> m_alphabet;
};

class WordCodec : public TextCodec {
public:
    explicit WordCodec(std::vector<std::string> words) : m_words(std::move(words))
    {
        for (std::size_t id = 0; id < m_words.size(); ++id) {
            m_ids[m_words[id]] = static_cast<std::uint32_t>(id);
        }
    }

    std::int64_t vocabulary() const override { return static_cast<std::int64_t>(m_words.size()); }

    Status encode(std::string_view text, TextStart, std::vector<std::uint32_t>& tokens) const override
    {
        std::istringstream stream{std::string(text)};
        std::string word;
        for (std::size_t position = 0; stream >> word; ++position) {
            const auto found = m_ids.find(word);
            if (found == m_ids.end()) {
                constexpr std::size_t kLongest = 64;
                const std::string shown =
                    word.size() > kLongest ? "a word of " + std::to_string(word.size()) + " bytes" : "\"" + word + "\"";
                return Error{"word " + std::to_string(position),
                             shown + " is not in the language, which has words like " + m_words.front() + " " +
                                 m_words[m_words.size() / 2] + " " + m_words.back()};
            }
            tokens.push_back(found->second);
        }
        return Done{};
    }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        std::string text;
        for (const std::int64_t token : tokens) {
            text += text.empty() ? "" : " ";
            if (token >= 0 && token < vocabulary()) {
                text += m_words[static_cast<std::size_t>(token)];
            } else {
                appendUtf8(text, kReplacement);
            }
        }
        return text;
    }

private:
    std::vector<std::string> m_words;
    std::map<std::string, std::uint32_t> m_ids;
};

class IdCodec : public TextCodec {
public:
    explicit IdCodec(std::int64_t vocabulary) : m_vocabulary(vocabulary) {}

    std::int64_t vocabulary() const override { return m_vocabulary; }

    Status encode(std::string_view text, TextStart, std::vector<std::uint32_t>& tokens) const override
    {
        std::istringstream stream{std::string(text)};
        std::string word;
        for (std::size_t position = 0; stream >> word; ++position) {
            const auto id = numberFrom<std::uint32_t>(word);
            if (!id || *id >= m_vocabulary) {
                return Error{"word " + std::to_string(position),
                             "\"" + word + "\" is not a token id in 0.." + std::to_string(m_vocabulary - 1)};
            }
            tokens.push_back(*id);
        }
        return Done{};
    }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        return joinedText(tokens, " ", [](std::int64_t token) { return std::to_string(token); });
    }

private:
    std::int64_t m_vocabulary;
};

} // namespace

std::unique_ptr<TextCodec> byteCodec()
{
    return std::make_unique<ByteCodec>();
}

std::unique_ptr<TextCodec> characterCodec(std::vector<char32_t> alphabet)
{
    return std::make_unique<CharacterCodec>(std::move(alphabet));
}

std::unique_ptr<TextCodec> wordCodec(std::vector<std::string> words)
{
    return std::make_unique<WordCodec>(std::move(words));
}

std::unique_ptr<TextCodec> idCodec(std::int64_t vocabulary)
{
    return std::make_unique<IdCodec>(vocabulary);
}

} // namespace residua::engine
