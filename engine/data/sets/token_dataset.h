// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/data/tokens/token_sequence.h"

#include <array>

namespace residua::engine {

/// Tokens begin .. begin + size − 1 of a sequence.
struct TokenRange {
    std::int64_t begin = 0;
    std::int64_t size = 0;
};
using SplitRanges = std::array<TokenRange, kSplits>;

/// Splits a sequence: training first, then validation, test at the end.
[[nodiscard]] SplitRanges splitTokens(std::int64_t size, double validationFraction, double testFraction);

/// Returns an error at `place` for a split that holds tokens, but fewer than one window of `sequenceLength` tokens and
/// the token after it. The training split must hold one.
[[nodiscard]] Status checkSplits(const SplitRanges& ranges, std::int64_t sequenceLength, const std::string& place);

/// A token sequence with its splits: the only one, or one of several.
struct TokenPart {
    TokenSequence tokens;
    SplitRanges ranges;
    std::string place; ///< for errors
    std::string name = {};
    double share = 1.0; ///< of the examples
};

/// Returns the number of adjacent windows in `tokens` tokens, each with a token after it.
[[nodiscard]] std::int64_t windowsIn(std::int64_t tokens, std::int64_t sequenceLength);
/// Returns the outline of each part in a data set of all parts.
[[nodiscard]] std::vector<DataPartOutline> outlinesOf(const std::vector<TokenPart>& parts, std::int64_t sequenceLength);

/// Windows of one token sequence, or of several with a share of the examples each. For a training example, the sequence
/// and the window are drawn independently. Field 0 has the tokens, field 1 the token after each. Held-out windows of
/// several sequences come in a MixtureOrder.
class TokenDataset : public Dataset {
public:
    /// `vocabulary` is the number of rows for the codec's tokens. Each split that holds tokens must hold one window of
    /// `sequenceLength` tokens and the token after it; the error names the part's place. If one of several parts has a
    /// split, all must have it. `parts` must not be empty; their shares sum to 1.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> create(std::vector<TokenPart> parts,
                                                                 std::unique_ptr<TextCodec> codec,
                                                                 std::int64_t vocabulary, std::int64_t sequenceLength,
                                                                 std::vector<std::string> notes = {});
    /// Creates a data set of a single sequence.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>>
    create(TokenSequence tokens, SplitRanges ranges, std::unique_ptr<TextCodec> codec, std::int64_t vocabulary,
           std::int64_t sequenceLength, const std::string& place, std::vector<std::string> notes = {});

    [[nodiscard]] projects::ExampleSchema schema() const override;
    [[nodiscard]] std::int64_t size(Split split) const override;
    [[nodiscard]] std::vector<std::string> notes() const override { return m_notes; }
    [[nodiscard]] std::vector<DataPartOutline> parts() const override;
    [[nodiscard]] const TextCodec* codec() const override { return m_codec.get(); }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(const std::string& text) const override;
    [[nodiscard]] std::string decode(const std::vector<std::int64_t>& tokens) const override;

private:
    /// A window: a part, and the position of its first token there.
    struct Window {
        const TokenPart* part = nullptr;
        std::int64_t begin = 0;
    };

    TokenDataset() = default;
    /// Draws the part of an example.
    [[nodiscard]] const TokenPart& drawnPart(Split split, std::int64_t seed, std::uint64_t draw) const;
    /// Fills `count` rows; row i is the window windowOf(i).
    template <class WindowOf>
    [[nodiscard]] Status fillRows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const;

    std::vector<TokenPart> m_parts;
    std::vector<double> m_bounds; ///< the upper ends of the cumulative shares
    std::array<MixtureOrder, kSplits> m_orders;
    std::unique_ptr<TextCodec> m_codec;
    std::int64_t m_vocabulary = 0;
    std::int64_t m_time = 0;
    std::vector<std::string> m_notes;
};

} // namespace residua::engine
