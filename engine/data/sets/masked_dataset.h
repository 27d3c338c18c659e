// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/hiding_dataset.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// Returns the mask token: that of the masking, else the first token of the codec that is named "[MASK]" or "<mask>",
/// else one that no text has: the codec's own, or the last of the vocabulary's `rows` if the codec does not use it.
/// Returns -1 if every token may occur in a text.
[[nodiscard]] std::int64_t maskTokenOf(const projects::Masking& masking, const TextCodec& codec, std::int64_t rows);

/// The windows of another data set with some tokens hidden (projects::Masking). Field 0 has the tokens that the network
/// reads, field 1 the hidden tokens, and projects::kIgnoredTarget elsewhere. The marks of the tokeniser and the mask
/// token itself are never chosen. With Masking::nextSentence, an example is two texts between these marks (BERT).
class MaskedDataset : public HidingDataset {
public:
    /// `windows` must have tokens with a target each. Returns an error at `place` if there is no mask token.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>>
    create(std::unique_ptr<Dataset> windows, const projects::Masking& masking, std::int64_t dataSeed);

    [[nodiscard]] projects::ExampleSchema schema() const override;
    /// Returns the text between the marks of a document. Each "[MASK]" or "<mask>" becomes the mask token, whatever the
    /// tokeniser. One that knows the token in a text takes the white space around it as the token says.
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(const std::string& text) const override;
    [[nodiscard]] std::optional<std::int64_t> maskToken() const override { return m_mask; }
    [[nodiscard]] std::string decode(const std::vector<std::int64_t>& tokens) const override
    {
        return windows().decode(tokens);
    }

private:
    using HidingDataset::HidingDataset;
    /// Makes two texts of each example, with the fields of ExampleSchema::addNextSentence. The example is cut anywhere;
    /// in half of them the second text is the beginning of another example instead. Row i is number `first` + i.
    [[nodiscard]] Status pair(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const;
    [[nodiscard]] Status hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const override;

    projects::Masking m_masking;
    std::int64_t m_vocabulary = 0; ///< of the tokeniser: random tokens are below it
    std::int64_t m_mask = 0;
    std::vector<bool> m_kept;      ///< by token: never hidden
    std::vector<bool> m_continues; ///< by token: belongs to the word of the token before it; empty: no token does
};

} // namespace residua::engine
