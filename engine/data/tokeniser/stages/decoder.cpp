// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/stages.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/mapped.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::string_view kReplacement = "\uFFFD";

std::string joined(const Tokens& tokens)
{
    std::string text;
    for (const std::string& token : tokens) {
        text += token;
    }
    return text;
}

void replaceAll(std::string& text, std::string_view from, std::string_view to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

Decoder makeByteLevelDecoder(const Part&)
{
    return [](Tokens& tokens) {
        std::string bytes;
        for (const std::string& token : tokens) {
            bytes += charactersAsBytes(token).value_or(token);
        }
        tokens = {repairedUtf8(bytes)};
    };
}

std::optional<char> byteOf(std::string_view token)
{
    unsigned value = 0;
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') {
        return std::nullopt;
    }
    const auto parsed = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
    return parsed.ec == std::errc{} && parsed.ptr == token.data() + 5 ? std::optional(static_cast<char>(value))
                                                                      : std::nullopt;
}

/// Joins consecutive byte tokens to one text, or if that is not UTF-8, to one U+FFFD per byte.
void flushBytes(std::string& bytes, Tokens& result)
{
    if (bytes.empty()) {
        return;
    }
    if (isUtf8(bytes)) {
        result.push_back(bytes);
    } else {
        result.insert(result.end(), bytes.size(), std::string(kReplacement));
    }
    bytes.clear();
}

Decoder makeByteFallbackDecoder(const Part&)
{
    return [](Tokens& tokens) {
        Tokens result;
        std::string bytes;
        for (std::string& token : tokens) {
            if (const auto byte = byteOf(token)) {
                bytes += *byte;
            } else {
                flushBytes(bytes, result);
                result.push_back(std::move(token));
            }
        }
        flushBytes(bytes, result);
        tokens = std::move(result);
    };
}

Decoder makeFuseDecoder(const Part&)
{
    return [](Tokens& tokens) { tokens = {joined(tokens)}; };
}

Decoder makeMetaspaceDecoder(const Part& part)
{
    const Metaspace metaspace = readMetaspace(part);
    const bool drops = metaspace.before != Metaspace::Before::Never;
    return [mark = metaspace.mark, drops](Tokens& tokens) {
        for (std::string& token : tokens) {
            replaceAll(token, mark, &token == tokens.data() && drops ? "" : " ");
        }
    };
}

void tidy(std::string& text)
{
    constexpr std::pair<std::string_view, std::string_view> kRules[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kRules) {
        replaceAll(text, from, to);
    }
}

Decoder makeWordPieceDecoder(const Part& part)
{
    const std::string prefix = part.text("prefix", "##");
    const bool cleans = part.flag("cleanup", true);
    return [=](Tokens& tokens) {
        for (std::string& token : tokens) {
            if (&token != tokens.data()) {
                token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
            }
            if (cleans) {
                tidy(token);
            }
        }
    };
}

Decoder makeBpeDecoder(const Part& part)
{
    const std::string suffix = part.text("suffix", "</w>");
    return [=](Tokens& tokens) {
        for (std::string& token : tokens) {
            if (!suffix.empty()) {
                replaceAll(token, suffix, &token == &tokens.back() ? "" : " ");
            }
        }
    };
}

Decoder makeReplaceDecoder(const Part& part)
{
    return [pattern = part.pattern("pattern"), content = part.text("content", "")](Tokens& tokens) {
        for (std::string& token : tokens) {
            if (isUtf8(token)) {
                static_cast<void>(pattern.replace(token, content)); // a token for which the search fails is unchanged
            }
        }
    };
}

void stripToken(std::string& token, const std::string& content, std::int64_t start, std::int64_t stop)
{
    for (; start > 0 && token.starts_with(content); --start) {
        token.erase(0, content.size());
    }
    for (; stop > 0 && token.ends_with(content); --stop) {
        token.erase(token.size() - content.size());
    }
}

Decoder makeStripDecoder(const Part& part)
{
    const std::string content = part.character("content", " ");
    const std::int64_t start = part.number("start", 0);
    const std::int64_t stop = part.number("stop", 0);
    return [=](Tokens& tokens) {
        for (std::string& token : tokens) {
            stripToken(token, content, start, stop);
        }
    };
}

Decoder makeCtcDecoder(const Part& part)
{
    const std::string pad = part.text("pad_token", "<pad>");
    const std::string delimiter = part.text("word_delimiter_token", "|");
    const bool cleans = part.flag("cleanup", true);
    return [=](Tokens& tokens) {
        tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
        for (std::string& token : tokens) {
            if (!pad.empty()) {
                replaceAll(token, pad, "");
            }
            if (cleans && !delimiter.empty()) {
                tidy(token);
                replaceAll(token, delimiter, " ");
            }
        }
    };
}

Decoder makeDecoderSequence(const Part& part)
{
    return [parts = mapped(part.parts("decoders"), makeDecoder)](Tokens& tokens) {
        for (const Decoder& each : parts) {
            each(tokens);
        }
    };
}

constexpr Maker<Decoder> kDecoders[] = {{"ByteLevel", &makeByteLevelDecoder},
                                        {"ByteFallback", &makeByteFallbackDecoder},
                                        {"Fuse", &makeFuseDecoder},
                                        {"Metaspace", &makeMetaspaceDecoder},
                                        {"WordPiece", &makeWordPieceDecoder},
                                        {"BPEDecoder", &makeBpeDecoder},
                                        {"Replace", &makeReplaceDecoder},
                                        {"Strip", &makeStripDecoder},
                                        {"CTC", &makeCtcDecoder},
                                        {"Sequence", &makeDecoderSequence}};

/// Returns the length of the longest incomplete character at the beginning of `text`; at least one.
std::size_t brokenLength(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t whole = lead >= 0xf0 && lead <= 0xf4  ? 4
                              : lead >= 0xe0 && lead < 0xf0 ? 3
                              : lead >= 0xc2 && lead < 0xe0 ? 2
                                                            : 1;
    for (std::size_t size = std::min(whole, text.size() + 1) - 1; size > 1; --size) {
        // Checks whether some continuation completes it: all bytes after the second have the same range.
        std::string tried(text.substr(0, size));
        tried.append(whole - size, '\x80');
        if (utf8Length(tried) == whole) {
            return size;
        }
    }
    return 1;
}

} // namespace

Decoder makeDecoder(const Part& part)
{
    return madeBy(kDecoders, part);
}

std::string repairedUtf8(std::string_view bytes)
{
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t good = firstInvalidUtf8(bytes).value_or(bytes.size());
        text += bytes.substr(0, good);
        bytes.remove_prefix(good);
        if (!bytes.empty()) {
            text += kReplacement;
            bytes.remove_prefix(brokenLength(bytes));
        }
    }
    return text;
}

} // namespace residua::engine
