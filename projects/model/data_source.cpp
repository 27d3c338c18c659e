// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/data_source.h"

#include "projects/base/mapped.h"
#include "projects/base/real.h"
#include "projects/base/text.h"

namespace residua::projects {

namespace {

constexpr double kDouble = sizeof(double);

/// Samples of all splits. The held-out ones are drawn in addition to the training samples.
double samplesInAll(std::int64_t samples, const DataSource& data)
{
    return std::ceil(real(samples) * (1 + data.validationFraction + data.testFraction));
}

/// Bytes of the tokens as they are drawn and as they are stored.
double bytesOf(const SyntheticLanguage& source, const DataSource&)
{
    return real(source.tokens) * (source.vocabulary > 1 << 16 ? 8 : 6);
}

/// Bytes of the inputs as they are drawn and as they are stored, of the outputs, and of the matrix between them.
double matricesOf(std::int64_t dim, std::int64_t samples, const DataSource& data)
{
    return kDouble * (3 * samplesInAll(samples, data) * real(dim) + real(dim) * real(dim));
}

double bytesOf(const LinearRegression& source, const DataSource& data)
{
    return matricesOf(source.dim, source.samples, data);
}

double bytesOf(const LowRankRegression& source, const DataSource& data)
{
    return matricesOf(source.dim, source.samples, data) + 4 * kDouble * real(source.dim) * real(source.dim);
}

double bytesOf(const DrawnPictures& source, const DataSource& data)
{
    return samplesInAll(source.samples, data) * 3 * real(source.size) * real(source.size);
}

double factorsOf(const BooleanPolynomial& source)
{
    return real(source.termsPerDegree) * real(source.degree) * (real(source.degree) + 1) / 2;
}

/// Bytes of the held-out samples. Training draws new samples at every step.
double bytesOf(const BooleanPolynomial& source, const DataSource& data)
{
    const int splits = 1 + (data.validationFraction > 0 ? 1 : 0) + (data.testFraction > 0 ? 1 : 0);
    return kDouble * (splits * real(kHeldOutPolynomials) * (real(source.dim) + 1) + factorsOf(source));
}

} // namespace

Source sourceAt(const std::string& path)
{
    if (endsIn(path, kTokenEndings)) {
        return TokenFileData{.path = path, .validationPath = {}};
    }
    if (endsIn(path, kRecordEndings)) {
        return JsonLinesData{.path = path, .tokeniser = {}};
    }
    if (endsIn(path, kSheetEndings)) {
        return LabelledTextData{.path = path, .validationPath = {}, .second = {}, .tokeniser = {}};
    }
    return TextData{path, {}};
}

bool mayBeJsonLines(const std::string& path)
{
    return !endsIn(path, kTextEndings);
}

SpanSizes spansOf(const Denoiser& denoiser, std::int64_t raw)
{
    const auto rounded = std::llround(static_cast<double>(raw) * denoiser.share);
    const std::int64_t noise = std::clamp<std::int64_t>(rounded, 1, raw - 1);
    if (denoiser.mode == DenoiserMode::Sequential) {
        return {raw, noise, 1};
    }
    const std::int64_t spans = std::max<std::int64_t>(1, std::llround(static_cast<double>(noise) / denoiser.mean));
    return {raw, noise, std::min({spans, noise, raw - noise})};
}

SpanSizes longestSpans(const Denoiser& denoiser, std::int64_t time, std::int64_t most)
{
    constexpr std::int64_t kModeAndEnd = 2;
    const auto fits = [&](std::int64_t raw) {
        const std::int64_t marks = denoiser.mode == DenoiserMode::Sequential ? 0 : 2 * spansOf(denoiser, raw).spans;
        return marks <= time - kModeAndEnd - raw;
    };
    // Tokens and marks together grow with the tokens, so bisection finds the longest text, however large `time` is.
    std::int64_t longest = 2;
    for (std::int64_t bound = std::min(most, time - kModeAndEnd); longest < bound;) {
        const std::int64_t middle = bound - (bound - longest) / 2;
        if (fits(middle)) {
            longest = middle;
        } else {
            bound = middle - 1;
        }
    }
    return spansOf(denoiser, longest);
}

bool hasDocuments(const Source& source)
{
    return std::holds_alternative<TextData>(source) || std::holds_alternative<JsonLinesData>(source) ||
           std::holds_alternative<MixtureData>(source) || std::holds_alternative<TokenFileData>(source) ||
           std::holds_alternative<SyntheticLanguage>(source);
}

DocumentRows rowsOf(const DataSource& data)
{
    return hasDocuments(data.source) ? data.documents.rows : DocumentRows::Stream;
}

std::vector<double> sharesOf(const MixtureData& mixture)
{
    auto shares = mapped(mixture.parts, [](const MixturePart& part) {
        return std::isfinite(part.weight) ? std::max(part.weight, 0.0) : 0.0;
    });
    // Divides by the largest first, so that the sum of any weights is finite.
    const double most = shares.empty() ? 0.0 : *std::ranges::max_element(shares);
    double sum = 0;
    for (double& share : shares) {
        share = most > 0 ? share / most : 0.0;
        sum += share;
    }
    for (double& share : shares) {
        share = most > 0 ? share / sum : 0.0;
    }
    return shares;
}

Status checkGeneratedSize(const DataSource& data)
{
    const double bytes = std::visit(
        [&](const auto& source) {
            if constexpr (requires { bytesOf(source, data); }) {
                return bytesOf(source, data);
            } else {
                return 0.0;
            }
        },
        data.source);
    if (!(bytes <= kMostGeneratedBytes)) {
        return Error{
            "data",
            "the examples take " + bytesText(bytes) + " while they are generated, expected at most " +
                bytesText(kMostGeneratedBytes) + ": make fewer or smaller ones" +
                (std::holds_alternative<SyntheticLanguage>(data.source) ? ", or read them from a token file" : "")};
    }
    const auto* const polynomial = std::get_if<BooleanPolynomial>(&data.source);
    constexpr std::int64_t kMostFactors = 1'000'000;
    if (polynomial && factorsOf(*polynomial) > real(kMostFactors)) {
        return Error{"data", "each sample multiplies " + numberText(factorsOf(*polynomial)) +
                                 " variables, expected at most " + std::to_string(kMostFactors) +
                                 ": fewer terms per degree, or a lower degree"};
    }
    return Done{};
}

std::optional<ImageSize> imageSizeOf(const Source& source)
{
    if (const auto* const drawn = std::get_if<DrawnPictures>(&source)) {
        return ImageSize{3, drawn->size, drawn->size};
    }
    return std::visit(
        [](const auto& data) -> std::optional<ImageSize> {
            if constexpr (requires { data.channels; }) {
                return ImageSize{data.channels, data.height, data.width};
            } else {
                return std::nullopt;
            }
        },
        source);
}

std::span<const std::string_view> folderEndingsOf(const Source& source)
{
    return std::visit(
        []<class Data>([[maybe_unused]] const Data& data) -> std::span<const std::string_view> {
            if constexpr (std::is_same_v<Data, TextData>) {
                return kTextEndings;
            } else if constexpr (std::is_same_v<Data, JsonLinesData>) {
                return kRecordEndings;
            } else if constexpr (std::is_same_v<Data, MixtureData>) {
                return kAnyTextEndings;
            } else if constexpr (std::is_same_v<Data, TokenFileData>) {
                return kTokenEndings;
            } else if constexpr (std::is_same_v<Data, LabelledTextData>) {
                return kTableEndings;
            } else if constexpr (std::is_same_v<Data, PictureData>) {
                return kAnyPictureEndings;
            } else if constexpr (std::is_same_v<Data, WorldData>) {
                return data.kind == WorldKind::Mujoco ? std::span<const std::string_view>(kWorldEndings)
                                                      : std::span<const std::string_view>();
            } else if constexpr (std::is_same_v<Data, LatentData>) {
                return kLatentEndings;
            } else {
                static_assert(
                    !requires { data.path; }, "a source of files needs its endings");
                return {};
            }
        },
        source);
}

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool endsInOne(std::string_view name, std::string_view ending)
{
    return name.size() >= ending.size() &&
           std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower, lower);
}

} // namespace

std::string_view compressedEnding(std::string_view name)
{
    const auto found = std::ranges::find_if(kCompressedEndings, [&](auto ending) { return endsInOne(name, ending); });
    return found != kCompressedEndings.end() ? *found : std::string_view();
}

std::string_view withoutCompression(std::string_view name)
{
    name.remove_suffix(compressedEnding(name).size());
    return name;
}

bool endsIn(std::string_view name, std::span<const std::string_view> endings)
{
    return std::ranges::any_of(endings, [&](auto ending) { return endsInOne(withoutCompression(name), ending); });
}

} // namespace residua::projects
