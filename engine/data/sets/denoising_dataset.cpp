// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/denoising_dataset.h"

#include "projects/base/random.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using projects::Denoiser;
using projects::DenoiserMode;

/// The names of the modes' tokens in released tokenisers, by DenoiserMode.
constexpr std::array<std::string_view, projects::kDenoiserModes> kModeNames{"[NLU]", "[NLG]", "[S2S]"};

/// Draws a kind by its weight, and one of its settings.
Denoiser drawnDenoiser(const projects::Denoising& denoising, RandomStream& random)
{
    const std::array<double, projects::kDenoiserModes> weights{denoising.regular, denoising.extreme,
                                                               denoising.sequential};
    double left = random.uniform() * (weights[0] + weights[1] + weights[2]);
    std::size_t mode = 0;
    while (mode + 1 < weights.size() && (weights[mode] <= 0 || left >= weights[mode])) {
        left -= weights[mode];
        ++mode;
    }
    std::vector<Denoiser> settings;
    std::ranges::copy_if(projects::kDenoisers, std::back_inserter(settings),
                         [&](const Denoiser& denoiser) { return denoiser.mode == static_cast<DenoiserMode>(mode); });
    return settings[static_cast<std::size_t>(random.below(std::ssize(settings)))];
}

/// Returns `parts` positive numbers with the sum `count`; all such lists are equally likely.
std::vector<std::int64_t> drawnParts(std::int64_t count, std::int64_t parts, RandomStream& random)
{
    std::vector<std::int64_t> sizes{1};
    std::int64_t cuts = parts - 1;
    for (std::int64_t left = count - 1; left > 0; --left) {
        if (random.below(left) < cuts) {
            sizes.push_back(0);
            --cuts;
        }
        ++sizes.back();
    }
    return sizes;
}

} // namespace

Result<DenoisingTokens> denoisingTokens(const projects::Denoising& denoising, const TextCodec& codec, std::int64_t rows)
{
    DenoisingTokens tokens;
    std::vector<std::int64_t> sentinels(static_cast<std::size_t>(denoising.sentinels), -1);
    std::array<std::int64_t, projects::kDenoiserModes> modes{-1, -1, -1};
    for (std::int64_t token = 0; token < codec.vocabulary(); ++token) {
        const std::string piece = codec.piece(token);
        if (const auto mode = std::ranges::find(kModeNames, piece); mode != kModeNames.end()) {
            modes[static_cast<std::size_t>(mode - kModeNames.begin())] = token;
        }
        constexpr std::string_view kExtra = "<extra_id_";
        if (piece.starts_with(kExtra) && piece.ends_with('>')) {
            const std::string digits = piece.substr(kExtra.size(), piece.size() - kExtra.size() - 1);
            const bool plain = !digits.empty() && digits.size() < 7 &&
                               std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
            const std::size_t number = plain ? std::stoul(digits) : sentinels.size();
            if (number < sentinels.size()) {
                sentinels[number] = token;
            }
        }
    }
    std::int64_t end = codec.marks().behind.empty() ? -1 : static_cast<std::int64_t>(codec.marks().behind.back());
    std::int64_t free = rows;
    if (std::ranges::find(sentinels, -1) != sentinels.end()) {
        std::ranges::generate(sentinels, [&] { return --free; });
    }
    for (std::int64_t& mode : modes) {
        mode = mode < 0 ? --free : mode;
    }
    end = end < 0 ? --free : end;
    if (free < codec.vocabulary()) {
        const std::int64_t needed = codec.vocabulary() + rows - free;
        return Error{"data · denoising · sentinels",
                     "the vocabulary has " + std::to_string(rows) + " tokens, of which the text may use " +
                         std::to_string(codec.vocabulary()) + "; expected " + std::to_string(rows - free) +
                         " more for sentinels, modes and the end: a vocabulary of " + std::to_string(needed) +
                         ", or fewer sentinels"};
    }
    return DenoisingTokens{std::move(sentinels), modes, end};
}

Result<std::unique_ptr<Dataset>> DenoisingDataset::create(std::unique_ptr<Dataset> windows,
                                                          const projects::Denoising& denoising, std::int64_t dataSeed)
{
    auto tokens = RESIDUA_TRY(denoisingTokens(denoising, *windows->codec(), windows->schema().input().vocabulary));
    std::unique_ptr<DenoisingDataset> dataset(new DenoisingDataset(std::move(windows), dataSeed));
    dataset->m_tokens = std::move(tokens);
    dataset->m_denoising = denoising;
    return std::unique_ptr<Dataset>(std::move(dataset));
}

std::vector<std::int64_t> DenoisingDataset::denoised(std::span<const std::int64_t> text, std::int64_t time,
                                                     std::uint64_t key, std::size_t& prefix) const
{
    RandomStream random(key, 0);
    const Denoiser denoiser = drawnDenoiser(m_denoising, random);
    const projects::SpanSizes sizes = projects::longestSpans(denoiser, time, std::ssize(text));
    std::vector<std::int64_t> row{m_tokens.modes[static_cast<std::size_t>(denoiser.mode)]};
    std::vector<std::int64_t> spans;
    if (denoiser.mode == DenoiserMode::Sequential) {
        const std::int64_t most = std::min(2 * sizes.noise - 1, sizes.raw - 1);
        const auto begin = static_cast<std::size_t>(sizes.raw - 1 - random.below(most));
        row.insert(row.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin));
        spans.assign(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + sizes.raw);
    } else {
        const std::vector<std::int64_t> noise = drawnParts(sizes.noise, sizes.spans, random);
        const std::vector<std::int64_t> kept = drawnParts(sizes.raw - sizes.noise, sizes.spans, random);
        auto at = text.begin();
        for (std::size_t i = 0; i < noise.size(); ++i) {
            row.insert(row.end(), at, at + kept[i]);
            row.push_back(m_tokens.sentinels[i]);
            at += kept[i];
            spans.push_back(m_tokens.sentinels[i]);
            spans.insert(spans.end(), at, at + noise[i]);
            at += noise[i];
        }
    }
    prefix = row.size();
    row.insert(row.end(), spans.begin(), spans.end());
    row.push_back(m_tokens.end);
    return row;
}

Status DenoisingDataset::hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const
{
    const auto time = static_cast<std::size_t>(batch.time);
    const bool padded = windows().schema().hasLayout();
    const std::uint64_t stream = streamOf(Stream::Denoising, static_cast<std::uint64_t>(split));
    for (std::int64_t row = 0; row < batch.batch; ++row) {
        const auto at = static_cast<std::size_t>(row);
        const auto tokens = std::span(batch.values<std::int64_t>(0)).subspan(at * time, time);
        const auto targets = std::span(batch.values<std::int64_t>(1)).subspan(at * time, time);
        std::int64_t* const length = padded ? &batch.values<std::int64_t>(2)[at] : nullptr;
        std::vector<std::int64_t> text(tokens.begin(), tokens.end());
        text.resize(length != nullptr ? static_cast<std::size_t>(*length) : time);
        text.resize(std::max<std::size_t>(text.size(), 2)); // the shortest text with a span
        std::size_t prefix = 0;
        const std::vector<std::int64_t> made = denoised(
            text, batch.time,
            drawBits(static_cast<std::uint64_t>(seed), stream, static_cast<std::uint64_t>(first + row)), prefix);
        std::ranges::fill(std::ranges::copy(made, tokens.begin()).out, tokens.end(), 0);
        std::ranges::fill(targets, projects::kIgnoredTarget);
        std::copy(made.begin() + static_cast<std::ptrdiff_t>(prefix), made.end(),
                  targets.begin() + static_cast<std::ptrdiff_t>(prefix) - 1);
        if (length != nullptr) {
            *length = std::ssize(made);
        }
    }
    return Done{};
}

Result<std::vector<std::int64_t>> DenoisingDataset::encode(const std::string& text) const
{
    auto tokens = windows().encode(text);
    if (tokens) {
        tokens->insert(tokens->begin(), m_tokens.modes[static_cast<std::size_t>(DenoiserMode::Sequential)]);
    }
    return tokens;
}

std::string DenoisingDataset::decode(const std::vector<std::int64_t>& tokens) const
{
    std::string text;
    std::vector<std::int64_t> between;
    const auto add = [&](const std::string& name) { text += windows().decode(std::exchange(between, {})) + name; };
    for (const std::int64_t token : tokens) {
        const auto sentinel = std::ranges::find(m_tokens.sentinels, token);
        const auto mode = std::ranges::find(m_tokens.modes, token);
        if (sentinel != m_tokens.sentinels.end()) {
            add("<" + std::to_string(sentinel - m_tokens.sentinels.begin() + 1) + ">");
        } else if (mode != m_tokens.modes.end()) {
            add(std::array{"[R]", "[X]", "[S]"}[static_cast<std::size_t>(mode - m_tokens.modes.begin())]);
        } else if (token == m_tokens.end) {
            add("<end>");
        } else {
            between.push_back(token);
        }
    }
    return text + windows().decode(between);
}

} // namespace residua::engine
