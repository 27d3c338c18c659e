// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/codec/text_codec.h"
#include "engine/data/tokeniser/base/characters.h"
#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/json_tokeniser.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;
constexpr const char* kSettings = "tokenizer_config.json";

/// The end tokens of GPT-2, Llama 2, Llama 3, Gemma, BART and ChatML, for files that name none.
constexpr std::array kEnds{"<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "<|im_end|>"};

Result<nlohmann::json> readSettings(const fs::path& settings)
{
    const auto bytes = readFile(settings, kLargest);
    return bytes ? parsedJson(*bytes, settings.string()) : Result<nlohmann::json>(bytes.error());
}

/// Returns the settings' end token, which is a string or an object with its content. Empty if the settings do not name
/// it or do not exist.
Result<std::string> endBySettings(const fs::path& settings)
{
    if (!isThere(settings)) {
        return std::string();
    }
    const auto json = readSettings(settings);
    if (!json) { // without its settings, documents might be ended by another token
        return Error{json.error().place, json.error().message + "; a tokenizer.json may do without: mend or remove it"};
    }
    const auto end = json->find("eos_token");
    if (end == json->end()) {
        return std::string();
    }
    const auto content = end->is_object() ? end->find("content") : end;
    const bool isText = (!end->is_object() || content != end->end()) && content->is_string();
    return isText ? content->get<std::string>() : std::string();
}

/// Returns the token with the id: an added one, or one of the model's vocabulary, which is an object of ids or a list
/// of pairs.
std::string tokenOf(const nlohmann::json& file, std::uint32_t id)
{
    const auto has = [id](const nlohmann::json& number) { return number.is_number_unsigned() && number == id; };
    for (const auto& added : file.value("added_tokens", nlohmann::json::array())) {
        if (added.is_object() && added.contains("content") && has(added.value("id", nlohmann::json()))) {
            return added["content"].get<std::string>();
        }
    }
    const nlohmann::json vocabulary = file.value("/model/vocab"_json_pointer, nlohmann::json());
    if (vocabulary.is_array() && id < vocabulary.size()) {
        return vocabulary[id].at(0).get<std::string>();
    }
    if (vocabulary.is_object()) {
        for (const auto& [token, number] : vocabulary.items()) {
            if (has(number)) {
                return token;
            }
        }
    }
    return {};
}

/// Returns the settings of the class that reads any tokenizer.json, with the mask token if it has a name.
nlohmann::json settingsWith(const nlohmann::json& file, std::optional<std::int64_t> mask)
{
    nlohmann::json settings{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
    if (const std::string name = mask ? tokenOf(file, static_cast<std::uint32_t>(*mask)) : ""; !name.empty()) {
        settings["mask_token"] = name;
    }
    return settings;
}

class TokenizerJsonCodec : public TextCodec {
public:
    TokenizerJsonCodec(std::unique_ptr<JsonTokeniser> tokeniser, DocumentMarks marks)
        : m_tokeniser(std::move(tokeniser)), m_marks(std::move(marks))
    {
    }
    std::int64_t vocabulary() const override { return m_tokeniser->vocabulary(); }
    DocumentMarks marks() const override { return m_marks; }
    Status encode(std::string_view text, TextStart start, std::vector<std::uint32_t>& tokens) const override
    {
        return m_tokeniser->encode(text, start, tokens);
    }
    std::string decode(std::span<const std::int64_t> tokens) const override { return m_tokeniser->decode(tokens); }
    std::string piece(std::int64_t token) const override { return m_tokeniser->token(token); }

private:
    std::unique_ptr<JsonTokeniser> m_tokeniser;
    DocumentMarks m_marks;
};

} // namespace

fs::path tokeniserSettings(const fs::path& file)
{
    return file.parent_path() / kSettings;
}

std::vector<fs::path> tokeniserFiles(const projects::Tokeniser& tokeniser, const fs::path& projectDirectory)
{
    if (!projects::hasModel(tokeniser.kind)) {
        return {};
    }
    std::vector<fs::path> files{tokeniser.model};
    const fs::path settings = tokeniserSettings(tokeniser.model);
    if (tokeniser.kind == projects::TokeniserKind::TokenizerJson && isThere(projectDirectory / settings)) {
        files.push_back(settings);
    }
    return files;
}

Result<std::string> settingsOf(const fs::path& tokenizerJson, std::optional<std::int64_t> mask)
{
    const auto bytes = readFile(tokenizerJson, kLargest);
    const auto codec = tokenizerJsonCodec(tokenizerJson);
    if (!bytes || !codec) {
        return bytes ? codec.error() : bytes.error();
    }
    const nlohmann::json file = nlohmann::json::parse(*bytes); // the codec has parsed it, so it is valid
    nlohmann::json settings = settingsWith(file, mask);
    const DocumentMarks marks = (*codec)->marks();
    for (const auto& [key, tokens] : {std::pair("bos_token", &marks.before), std::pair("eos_token", &marks.behind)}) {
        if (tokens->size() == 1) {
            settings[key] = tokenOf(file, tokens->front());
        }
    }
    return settings.dump(2) + "\n";
}

bool namesTokeniserClass(const fs::path& settings)
{
    const auto json = readSettings(settings);
    return json && json->contains("tokenizer_class") && json->at("tokenizer_class").is_string();
}

TokeniserTexts byteTokeniserTexts(std::optional<std::int64_t> mask)
{
    nlohmann::json vocabulary = nlohmann::json::object();
    nlohmann::json added = nlohmann::json::array();
    for (unsigned byte = 0; byte < 256; ++byte) {
        const auto character = static_cast<char>(byte);
        const bool isFree = mask == byte && byteCodec()->unusedToken() == mask;
        const std::string token = isFree ? "[MASK]" : bytesAsCharacters({&character, 1});
        vocabulary[token] = byte;
        if (mask == byte && (isFree || (token.size() == 1 && token[0] == character))) {
            added.push_back({{"id", byte},
                             {"content", token},
                             {"single_word", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"normalized", false},
                             {"special", true}});
        }
    }
    const nlohmann::json bytes{
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
    nlohmann::json model{{"type", "BPE"}, {"fuse_unk", false}, {"byte_fallback", false}, {"ignore_merges", false}};
    for (const char* const none : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"}) {
        model[none] = nullptr;
    }
    model["vocab"] = std::move(vocabulary);
    model["merges"] = nlohmann::json::array();
    nlohmann::json file{{"version", "1.0"}, {"pre_tokenizer", bytes}, {"decoder", bytes}};
    for (const char* const none : {"truncation", "padding", "normalizer", "post_processor"}) {
        file[none] = nullptr;
    }
    file["added_tokens"] = std::move(added);
    file["model"] = std::move(model);
    const bool isNamed = !file["added_tokens"].empty();
    return {file.dump(2) + "\n", settingsWith(file, isNamed ? mask : std::nullopt).dump(2) + "\n"};
}

Result<std::unique_ptr<TextCodec>> tokenizerJsonCodec(const fs::path& file)
{
    const auto bytes = RESIDUA_TRY(readFile(file, kLargest));
    auto tokeniser = RESIDUA_TRY(JsonTokeniser::parse(bytes, file.string()));
    const auto named = RESIDUA_TRY(endBySettings(tokeniserSettings(file)));
    DocumentMarks marks = tokeniser->marks();
    if (const auto end = tokeniser->id(named); end && marks.behind.empty()) {
        marks.behind = {*end};
    }
    for (std::size_t i = 0; i < kEnds.size() && marks.behind.empty(); ++i) {
        if (const auto end = tokeniser->id(kEnds[i])) {
            marks.behind = {*end};
        }
    }
    return std::unique_ptr<TextCodec>(std::make_unique<TokenizerJsonCodec>(std::move(tokeniser), std::move(marks)));
}

} // namespace residua::engine
