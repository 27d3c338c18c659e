// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/text_codec.h"
#include "engine/data/token_sequence.h"

#include <array>

namespace residua::engine {

/// Tokens begin .. begin + size − 1 of a sequence.
struct TokenRange {
    std::int64_t begin = 0;
    std::int64_t size = 0;
};
using SplitRanges = std::array<TokenRange, kSplits>;

/// Training, then validation, then test at the end.
[[nodiscard]] SplitRanges splitTokens(std::int64_t size, double validationFraction, double testFraction);

/// An error at `place` for a split that holds tokens but not one whole window of `sequenceLength` tokens and the next;
/// the training split must hold one.
[[nodiscard]] Status checkSplits(const SplitRanges& ranges, std::int64_t sequenceLength, const std::string& place);

/// Windows of a token sequence.
class TokenDataset : public Dataset {
public:
    /// `vocabulary` rows for the codec's tokens. A split that holds tokens but not one whole window of
    /// `sequenceLength` tokens and the next is an error at `place`.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>>
    create(TokenSequence tokens, SplitRanges ranges, std::unique_ptr<TextCodec> codec, std::int64_t vocabulary,
           std::int64_t sequenceLength, const std::string& place, std::vector<std::string> notes = {});

    [[nodiscard]] ExampleSchema schema() const override;
    [[nodiscard]] std::int64_t size(Split split) const override;
    [[nodiscard]] std::vector<std::string> notes() const override { return m_notes; }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    void fillAll(Batch& batch, Split split) const override;
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(const std::string& text) const override;
    [[nodiscard]] std::string decode(const std::vector<std::int64_t>& tokens) const override;

private:
    TokenDataset() = default;
    [[nodiscard]] const TokenRange& range(Split split) const { return m_ranges[static_cast<std::size_t>(split)]; }
    /// Fills `count` rows; row i is the window that begins at beginOf(i).
    template <class BeginOf>
    [[nodiscard]] Status fillRows(Batch& batch, std::int64_t count, const BeginOf& beginOf) const;

    TokenSequence m_tokens;
    SplitRanges m_ranges;
    std::unique_ptr<TextCodec> m_codec;
    std::int64_t m_vocabulary = 0;
    std::int64_t m_time = 0;
    std::vector<std::string> m_notes;
};

} // namespace residua::engine
