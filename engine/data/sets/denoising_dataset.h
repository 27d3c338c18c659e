// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/hiding_dataset.h"
#include "projects/model/data_source.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The tokens that denoising adds to those of a text.
struct DenoisingTokens {
    std::vector<std::int64_t> sentinels; ///< of the first span, the second, …
    std::array<std::int64_t, projects::kDenoiserModes> modes{};
    std::int64_t end = 0;
};
/// Returns the tokens: those of the tokeniser with the names <extra_id_0>, <extra_id_1>, … and [NLU], [NLG], [S2S] (R,
/// X and S), and its end mark. Tokens that it lacks are the last of the vocabulary's `rows`: sentinels from the last
/// one down, then the modes, then the end. Returns an error if the tokeniser uses those rows.
[[nodiscard]] Result<DenoisingTokens> denoisingTokens(const projects::Denoising& denoising, const TextCodec& codec,
                                                      std::int64_t rows);

/// The windows of another data set as texts with hidden spans (projects::Denoising). Field 0 has the mode token, the
/// text with a sentinel for each span, then each span after its sentinel, the end token, and padding. Field 1 has the
/// next token from the last token of the text on, and projects::kIgnoredTarget elsewhere.
class DenoisingDataset : public HidingDataset {
public:
    /// `windows` must have tokens with a target each.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>>
    create(std::unique_ptr<Dataset> windows, const projects::Denoising& denoising, std::int64_t dataSeed);

    /// Returns the text after the token of the sequential mode, which a continuation follows.
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(const std::string& text) const override;
    [[nodiscard]] std::string decode(const std::vector<std::int64_t>& tokens) const override;
    [[nodiscard]] const Dataset& withoutNoise() const override { return windows(); }

private:
    using HidingDataset::HidingDataset;
    [[nodiscard]] Status hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const override;
    /// Returns the row of a text.
    [[nodiscard]] std::vector<std::int64_t> denoised(std::span<const std::int64_t> text, std::int64_t time,
                                                     std::uint64_t key, std::size_t& prefix) const;

    projects::Denoising m_denoising;
    DenoisingTokens m_tokens;
};

} // namespace residua::engine
