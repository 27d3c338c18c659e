// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text_codec.h"

#include <sentencepiece_processor.h>

namespace residua::engine {
namespace {

class SentencePieceCodec : public TextCodec {
public:
    Status load(const std::filesystem::path& model)
    {
        const auto status = m_processor.Load(model.string());
        if (!status.ok()) {
            return Error{model.string(), "is not a readable SentencePiece model: " + std::string(status.message())};
        }
        return Done{};
    }

    std::int64_t vocabulary() const override { return m_processor.GetPieceSize(); }
    std::int64_t endOfText() const override { return m_processor.eos_id(); }

    Status encode(std::string_view text, std::vector<std::uint32_t>& tokens) const override
    {
        std::vector<int> ids;
        const auto status = m_processor.Encode({text.data(), text.size()}, &ids);
        if (!status.ok()) {
            return Error{"SentencePiece", std::string(status.message())};
        }
        tokens.insert(tokens.end(), ids.begin(), ids.end());
        return Done{};
    }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        std::vector<int> ids;
        for (const std::int64_t token : tokens) {
            // Rows of the embedding table beyond the model's pieces have no text.
            ids.push_back(token >= 0 && token < vocabulary() ? static_cast<int>(token) : m_processor.unk_id());
        }
        std::string text;
        const auto status = m_processor.Decode(ids, &text);
        return status.ok() ? text : std::string(status.message());
    }

private:
    sentencepiece::SentencePieceProcessor m_processor;
};

} // namespace

Result<std::unique_ptr<TextCodec>> sentencePieceCodec(const std::filesystem::path& model)
{
    auto codec = std::make_unique<SentencePieceCodec>();
    if (auto status = codec->load(model); !status) {
        return status.error();
    }
    return std::unique_ptr<TextCodec>(std::move(codec));
}

} // namespace residua::engine
