// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/splitter.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/mapped.h"
#include "projects/base/utf8.h"

#include <functional>
#include <utility>

namespace residua::engine {
namespace {

/// Appends the matches and the stretches between them. The matches are the delimiters; with `inverted`, the stretches
/// between them are.
void appendStretches(Span part, const Span* begin, const Span* end, bool inverted, std::vector<Stretch>& stretches)
{
    std::size_t done = part.begin;
    for (const Span* match = begin; match != end; ++match) {
        if (match->begin > done) {
            stretches.push_back({{done, match->begin}, inverted});
        }
        stretches.push_back({*match, !inverted});
        done = match->end;
    }
    if (done < part.end) {
        stretches.push_back({{done, part.end}, inverted});
    }
}

Status splitByPattern(Pieces& pieces, const Pattern& pattern, Delimiters delimiters, bool inverted)
{
    std::vector<Span> found;
    std::vector<std::size_t> ends;
    RESIDUA_TRY(pattern.find(pieces.text, pieces.spans, found, ends));
    std::vector<Span> result;
    result.reserve(found.size() + pieces.spans.size());
    std::vector<Stretch> stretches;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
        stretches.clear();
        appendStretches(pieces.spans[i], found.data() + begin, found.data() + ends[i], inverted, stretches);
        appendPieces(stretches, delimiters, result);
        begin = ends[i];
    }
    pieces.spans = std::move(result);
    return Done{};
}

Delimiters delimitersAt(const Part& part, const std::string& key, const char* otherwise)
{
    const std::string name = part.text(key, otherwise);
    const auto known = delimitersOf(name);
    if (!known) {
        part.part(key).fail("\"" + name +
                            "\" is unknown, expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
                            "Contiguous");
    }
    return known.value_or(Delimiters::Removed);
}

Splitter makePatternSplitter(const Part& part)
{
    return [pattern = part.pattern("pattern"), delimiters = delimitersAt(part, "behavior", ""),
            inverted = part.flag("invert", false)](Pieces& pieces) {
        return splitByPattern(pieces, pattern, delimiters, inverted);
    };
}

/// Returns a splitter at the characters for which `delimits` is true.
Splitter characterSplit(std::function<bool(char32_t)> delimits, Delimiters delimiters)
{
    return [delimits = std::move(delimits), delimiters](Pieces& pieces) {
        std::vector<Span> result;
        std::vector<Span> found;
        std::vector<Stretch> stretches;
        for (const Span span : pieces.spans) {
            found.clear();
            stretches.clear();
            for (std::size_t at = span.begin; at < span.end;) {
                const std::size_t begin = at;
                if (delimits(nextCodePoint(pieces.text, at))) {
                    found.push_back({begin, at});
                }
            }
            appendStretches(span, found.data(), found.data() + found.size(), false, stretches);
            appendPieces(stretches, delimiters, result);
        }
        pieces.spans = std::move(result);
        return Status(Done{});
    };
}

Splitter makeDigitsSplitter(const Part& part)
{
    const bool single = part.flag("individual_digits", false);
    return characterSplit(&isNumeric, single ? Delimiters::Isolated : Delimiters::Contiguous);
}

Splitter makePunctuationSplitter(const Part& part)
{
    return characterSplit(&isPunctuation, delimitersAt(part, "behavior", "Isolated"));
}

Splitter makeSpaceSplitter(const Part&)
{
    return characterSplit(&isWhiteSpace, Delimiters::Removed);
}

Splitter makeDelimiterSplitter(const Part& part)
{
    const std::string text = part.character("delimiter", "");
    std::size_t at = 0;
    const char32_t delimiter = text.empty() ? U' ' : nextCodePoint(text, at);
    return characterSplit([=](char32_t character) { return character == delimiter; }, Delimiters::Removed);
}

/// Splits into runs of word characters and runs of other characters, except for white space.
Status splitWords(Pieces& pieces)
{
    enum class Kind { Space, Word, Other };
    const auto kindOf = [](char32_t character) {
        constexpr char32_t kNonJoiner = 0x200c;
        constexpr char32_t kJoiner = 0x200d;
        if (isWordCharacter(character) || character == kNonJoiner || character == kJoiner) {
            return Kind::Word;
        }
        return isWhiteSpace(character) ? Kind::Space : Kind::Other;
    };
    std::vector<Span> result;
    for (const Span span : pieces.spans) {
        Kind last = Kind::Space;
        for (std::size_t at = span.begin; at < span.end;) {
            const std::size_t begin = at;
            const Kind kind = kindOf(nextCodePoint(pieces.text, at));
            if (kind != Kind::Space && kind == last) {
                result.back().end = at;
            } else if (kind != Kind::Space) {
                result.push_back({begin, at});
            }
            last = kind;
        }
    }
    pieces.spans = std::move(result);
    return Done{};
}

Splitter inSequence(std::vector<Splitter> parts)
{
    return [parts = std::move(parts)](Pieces& pieces) -> Status {
        for (const Splitter& part : parts) {
            pieces.writeBytes();
            RESIDUA_TRY(part(pieces));
        }
        return Done{};
    };
}

Splitter makeBertSplitter(const Part&)
{
    return inSequence(
        {characterSplit(&isWhiteSpace, Delimiters::Removed), characterSplit(&isPunctuation, Delimiters::Isolated)});
}

/// Rewrites each span: `put` appends the new text and receives whether text may be added before it.
template <class Put>
void rewriteSpans(Pieces& pieces, const Put& put)
{
    std::string text;
    text.reserve(pieces.text.size() + pieces.text.size() / 4);
    for (Span& span : pieces.spans) {
        const bool open = span.begin > 0 || pieces.start == TextStart::Begins;
        const std::size_t begin = text.size();
        put(text, span, open);
        span = {begin, text.size()};
    }
    pieces.text = std::move(text);
}

/// The expression by which GPT-2 splits text.
constexpr std::string_view kBytePieces =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Splitter makeByteLevelSplitter(const Part& part)
{
    std::optional<Pattern> pattern;
    if (part.flag("use_regex", true)) {
        auto compiled = Pattern::regularExpression(kBytePieces, part.place());
        if (!compiled) {
            part.fail(compiled.error().text());
            return nullptr;
        }
        pattern = *std::move(compiled);
    }
    return [pattern = std::move(pattern), spaceBefore = part.flag("add_prefix_space", true)](Pieces& pieces) {
        if (spaceBefore) {
            rewriteSpans(pieces, [&](std::string& text, Span span, bool open) {
                const std::string_view piece = span.of(pieces.text);
                text += open && !piece.starts_with(' ') ? " " : "";
                text += piece;
            });
        }
        Status status = Done{};
        if (pattern) {
            status = splitByPattern(pieces, *pattern, Delimiters::Isolated, false);
        }
        pieces.bytes = true;
        return status;
    };
}

/// Replaces spaces by a visible character, with which each piece begins.
Splitter makeMetaspaceSplitter(const Part& part)
{
    const Metaspace metaspace = readMetaspace(part);
    return [metaspace, pattern = Pattern::literal(metaspace.mark), splits = part.flag("split", true)](Pieces& pieces) {
        rewriteSpans(pieces, [&](std::string& text, Span span, bool open) {
            const std::string_view piece = span.of(pieces.text);
            const bool first = pieces.isFirst && span.begin == 0;
            const bool wanted = metaspace.before == Metaspace::Before::Always ||
                                (metaspace.before == Metaspace::Before::First && first);
            text +=
                wanted && open && !piece.starts_with(' ') && !piece.starts_with(metaspace.mark) ? metaspace.mark : "";
            for (const char byte : piece) {
                if (byte == ' ') {
                    text += metaspace.mark;
                } else {
                    text += byte;
                }
            }
        });
        return splits ? splitByPattern(pieces, pattern, Delimiters::MergedWithNext, false) : Status(Done{});
    };
}

Splitter makeFixedLengthSplitter(const Part& part)
{
    const std::int64_t length = part.number("length", 5);
    if (length < 1) {
        part.part("length").fail("is " + std::to_string(length) + ", expected at least 1");
    }
    return [length](Pieces& pieces) {
        std::vector<Span> result;
        for (const Span span : pieces.spans) {
            for (std::size_t at = span.begin; at < span.end;) {
                const std::size_t begin = at;
                for (std::int64_t i = 0; i < length && at < span.end; ++i) {
                    at += utf8Length(std::string_view(pieces.text).substr(at));
                }
                result.push_back({begin, at});
            }
        }
        pieces.spans = std::move(result);
        return Status(Done{});
    };
}

constexpr Maker<Splitter> kSplitters[] = {
    {"ByteLevel", &makeByteLevelSplitter},
    {"Metaspace", &makeMetaspaceSplitter},
    {"Split", &makePatternSplitter},
    {"Digits", &makeDigitsSplitter},
    {"Punctuation", &makePunctuationSplitter},
    {"Whitespace", [](const Part&) -> Splitter { return splitWords; }},
    {"WhitespaceSplit", &makeSpaceSplitter},
    {"BertPreTokenizer", &makeBertSplitter},
    {"CharDelimiterSplit", &makeDelimiterSplitter},
    {"FixedLength", &makeFixedLengthSplitter},
    {"Sequence", [](const Part& part) { return inSequence(mapped(part.parts("pretokenizers"), makeSplitter)); }}};

} // namespace

void Pieces::writeBytes()
{
    if (!bytes) {
        return;
    }
    rewriteSpans(*this, [&](std::string& written, Span span, bool) { written += bytesAsCharacters(span.of(text)); });
    bytes = false;
}

Splitter makeSplitter(const Part& part)
{
    return madeBy(kSplitters, part);
}

} // namespace residua::engine
