// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/characters.h"

#include "projects/base/utf8.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>
#include <memory>
#include <new>

namespace residua::engine {
namespace {

UChar32 asIcu(char32_t character)
{
    return static_cast<UChar32>(character);
}

bool isIn(char32_t character, std::uint32_t categories)
{
    return (U_GET_GC_MASK(asIcu(character)) & categories) != 0;
}

const icu::Normalizer2& normaliserOf(NormalForm form)
{
    UErrorCode code = U_ZERO_ERROR;
    const icu::Normalizer2* const found = form == NormalForm::C    ? icu::Normalizer2::getNFCInstance(code)
                                          : form == NormalForm::D  ? icu::Normalizer2::getNFDInstance(code)
                                          : form == NormalForm::KC ? icu::Normalizer2::getNFKCInstance(code)
                                                                   : icu::Normalizer2::getNFKDInstance(code);
    if (U_FAILURE(code) || found == nullptr) {
        throw std::bad_alloc(); // the tables are part of the library, so memory is the only possible cause
    }
    return *found;
}

bool isInUnicode8(char32_t character)
{
    constexpr std::uint8_t kVersion = 8;
    UVersionInfo age{};
    u_charAge(asIcu(character), age);
    return age[0] <= kVersion;
}

bool isAscii(std::string_view text)
{
    return std::ranges::all_of(text, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

} // namespace

bool isWhiteSpace(char32_t character)
{
    return u_isUWhiteSpace(asIcu(character)) != 0;
}

bool isWordCharacter(char32_t character)
{
    return u_hasBinaryProperty(asIcu(character), UCHAR_ALPHABETIC) != 0 ||
           isIn(character, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK);
}

bool isPunctuation(char32_t character)
{
    const bool ascii = character > 0x20 && character < 0x7f;
    if (ascii) {
        return !isIn(character, U_GC_L_MASK | U_GC_N_MASK);
    }
    constexpr char32_t kChi = 0x166d; // these two were punctuation in Unicode 8
    constexpr char32_t kSandhiMark = 0x111c9;
    return (isIn(character, U_GC_P_MASK) && isInUnicode8(character)) || character == kChi || character == kSandhiMark;
}

bool isNumeric(char32_t character)
{
    return isIn(character, U_GC_N_MASK);
}

bool isMark(char32_t character)
{
    return isIn(character, U_GC_M_MASK);
}

bool isNonspacingMark(char32_t character)
{
    return isIn(character, U_GC_MN_MASK) && isInUnicode8(character);
}

bool isControlLike(char32_t character)
{
    return isIn(character, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK | U_GC_CS_MASK) && isInUnicode8(character);
}

std::string normalised(std::string_view text, NormalForm form)
{
    if (isAscii(text)) {
        return std::string(text);
    }
    std::string result;
    icu::StringByteSink<std::string> sink(&result);
    UErrorCode code = U_ZERO_ERROR;
    normaliserOf(form).normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink,
                                     nullptr, code);
    if (U_FAILURE(code)) {
        throw std::bad_alloc(); // valid UTF-8 always has a normal form
    }
    return result;
}

std::string lowercased(std::string_view text)
{
    constexpr char32_t kDottedI = 0x130; // the only character that becomes two in every language
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const char32_t character = nextCodePoint(text, at);
        if (character == kDottedI) {
            result += "i\xcc\x87";
        } else {
            appendUtf8(result, static_cast<char32_t>(u_tolower(asIcu(character))));
        }
    }
    return result;
}

void forEachGrapheme(std::string_view text, const std::function<void(std::string_view)>& take)
{
    UErrorCode code = U_ZERO_ERROR;
    const std::unique_ptr<icu::BreakIterator> breaks(
        icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
    UText* const opened = utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &code);
    const std::unique_ptr<UText, decltype(&utext_close)> source(opened, &utext_close);
    if (U_SUCCESS(code)) {
        breaks->setText(source.get(), code);
    }
    if (U_FAILURE(code)) {
        throw std::bad_alloc();
    }
    std::int32_t begin = breaks->first();
    for (std::int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
        take(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        begin = end;
    }
}

} // namespace residua::engine
