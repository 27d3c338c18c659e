// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/splitter.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/mapped.h"
#include "projects/base/utf8.h"

#include <functional>
#include <utility>

namespace residua::engine {
namespace {

using SplitterPtr = std::unique_ptr<Splitter>;

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

class Split : public Splitter {
public:
    Split(Pattern pattern, Delimiters delimiters, bool inverted)
        : m_pattern(std::move(pattern)), m_delimiters(delimiters), m_inverted(inverted)
    {
    }
    Status apply(Pieces& pieces) const override { return splitByPattern(pieces, m_pattern, m_delimiters, m_inverted); }

private:
    Pattern m_pattern;
    Delimiters m_delimiters;
    bool m_inverted;
};

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

SplitterPtr makePatternSplitter(const Part& part)
{
    return std::make_unique<Split>(part.pattern("pattern"), delimitersAt(part, "behavior", ""),
                                   part.flag("invert", false));
}

/// Splits at the characters for which `delimits` is true.
class CharacterSplit : public Splitter {
public:
    CharacterSplit(std::function<bool(char32_t)> delimits, Delimiters delimiters)
        : m_delimits(std::move(delimits)), m_delimiters(delimiters)
    {
    }
    Status apply(Pieces& pieces) const override
    {
        std::vector<Span> result;
        std::vector<Span> found;
        std::vector<Stretch> stretches;
        for (const Span span : pieces.spans) {
            found.clear();
            stretches.clear();
            for (std::size_t at = span.begin; at < span.end;) {
                const std::size_t begin = at;
                if (m_delimits(nextCodePoint(pieces.text, at))) {
                    found.push_back({begin, at});
                }
            }
            appendStretches(span, found.data(), found.data() + found.size(), false, stretches);
            appendPieces(stretches, m_delimiters, result);
        }
        pieces.spans = std::move(result);
        return Done{};
    }

private:
    std::function<bool(char32_t)> m_delimits;
    Delimiters m_delimiters;
};

SplitterPtr makeDigitsSplitter(const Part& part)
{
    const bool single = part.flag("individual_digits", false);
    return std::make_unique<CharacterSplit>(&isNumeric, single ? Delimiters::Isolated : Delimiters::Contiguous);
}

SplitterPtr makePunctuationSplitter(const Part& part)
{
    return std::make_unique<CharacterSplit>(&isPunctuation, delimitersAt(part, "behavior", "Isolated"));
}

SplitterPtr makeSpaceSplitter(const Part&)
{
    return std::make_unique<CharacterSplit>(&isWhiteSpace, Delimiters::Removed);
}

SplitterPtr makeDelimiterSplitter(const Part& part)
{
    const std::string text = part.character("delimiter", "");
    std::size_t at = 0;
    const char32_t delimiter = text.empty() ? U' ' : nextCodePoint(text, at);
    return std::make_unique<CharacterSplit>([=](char32_t character) { return character == delimiter; },
                                            Delimiters::Removed);
}

/// Splits into runs of word characters and runs of other characters, except for white space.
class WordSplit : public Splitter {
public:
    Status apply(Pieces& pieces) const override
    {
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

private:
    enum class Kind { Space, Word, Other };
    static Kind kindOf(char32_t character)
    {
        constexpr char32_t kNonJoiner = 0x200c;
        constexpr char32_t kJoiner = 0x200d;
        if (isWordCharacter(character) || character == kNonJoiner || character == kJoiner) {
            return Kind::Word;
        }
        return isWhiteSpace(character) ? Kind::Space : Kind::Other;
    }
};

SplitterPtr makeWordSplitter(const Part&)
{
    return std::make_unique<WordSplit>();
}

class SplitterSequence : public Splitter {
public:
    explicit SplitterSequence(std::vector<SplitterPtr> parts) : m_parts(std::move(parts)) {}
    Status apply(Pieces& pieces) const override
    {
        for (const SplitterPtr& part : m_parts) {
            pieces.writeBytes();
            RESIDUA_TRY(part->apply(pieces));
        }
        return Done{};
    }

private:
    std::vector<SplitterPtr> m_parts;
};

SplitterPtr makeSplitterSequence(const Part& part)
{
    auto parts = mapped(part.parts("pretokenizers"), [](const Part& each) { return makeSplitter(each); });
    return std::make_unique<SplitterSequence>(std::move(parts));
}

SplitterPtr makeBertSplitter(const Part&)
{
    std::vector<SplitterPtr> parts;
    parts.push_back(std::make_unique<CharacterSplit>(&isWhiteSpace, Delimiters::Removed));
    parts.push_back(std::make_unique<CharacterSplit>(&isPunctuation, Delimiters::Isolated));
    return std::make_unique<SplitterSequence>(std::move(parts));
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

class ByteLevelSplitter : public Splitter {
public:
    ByteLevelSplitter(std::optional<Pattern> pattern, bool spaceBefore)
        : m_pattern(std::move(pattern)), m_spaceBefore(spaceBefore)
    {
    }
    Status apply(Pieces& pieces) const override
    {
        if (m_spaceBefore) {
            rewriteSpans(pieces, [&](std::string& text, Span span, bool open) {
                const std::string_view piece = span.of(pieces.text);
                text += open && !piece.starts_with(' ') ? " " : "";
                text += piece;
            });
        }
        Status status = Done{};
        if (m_pattern) {
            status = splitByPattern(pieces, *m_pattern, Delimiters::Isolated, false);
        }
        pieces.bytes = true;
        return status;
    }

private:
    std::optional<Pattern> m_pattern;
    bool m_spaceBefore;
};

SplitterPtr makeByteLevelSplitter(const Part& part)
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
    return std::make_unique<ByteLevelSplitter>(std::move(pattern), part.flag("add_prefix_space", true));
}

/// Replaces spaces by a visible character, with which each piece begins.
class MetaspaceSplitter : public Splitter {
public:
    MetaspaceSplitter(Metaspace metaspace, bool splits)
        : m_mark(std::move(metaspace.mark)),
          m_pattern(Pattern::literal(m_mark)),
          m_before(metaspace.before),
          m_splits(splits)
    {
    }
    Status apply(Pieces& pieces) const override
    {
        rewriteSpans(pieces, [&](std::string& text, Span span, bool open) {
            const std::string_view piece = span.of(pieces.text);
            const bool first = pieces.isFirst && span.begin == 0;
            const bool wanted =
                m_before == Metaspace::Before::Always || (m_before == Metaspace::Before::First && first);
            text += wanted && open && !piece.starts_with(' ') && !piece.starts_with(m_mark) ? m_mark : "";
            for (const char byte : piece) {
                if (byte == ' ') {
                    text += m_mark;
                } else {
                    text += byte;
                }
            }
        });
        return m_splits ? splitByPattern(pieces, m_pattern, Delimiters::MergedWithNext, false) : Status(Done{});
    }

private:
    std::string m_mark;
    Pattern m_pattern;
    Metaspace::Before m_before;
    bool m_splits;
};

SplitterPtr makeMetaspaceSplitter(const Part& part)
{
    return std::make_unique<MetaspaceSplitter>(readMetaspace(part), part.flag("split", true));
}

class FixedLength : public Splitter {
public:
    explicit FixedLength(std::int64_t length) : m_length(length) {}
    Status apply(Pieces& pieces) const override
    {
        std::vector<Span> result;
        for (const Span span : pieces.spans) {
            for (std::size_t at = span.begin; at < span.end;) {
                const std::size_t begin = at;
                for (std::int64_t i = 0; i < m_length && at < span.end; ++i) {
                    at += utf8Length(std::string_view(pieces.text).substr(at));
                }
                result.push_back({begin, at});
            }
        }
        pieces.spans = std::move(result);
        return Done{};
    }

private:
    std::int64_t m_length;
};

SplitterPtr makeFixedLengthSplitter(const Part& part)
{
    const std::int64_t length = part.number("length", 5);
    if (length < 1) {
        part.part("length").fail("is " + std::to_string(length) + ", expected at least 1");
    }
    return std::make_unique<FixedLength>(length);
}

constexpr Maker<SplitterPtr> kSplitters[] = {{"ByteLevel", &makeByteLevelSplitter},
                                             {"Metaspace", &makeMetaspaceSplitter},
                                             {"Split", &makePatternSplitter},
                                             {"Digits", &makeDigitsSplitter},
                                             {"Punctuation", &makePunctuationSplitter},
                                             {"Whitespace", &makeWordSplitter},
                                             {"WhitespaceSplit", &makeSpaceSplitter},
                                             {"BertPreTokenizer", &makeBertSplitter},
                                             {"CharDelimiterSplit", &makeDelimiterSplitter},
                                             {"FixedLength", &makeFixedLengthSplitter},
                                             {"Sequence", &makeSplitterSequence}};

} // namespace

void Pieces::writeBytes()
{
    if (!bytes) {
        return;
    }
    rewriteSpans(*this, [&](std::string& written, Span span, bool) { written += bytesAsCharacters(span.of(text)); });
    bytes = false;
}

std::unique_ptr<Splitter> makeSplitter(const Part& part)
{
    return madeBy(kSplitters, part);
}

} // namespace residua::engine
