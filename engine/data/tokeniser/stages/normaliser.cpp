// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/stages.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/mapped.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace residua::engine {
namespace {

/// Returns a normaliser that cannot fail.
Normaliser textChange(std::function<void(std::string&)> change)
{
    return [change = std::move(change)](std::string& text, TextStart) {
        change(text);
        return Status(Done{});
    };
}

/// Replaces each character by the text that `put` appends for it.
template <class Put>
void rewrite(std::string& text, const Put& put)
{
    std::string result;
    result.reserve(text.size() + text.size() / 8);
    for (std::size_t at = 0; at < text.size();) {
        put(result, nextCodePoint(text, at));
    }
    text = std::move(result);
}

template <NormalForm form>
Normaliser makeFormNormaliser(const Part&)
{
    return textChange([](std::string& text) { text = normalised(text, form); });
}

Normaliser makeLowercaseNormaliser(const Part&)
{
    return textChange([](std::string& text) { text = lowercased(text); });
}

void dropMarks(std::string& text, bool (*drops)(char32_t))
{
    rewrite(text, [&](std::string& result, char32_t character) {
        if (!drops(character)) {
            appendUtf8(result, character);
        }
    });
}

Normaliser makeStripAccentsNormaliser(const Part&)
{
    return textChange([](std::string& text) { dropMarks(text, &isMark); });
}

bool isCjk(char32_t character)
{
    constexpr std::pair<char32_t, char32_t> kBlocks[] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                                         {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                                         {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    return std::ranges::any_of(
        kBlocks, [&](const auto& block) { return character >= block.first && character <= block.second; });
}

void cleanText(std::string& result, char32_t character)
{
    const bool blank = character == '\t' || character == '\n' || character == '\r';
    if (!blank && (character == 0 || character == 0xfffd || isControlLike(character))) {
        return;
    }
    appendUtf8(result, blank || isWhiteSpace(character) ? U' ' : character);
}

void spaceCjk(std::string& result, char32_t character)
{
    const bool apart = isCjk(character);
    result += apart ? " " : "";
    appendUtf8(result, character);
    result += apart ? " " : "";
}

Normaliser makeBertNormaliser(const Part& part)
{
    const bool clean = part.flag("clean_text", true);
    const bool cjk = part.flag("handle_chinese_chars", true);
    const bool lower = part.flag("lowercase", true);
    const bool strip = part.flag("strip_accents", lower);
    return textChange([=](std::string& text) {
        if (clean) {
            rewrite(text, &cleanText);
        }
        if (cjk) {
            rewrite(text, &spaceCjk);
        }
        if (strip) {
            text = normalised(text, NormalForm::D);
            dropMarks(text, &isNonspacingMark);
        }
        if (lower) {
            text = lowercased(text);
        }
    });
}

void stripText(std::string& text, bool left, bool right)
{
    std::size_t begin = 0;
    for (std::size_t at = 0; left && at < text.size();) {
        if (!isWhiteSpace(nextCodePoint(text, at))) {
            break;
        }
        begin = at;
    }
    std::size_t end = text.size();
    while (right && end > begin) {
        const std::size_t last = lastCodePoint(std::string_view(text).substr(0, end));
        std::size_t at = last;
        if (!isWhiteSpace(nextCodePoint(text, at))) {
            break;
        }
        end = last;
    }
    text = text.substr(begin, end - begin);
}

Normaliser makeStripNormaliser(const Part& part)
{
    const bool left = part.flag("strip_left", true);
    const bool right = part.flag("strip_right", true);
    return textChange([=](std::string& text) { stripText(text, left, right); });
}

bool dropsInTranslation(char32_t character)
{
    return (character >= 0x1 && character <= 0x8) || character == 0xb || (character >= 0xe && character <= 0x1f) ||
           character == 0x7f || character == 0x8f || character == 0x9f;
}

bool spaceInTranslation(char32_t character)
{
    constexpr char32_t kOthers[] = {0x9, 0xa, 0xc, 0xd, 0x1680, 0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd};
    return (character >= 0x200b && character <= 0x200f) || std::ranges::find(kOthers, character) != std::end(kOthers);
}

/// Makes a normaliser with SentencePiece's rules for machine translation.
Normaliser makeNmtNormaliser(const Part&)
{
    return textChange([](std::string& text) {
        rewrite(text, [](std::string& result, char32_t character) {
            if (!dropsInTranslation(character)) {
                appendUtf8(result, spaceInTranslation(character) ? U' ' : character);
            }
        });
    });
}

Normaliser makeByteLevelNormaliser(const Part&)
{
    return textChange([](std::string& text) { text = bytesAsCharacters(text); });
}

Normaliser makePrependNormaliser(const Part& part)
{
    return [before = part.text("prepend", "")](std::string& text, TextStart start) {
        if (!text.empty() && start == TextStart::Begins) {
            text.insert(0, before);
        }
        return Status(Done{});
    };
}

Normaliser makeReplaceNormaliser(const Part& part)
{
    return [pattern = part.pattern("pattern"), content = part.text("content", "")](std::string& text, TextStart) {
        return pattern.replace(text, content);
    };
}

/// Looks up a grapheme of less than six bytes as a whole, else character by character, as in the models' training.
void mapGrapheme(const std::string& map, std::string_view grapheme, std::string& result)
{
    constexpr std::size_t kLongest = 5;
    const auto whole = grapheme.size() <= kLongest ? replacementIn(map, grapheme) : std::nullopt;
    if (whole) {
        result += *whole;
        return;
    }
    for (std::size_t at = 0; at < grapheme.size();) {
        const std::string_view character = grapheme.substr(at, utf8Length(grapheme.substr(at)));
        at += character.size();
        result += replacementIn(map, character).value_or(character);
    }
}

Normaliser makePrecompiledNormaliser(const Part& part)
{
    auto map = base64Bytes(part.text("precompiled_charsmap", ""));
    if (!map || !isSoundCharsmap(*map)) {
        part.fail("its precompiled_charsmap is damaged");
        return nullptr;
    }
    return textChange([map = *std::move(map)](std::string& text) {
        std::string result;
        forEachGrapheme(text, [&](std::string_view grapheme) { mapGrapheme(map, grapheme, result); });
        text = std::move(result);
    });
}

Normaliser makeNormaliserSequence(const Part& part)
{
    return [parts = mapped(part.parts("normalizers"), makeNormaliser)](std::string& text, TextStart start) -> Status {
        for (const Normaliser& each : parts) {
            RESIDUA_TRY(each(text, start));
        }
        return Done{};
    };
}

constexpr Maker<Normaliser> kNormalisers[] = {{"NFC", &makeFormNormaliser<NormalForm::C>},
                                              {"NFD", &makeFormNormaliser<NormalForm::D>},
                                              {"NFKC", &makeFormNormaliser<NormalForm::KC>},
                                              {"NFKD", &makeFormNormaliser<NormalForm::KD>},
                                              {"Lowercase", &makeLowercaseNormaliser},
                                              {"StripAccents", &makeStripAccentsNormaliser},
                                              {"BertNormalizer", &makeBertNormaliser},
                                              {"Strip", &makeStripNormaliser},
                                              {"Nmt", &makeNmtNormaliser},
                                              {"ByteLevel", &makeByteLevelNormaliser},
                                              {"Prepend", &makePrependNormaliser},
                                              {"Replace", &makeReplaceNormaliser},
                                              {"Precompiled", &makePrecompiledNormaliser},
                                              {"Sequence", &makeNormaliserSequence}};

} // namespace

Normaliser makeNormaliser(const Part& part)
{
    return madeBy(kNormalisers, part);
}

} // namespace residua::engine
