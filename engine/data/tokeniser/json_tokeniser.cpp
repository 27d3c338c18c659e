// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/json_tokeniser.h"

#include "engine/data/tokeniser/added_tokens.h"
#include "engine/data/tokeniser/base/characters.h"
#include "engine/data/tokeniser/models/token_model.h"
#include "engine/data/tokeniser/models/word_cache.h"
#include "engine/data/tokeniser/stages/splitter.h"
#include "engine/data/tokeniser/stages/stages.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace residua::engine {
namespace {

/// Word caches that threads borrow and return.
class CachePool {
public:
    std::unique_ptr<WordCache> take()
    {
        const std::scoped_lock lock(m_mutex);
        if (m_free.empty()) {
            return std::make_unique<WordCache>();
        }
        std::unique_ptr<WordCache> cache = std::move(m_free.back());
        m_free.pop_back();
        return cache;
    }
    void giveBack(std::unique_ptr<WordCache> cache)
    {
        const std::scoped_lock lock(m_mutex);
        m_free.push_back(std::move(cache));
    }

private:
    std::mutex m_mutex;
    std::vector<std::unique_ptr<WordCache>> m_free;
};

} // namespace

struct JsonTokeniser::Parts {
    Normaliser normaliser; ///< may be empty, as may the splitter and the decoder
    Splitter splitter;
    std::unique_ptr<TokenModel> model;
    Decoder decoder;
    AddedTokens added;
    DocumentMarks marks;
    mutable CachePool caches;

    void read(const Part& file);
    [[nodiscard]] Status encodePieces(Pieces pieces, WordCache& cache, std::vector<std::uint32_t>& ids) const;
    [[nodiscard]] Status encodeWord(std::string_view word, bool bytes, WordCache& cache,
                                    std::vector<std::uint32_t>& ids) const;
    [[nodiscard]] Status encode(std::string_view text, TextStart start, WordCache& cache,
                                std::vector<std::uint32_t>& ids) const;
};

void JsonTokeniser::Parts::read(const Part& file)
{
    if (!file.has("model")) {
        file.part("model").fail("is missing: the file has no vocabulary; expected a tokenizer.json of Hugging Face");
        return;
    }
    model = makeTokenModel(file.part("model"));
    if (file.has("normalizer")) {
        normaliser = makeNormaliser(file.part("normalizer"));
    }
    if (file.has("pre_tokenizer")) {
        splitter = makeSplitter(file.part("pre_tokenizer"));
    }
    if (file.has("decoder")) {
        decoder = makeDecoder(file.part("decoder"));
    }
    if (file.failed()) {
        return;
    }
    added.read(file, model->table(), normaliser);
    if (file.has("post_processor")) {
        const Part processor = file.part("post_processor");
        marks = readMarks(processor);
        for (const auto* const ids : {&marks.before, &marks.behind}) {
            for (const std::uint32_t id : *ids) {
                if (id >= std::max(model->table().size(), added.size())) {
                    processor.fail("adds the token " + std::to_string(id) + ", which is not in the vocabulary");
                }
            }
        }
    }
}

Status JsonTokeniser::Parts::encodeWord(std::string_view word, bool bytes, WordCache& cache,
                                        std::vector<std::uint32_t>& ids) const
{
    if (const auto known = cache.find(word)) {
        ids.insert(ids.end(), known->begin(), known->end());
        return Done{};
    }
    const std::size_t before = ids.size();
    RESIDUA_TRY(model->encode(bytes ? bytesAsCharacters(word) : word, ids));
    cache.keep(word, std::span(ids).subspan(before));
    return Done{};
}

Status JsonTokeniser::Parts::encodePieces(Pieces pieces, WordCache& cache, std::vector<std::uint32_t>& ids) const
{
    if (splitter) {
        RESIDUA_TRY(splitter(pieces));
    }
    std::vector<Span> parts;
    for (const Span span : pieces.spans) {
        parts.clear();
        if (pieces.bytes) {
            parts.push_back(span);
        } else {
            model->cut(pieces.text, span, parts);
        }
        for (const Span part : parts) {
            RESIDUA_TRY(encodeWord(part.of(pieces.text), pieces.bytes, cache, ids));
        }
    }
    return Done{};
}

Status JsonTokeniser::Parts::encode(std::string_view text, TextStart start, WordCache& cache,
                                    std::vector<std::uint32_t>& ids) const
{
    bool isFirst = true;
    const auto takeToken = [&](const AddedToken& token) {
        ids.push_back(token.id);
        isFirst = false;
    };
    const auto takeRaw = [&](Span raw) -> Status {
        std::string normal(raw.of(text));
        const TextStart here = raw.begin == 0 ? start : TextStart::Begins;
        if (normaliser) {
            RESIDUA_TRY(normaliser(normal, here));
        }
        const auto takeText = [&](Span part) {
            Pieces pieces{std::string(part.of(normal)),
                          {{0, part.size()}},
                          part.begin == 0 ? here : TextStart::Begins,
                          isFirst && part.begin == 0,
                          false};
            isFirst = false;
            return encodePieces(std::move(pieces), cache, ids);
        };
        return added.forEach(normal, AddedTokens::In::NormalisedText, takeText, takeToken);
    };
    return added.forEach(text, AddedTokens::In::RawText, takeRaw, takeToken);
}

JsonTokeniser::JsonTokeniser(std::unique_ptr<Parts> parts) : m_parts(std::move(parts)) {}
JsonTokeniser::~JsonTokeniser() = default;

Result<std::unique_ptr<JsonTokeniser>> JsonTokeniser::parse(std::string_view bytes, const std::string& place)
{
    const auto json = RESIDUA_TRY(parsedJson(bytes, place));
    std::optional<Error> fault;
    auto parts = std::make_unique<Parts>();
    parts->read(Part(json, place, fault));
    if (fault) {
        return *fault;
    }
    return std::unique_ptr<JsonTokeniser>(new JsonTokeniser(std::move(parts)));
}

std::int64_t JsonTokeniser::vocabulary() const
{
    return static_cast<std::int64_t>(std::max(m_parts->model->table().size(), m_parts->added.size()));
}

std::optional<std::uint32_t> JsonTokeniser::id(std::string_view token) const
{
    const AddedToken* const added = m_parts->added.find(token);
    return added != nullptr ? std::optional(added->id) : m_parts->model->table().id(token);
}

const DocumentMarks& JsonTokeniser::marks() const
{
    return m_parts->marks;
}

Status JsonTokeniser::encode(std::string_view text, TextStart start, std::vector<std::uint32_t>& ids) const
{
    std::unique_ptr<WordCache> cache = m_parts->caches.take();
    Status status = m_parts->encode(text, start, *cache, ids);
    m_parts->caches.giveBack(std::move(cache));
    return status;
}

std::string JsonTokeniser::token(std::int64_t id) const
{
    if (id < 0 || id >= vocabulary()) {
        return {};
    }
    const auto number = static_cast<std::uint32_t>(id);
    const AddedToken* const added = m_parts->added.find(number);
    const std::string* const token = m_parts->model->table().token(number);
    return added != nullptr ? added->content : token != nullptr ? *token : std::string();
}

std::string JsonTokeniser::decode(std::span<const std::int64_t> ids) const
{
    std::vector<std::string> tokens;
    for (const std::int64_t id : ids) {
        const bool fits = id >= 0 && id < vocabulary();
        const auto number = static_cast<std::uint32_t>(fits ? id : 0);
        const AddedToken* const added = fits ? m_parts->added.find(number) : nullptr;
        const std::string* const token = fits && added == nullptr ? m_parts->model->table().token(number) : nullptr;
        if (added == nullptr || !added->special) {
            tokens.push_back(added != nullptr ? added->decoded : token != nullptr ? *token : "\uFFFD");
        }
    }
    if (m_parts->decoder) {
        m_parts->decoder(tokens);
    }
    std::string text;
    for (const std::string& token : tokens) {
        text += text.empty() || m_parts->decoder ? "" : " ";
        text += token;
    }
    return repairedUtf8(text);
}

} // namespace residua::engine
