// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text_codec.h"
#include "engine/tokeniser/json_tokeniser.h"
#include "projects/base/whole_file.h"

#include <nlohmann/json.hpp>

#include <array>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;
constexpr const char* kSettings = "tokenizer_config.json";

/// What ends a document in the files of GPT-2, Llama 2, Llama 3, Gemma, BART and ChatML, where nothing else is said.
constexpr std::array kEnds{"<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "<|im_end|>"};

/// The token that the settings say ends a text: a string, or an object with its content. Empty where they do not say,
/// or cannot be read.
std::string endBySettings(const fs::path& settings)
{
    std::error_code ignored;
    const auto bytes =
        fs::exists(settings, ignored) ? readFile(settings, kLargest) : Result<std::string>(std::string());
    const auto json = nlohmann::json::parse(bytes ? *bytes : std::string(), nullptr, false);
    const auto end = json.is_object() ? json.find("eos_token") : json.end();
    if (!json.is_object() || end == json.end()) {
        return {};
    }
    const auto content = end->is_object() ? end->find("content") : end;
    const bool isText = (!end->is_object() || content != end->end()) && content->is_string();
    return isText ? content->get<std::string>() : std::string();
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
    std::error_code ignored;
    if (tokeniser.kind == projects::TokeniserKind::TokenizerJson && fs::exists(projectDirectory / settings, ignored)) {
        files.push_back(settings);
    }
    return files;
}

Result<std::unique_ptr<TextCodec>> tokenizerJsonCodec(const fs::path& file)
{
    const auto bytes = readFile(file, kLargest);
    if (!bytes) {
        return bytes.error();
    }
    auto tokeniser = JsonTokeniser::parse(*bytes, file.string());
    if (!tokeniser) {
        return tokeniser.error();
    }
    DocumentMarks marks = (*tokeniser)->marks();
    if (const auto end = (*tokeniser)->id(endBySettings(tokeniserSettings(file))); end && marks.behind.empty()) {
        marks.behind = {*end};
    }
    for (std::size_t i = 0; i < kEnds.size() && marks.behind.empty(); ++i) {
        if (const auto end = (*tokeniser)->id(kEnds[i])) {
            marks.behind = {*end};
        }
    }
    return std::unique_ptr<TextCodec>(std::make_unique<TokenizerJsonCodec>(*std::move(tokeniser), std::move(marks)));
}

} // namespace residua::engine
