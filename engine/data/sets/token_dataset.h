// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/data/sets/row_plan.h"
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

/// Returns the split of documents that end at `ends`, by their number.
[[nodiscard]] SplitRanges splitDocuments(std::span<const std::int64_t> ends, double validationFraction,
                                         double testFraction);

/// A token sequence with its splits: the only one, or one of several.
struct TokenPart {
    TokenSequence tokens;
    SplitRanges ranges;
    std::string place; ///< for errors
    std::string name = {};
    double share = 1.0;                     ///< of the examples
    std::array<RowPlan, kSplits> rows = {}; ///< if rows are made of documents
};
/// The tokens of documents, and the position after the last token of each. Without rows of documents there are no ends.
struct DocumentTokens {
    TokenSequence tokens;
    std::vector<std::int64_t> ends = {};
};
/// Returns the part with its splits and rows as the project cuts them.
[[nodiscard]] TokenPart partOf(DocumentTokens documents, const projects::Project& project, std::string place);
/// Plans the rows of documents of the part's ranges. Does nothing for a stream.
void planRows(TokenPart& part, std::span<const std::int64_t> ends, const projects::Project& project);
/// Returns sentences for the user on rows of documents; empty for a stream.
[[nodiscard]] std::vector<std::string> rowNotes(const std::vector<TokenPart>& parts, const projects::Project& project);

/// Returns the number of adjacent windows in `tokens` tokens, each with a token after it.
[[nodiscard]] std::int64_t windowsIn(std::int64_t tokens, std::int64_t sequenceLength);
/// Returns the outline of each part in a data set of all parts.
[[nodiscard]] std::vector<DataPartOutline> outlinesOf(const std::vector<TokenPart>& parts, projects::DocumentRows rows,
                                                      std::int64_t sequenceLength);

/// Windows of one token sequence, or of several with a share of the examples each. For a training example, the sequence
/// and the window are drawn independently. Field 0 has the tokens, field 1 the token after each. Held-out windows of
/// several sequences come in a MixtureOrder.
///
/// Rows of documents replace windows. If there is one sequence, each epoch has every row once. Padding is token 0
/// with the target kIgnoredTarget. Field 2 has the number of tokens before the padding, and of packed documents field 3
/// the number of each token in its document. If the objective hides tokens, targets are the tokens themselves.
class TokenDataset : public Dataset {
public:
    /// `vocabulary` is the number of rows for the codec's tokens. Each split that holds tokens must hold one window of
    /// `sequenceLength` tokens and the token after it; the error names the part's place. If one of several parts has a
    /// split, all must have it. `parts` must not be empty; their shares sum to 1.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>>
    create(std::vector<TokenPart> parts, std::unique_ptr<TextCodec> codec, std::int64_t vocabulary,
           const projects::Project& project, std::vector<std::string> notes = {});
    /// Creates a data set of a single sequence.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> create(TokenPart part, std::unique_ptr<TextCodec> codec,
                                                                 std::int64_t vocabulary,
                                                                 const projects::Project& project,
                                                                 std::vector<std::string> notes = {});

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
    /// A window: a part, and the position of its first token there. A row of documents: its split and its number.
    struct Window {
        const TokenPart* part = nullptr;
        std::int64_t begin = 0;
        Split split = Split::Train;
    };

    TokenDataset() = default;
    /// Draws the part of an example.
    [[nodiscard]] const TokenPart& drawnPart(Split split, std::int64_t seed, std::uint64_t draw) const;
    /// Fills `count` rows; row i is the window windowOf(i).
    template <class WindowOf>
    [[nodiscard]] Status fillRows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const;
    template <class WindowOf>
    [[nodiscard]] Status fillWindows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const;
    /// Fills a row of a batch whose fields have the values of padding.
    [[nodiscard]] Status fillDocuments(Batch& batch, std::int64_t row, const Window& from) const;

    std::vector<TokenPart> m_parts;
    std::vector<double> m_bounds; ///< the upper ends of the cumulative shares
    std::array<MixtureOrder, kSplits> m_orders;
    std::unique_ptr<TextCodec> m_codec;
    std::int64_t m_vocabulary = 0;
    std::int64_t m_time = 0;
    projects::DocumentRows m_rows = projects::DocumentRows::Stream;
    bool m_inPlace = false; ///< targets are the tokens themselves
    std::vector<std::string> m_notes;
};

} // namespace residua::engine
