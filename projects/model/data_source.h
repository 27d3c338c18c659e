// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/diffusion.h"
#include "projects/model/picture_data.h"
#include "projects/model/world_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace residua::projects {

/// TokenizerJson is Hugging Face's tokenizer.json.
enum class TokeniserKind { Bytes, Characters, SentencePiece, TokenizerJson };

/// The vocabulary size if bytes are tokens.
inline constexpr std::int64_t kByteVocabulary = 256;
/// The largest vocabulary that is allowed.
inline constexpr std::int64_t kMostVocabulary = 10'000'000;

/// The conversion of text to tokens.
struct Tokeniser {
    TokeniserKind kind = TokeniserKind::Bytes;
    std::string model; ///< file of SentencePiece or tokenizer.json; relative paths start at the project
    /// Rows of the embedding table. Bytes: always kByteVocabulary. Characters: the largest number of distinct
    /// characters that the text may have. SentencePiece and TokenizerJson: at least the number of tokens of the file.
    /// The engine's data module checks it against the data.
    std::int64_t vocabulary = kByteVocabulary;
    bool operator==(const Tokeniser&) const = default;
};
/// True if the tokeniser is read from the file `model`.
[[nodiscard]] inline bool hasModel(TokeniserKind kind)
{
    return kind == TokeniserKind::SentencePiece || kind == TokeniserKind::TokenizerJson;
}
/// True if `vocabulary` sets the vocabulary size; that of bytes is fixed.
[[nodiscard]] inline bool hasVocabulary(TokeniserKind kind)
{
    return kind != TokeniserKind::Bytes;
}

/// A UTF-8 text file, or a folder whose *.txt files are read recursively in the order of their paths.
struct TextData {
    std::string path;
    Tokeniser tokeniser;
    bool operator==(const TextData&) const = default;
};

/// JSON Lines with one document per line, whose text is in `field`. If the file name ends in .parquet, Parquet with one
/// document per row, whose text is in the column `field`.
struct JsonLinesData {
    std::string path;
    std::string field = "text";
    Tokeniser tokeniser;
    bool operator==(const JsonLinesData&) const = default;
};

/// One text of a mixture: a file that sourceAt() reads as text or JSON Lines, or a folder of such files. In a folder,
/// plain text has priority.
struct MixturePart {
    std::string path;
    std::string field = "text"; ///< name of the JSON Lines field
    double weight = 1.0;        ///< relative to the weights of the other parts
    bool operator==(const MixturePart&) const = default;
};

/// Several texts as one data set. Each example comes from a part that is drawn by weight. All parts share the
/// tokeniser.
struct MixtureData {
    std::vector<MixturePart> parts;
    Tokeniser tokeniser;
    bool operator==(const MixtureData&) const = default;
};
/// Returns the weights of the parts divided by their sum. A weight that is not positive and finite counts as 0. All
/// shares are 0 if no weight is positive.
[[nodiscard]] std::vector<double> sharesOf(const MixtureData& mixture);

/// A table of texts with a label each: CSV or TSV whose first line names the columns, or JSON Lines. Examples have a
/// fixed length; shorter texts are padded, and a mask tells where.
struct LabelledTextData {
    std::string path;
    std::string validationPath; ///< if empty, a fraction of the rows is used for validation
    std::string text = "text";  ///< column of the text
    std::string second;         ///< column of a second text; empty: none
    std::string label = "label";
    std::int64_t classes = 2; ///< at least the number of different labels
    Tokeniser tokeniser;
    bool operator==(const LabelledTextData&) const = default;
};

enum class TokenWidth { Detect, Uint16, Uint32 };

/// A file of token ids. Recognises the headers of llm.c; nanoGPT files have no header.
struct TokenFileData {
    std::string path;
    std::string validationPath; ///< if empty, a fraction of the tokens is used for validation
    TokenWidth tokenWidth = TokenWidth::Detect;
    std::int64_t vocabulary = 50257;
    bool operator==(const TokenFileData&) const = default;
};

/// The smallest vocabulary of the synthetic language: a full stop, one kind of bracket, and a word.
inline constexpr std::int64_t kFewestWords = 11;
/// A seeded synthetic language with agreement across nested levels. A deeper network predicts it better.
struct SyntheticLanguage {
    std::int64_t vocabulary = 64;
    std::int64_t levels = 4; ///< nesting depth of agreement
    std::int64_t tokens = 1'000'000;
    bool operator==(const SyntheticLanguage&) const = default;
};

/// Random: N(0, 1/dim). Diagonal: from 1 to 0 in equal steps, so that one direction needs no learning (the instance of
/// ANCRe, B.1). StandardNormal: N(0, 1) (DeepCrossAttention, figure 1).
enum class LinearTarget { Identity, Random, ScaledRotation, Diagonal, StandardNormal };

/// Y = T X (ANCRe §3); X is orthogonal if samples = dim.
struct LinearRegression {
    std::int64_t dim = 16;
    std::int64_t samples = 16;
    LinearTarget target = LinearTarget::Random;
    bool operator==(const LinearRegression&) const = default;
};

/// y = A x with A of rank `rank` (DeepCrossAttention §4), or y = A x + b.
struct LowRankRegression {
    std::int64_t dim = 100;
    std::int64_t rank = 3;
    std::int64_t samples = 10'000;
    double noise = 0.0;
    LinearTarget target = LinearTarget::Random;
    bool offset = false; ///< b with standard normal entries (figure 1)
    bool operator==(const LowRankRegression&) const = default;
};

/// x ~ U{±1}^dim; the target is a random polynomial on the first `variables` of them (RaPTr §3, D.3).
struct BooleanPolynomial {
    std::int64_t dim = 100;
    std::int64_t variables = 20;
    std::int64_t degree = 10;
    std::int64_t termsPerDegree = 20;
    bool operator==(const BooleanPolynomial&) const = default;
};

using Source = std::variant<TextData, JsonLinesData, MixtureData, TokenFileData, SyntheticLanguage, LinearRegression,
                            LowRankRegression, BooleanPolynomial, LabelledTextData, PictureData, DrawnPictures,
                            WorldData, LatentData>;

/// The shortest sequence of two texts: a token of each, and the marks of BERT's tokeniser.
inline constexpr std::int64_t kShortestPair = 5;
/// The tokens that the objective masked token hides (BERT). Of n tokens, round(share · n) are chosen, at least one and
/// at most `most`. A chosen token becomes the mask token, or a random token, or stays.
struct Masking {
    double share = 0.15;
    double masked = 0.8;     ///< the share of the chosen tokens that become the mask token
    double random = 0.1;     ///< the share of the chosen tokens that become a random token
    std::int64_t most = 0;   ///< the most tokens chosen in an example; 0: no limit
    bool wholeWords = false; ///< chooses all tokens of a word together
    std::int64_t token =
        -1; ///< the mask token's number; -1: the token [MASK] of the tokeniser, else one that it does not use
    /// Makes each example of two texts, and predicts whether the second follows the first (BERT).
    bool nextSentence = false;
    bool operator==(const Masking&) const = default;
};

/// The denoisers that the objective mixture of denoisers draws for each example (UL2). The weights of the three kinds
/// are relative; the settings of a kind are equally likely.
struct Denoising {
    double regular = 0.4;         ///< R: short spans, 15 % of the tokens
    double extreme = 0.4;         ///< X: long spans, or half of the tokens
    double sequential = 0.2;      ///< S: the end of the text, a quarter on average
    std::int64_t sentinels = 100; ///< tokens that stand for spans
    bool operator==(const Denoising&) const = default;
};
enum class DenoiserMode { Regular, Extreme, Sequential };
inline constexpr std::int64_t kDenoiserModes = 3;
/// A setting of spans: their mean length, and the share of the tokens in them. The spans of n tokens in all are
/// max(1, round(n / mean)).
struct Denoiser {
    DenoiserMode mode = DenoiserMode::Regular;
    double mean = 3; ///< tokens; not used by Sequential, which has one span
    double share = 0.15;
};
/// The settings of UL2's table 1.
inline constexpr Denoiser kDenoisers[] = {{DenoiserMode::Regular, 3, 0.15},   {DenoiserMode::Regular, 8, 0.15},
                                          {DenoiserMode::Extreme, 3, 0.5},    {DenoiserMode::Extreme, 8, 0.5},
                                          {DenoiserMode::Extreme, 64, 0.15},  {DenoiserMode::Extreme, 64, 0.5},
                                          {DenoiserMode::Sequential, 0, 0.25}};
/// The numbers of tokens and spans of an example.
struct SpanSizes {
    std::int64_t raw = 0;   ///< tokens of the text
    std::int64_t noise = 0; ///< tokens in spans
    std::int64_t spans = 0;
};
/// Returns the sizes for a text of `raw` tokens, at least 2. If the mode is Sequential, `noise` is the mean.
[[nodiscard]] SpanSizes spansOf(const Denoiser& denoiser, std::int64_t raw);
/// Returns the sizes of the longest text, of at most `most` tokens, that fits in a row of `time` tokens with the mode
/// token, two sentinels for each span, and the end token. `time` and `most` are at least kShortestDenoised.
[[nodiscard]] SpanSizes longestSpans(const Denoiser& denoiser, std::int64_t time, std::int64_t most);
inline constexpr std::int64_t kShortestDenoised = 6;
/// Returns the number of tokens that denoising adds to a vocabulary: sentinels, a token for each mode, and an end
/// token.
[[nodiscard]] inline std::int64_t tokensAdded(const Denoising& denoising)
{
    return denoising.sentinels + kDenoiserModes + 1;
}

/// How the documents of a text become the rows of a batch. A document is a file or a line of plain text, a record of
/// JSON Lines or Parquet, a sentence of the synthetic language, or the tokens up to an end token.
enum class DocumentRows {
    Stream, ///< windows of all documents in sequence, which begin anywhere
    Single, ///< the beginning of one document, padded
    Packed, ///< several documents, apart from each other, then padding; longer documents are cut into pieces
};
struct Documents {
    DocumentRows rows = DocumentRows::Stream;
    bool lines = false;    ///< each line of plain text is a document
    std::int64_t end = -1; ///< the token that ends a document of a token file; -1: none
    bool operator==(const Documents&) const = default;
};

/// The source of the examples and its splits. The rest after the two fractions is for training. examplesOf()
/// (projects/nodes/example_schema.h) gives the fields of one example.
struct DataSource {
    Source source = SyntheticLanguage{};
    double validationFraction = 0.1;
    double testFraction = 0.0;
    Masking masking = {};
    Augmentation augmentation = {};
    Documents documents = {};
    Denoising denoising = {};
    Diffusion diffusion = {};
    bool operator==(const DataSource&) const = default;
};

/// True if the source is text or tokens without labels, which Documents cuts into rows.
[[nodiscard]] bool hasDocuments(const Source& source);
/// Returns how documents become rows: those of `data`, or Stream for a source without documents.
[[nodiscard]] DocumentRows rowsOf(const DataSource& data);

/// Returns the source for a path by its file name ending: token ids (.bin), JSON Lines (.jsonl, .ndjson) or Parquet
/// (.parquet), labelled text (.csv, .tsv), else text with bytes as tokens.
[[nodiscard]] Source sourceAt(const std::string& path);
/// True if the path may be JSON Lines: any path without the ending of a plain text file, such as a folder.
[[nodiscard]] bool mayBeJsonLines(const std::string& path);

/// Number of fixed samples of a polynomial in each held-out split. Training samples are new at every step.
inline constexpr std::int64_t kHeldOutPolynomials = 4096;

/// The most memory that generated examples may use, in bytes. It does not limit files.
inline constexpr double kMostGeneratedBytes = 4.0 * 1024 * 1024 * 1024;
/// Checks that generated examples fit in kMostGeneratedBytes while they are made, and that one example takes a
/// reasonable time. Uses the numbers alone, before anything is generated. Returns Done for files.
[[nodiscard]] Status checkGeneratedSize(const DataSource& data);

/// Returns the tokeniser of a text source; null for other sources.
[[nodiscard]] const Tokeniser* tokeniserOf(const Source& source);
[[nodiscard]] Tokeniser* tokeniserOf(Source& source);
/// Returns the number of classes of a source with labels in files; null for other sources.
[[nodiscard]] const std::int64_t* classCountOf(const Source& source);
[[nodiscard]] std::int64_t* classCountOf(Source& source);

/// The number of tokens in each split. In the text, training comes first, then validation, then test.
struct SplitSizes {
    std::int64_t training = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
};

/// Computes the split sizes. The fractions are of all tokens, rounded down; the rest is for training.
[[nodiscard]] inline SplitSizes splitSizes(std::int64_t tokens, double validationFraction, double testFraction)
{
    const auto share = [&](double fraction) {
        return static_cast<std::int64_t>(std::floor(static_cast<double>(tokens) * fraction));
    };
    const std::int64_t validation = share(validationFraction);
    const std::int64_t test = share(testFraction);
    return {tokens - validation - test, validation, test};
}

enum class SplitUse { Training, HeldOut };
/// True if a split has too few tokens for one sequence and the token after it. A held-out split may be empty.
[[nodiscard]] inline bool isTooShort(std::int64_t tokens, SplitUse use, std::int64_t sequenceLength)
{
    return tokens <= sequenceLength && (use == SplitUse::Training || tokens > 0);
}

/// The numbers of an example that is an image.
struct ImageSize {
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
};
/// Returns the size of the pictures or latents of a source; nullopt for other data.
[[nodiscard]] std::optional<ImageSize> imageSizeOf(const Source& source);

/// True if the prompt for a model of this data is the path of a picture.
[[nodiscard]] inline bool promptsArePictures(const DataSource& data)
{
    return std::holds_alternative<PictureData>(data.source) || std::holds_alternative<DrawnPictures>(data.source);
}

/// Returns the path of the part that is held out; null for a source without such a field. `source` may be const.
template <class AnySource>
[[nodiscard]] auto* validationPathOf(AnySource& source)
{
    using Path = std::conditional_t<std::is_const_v<AnySource>, const std::string, std::string>;
    return std::visit(
        [](auto& data) -> Path* {
            if constexpr (requires { data.validationPath; }) {
                return &data.validationPath;
            } else {
                return nullptr;
            }
        },
        source);
}

/// Calls `visit` with each path of data that a source has: its own, that of the part that is held out, and those of a
/// mixture's parts. A path may be empty. `source` may be const.
template <class AnySource, class Visit>
void forEachPath(AnySource& source, const Visit& visit)
{
    std::visit(
        [&](auto& data) {
            if constexpr (requires { data.path; }) {
                visit(data.path);
            }
            if constexpr (requires { data.parts; }) {
                for (auto& part : data.parts) {
                    visit(part.path);
                }
            }
        },
        source);
    if (auto* const heldOut = validationPathOf(source)) {
        visit(*heldOut);
    }
}

/// Returns the endings of the files that a source reads in a folder; empty for generated data.
[[nodiscard]] std::span<const std::string_view> folderEndingsOf(const Source& source);

/// Concatenates both lists.
template <std::size_t N, std::size_t M>
[[nodiscard]] consteval std::array<std::string_view, N + M> bothOf(const std::array<std::string_view, N>& first,
                                                                   const std::array<std::string_view, M>& second)
{
    std::array<std::string_view, N + M> all;
    std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
    return all;
}

/// File name endings of data files, by content. Each may be followed by one of kCompressedEndings.
inline constexpr std::array<std::string_view, 1> kTextEndings{".txt"};
inline constexpr std::array<std::string_view, 4> kRecordEndings{".jsonl", ".ndjson", ".json", ".parquet"};
inline constexpr std::array<std::string_view, 2> kSheetEndings{".csv", ".tsv"};
inline constexpr std::array<std::string_view, 2> kTokenEndings{".bin", ".npy"};
/// Pictures in the folders of their classes.
inline constexpr std::array<std::string_view, 4> kPictureEndings{".png", ".jpg", ".jpeg", ".webp"};
/// Pictures of formats that are not read.
inline constexpr std::array<std::string_view, 14> kOtherPictureEndings{
    ".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".svg", ".jxl", ".jp2", ".ppm", ".pgm", ".ico", ".psd"};
/// The files of a world: world.json and the model.
inline constexpr std::array<std::string_view, 2> kWorldEndings{".json", ".xml"};
/// Latents, and their labels.
inline constexpr std::array<std::string_view, 2> kLatentEndings{".safetensors", ".npy"};
/// Files of many pictures: CIFAR, MNIST's IDX, CSV.
inline constexpr std::array<std::string_view, 3> kPictureRecordEndings{".bin", "-ubyte", ".csv"};
inline constexpr std::array<std::string_view, 4> kCompressedEndings{".gz", ".zst", ".xz", ".bz2"};

inline constexpr auto kAnyTextEndings = bothOf(kTextEndings, kRecordEndings);
inline constexpr auto kTableEndings = bothOf(kSheetEndings, kRecordEndings);
inline constexpr auto kAnyPictureEndings = bothOf(kPictureEndings, kPictureRecordEndings);
inline constexpr auto kDataEndings = bothOf(bothOf(kAnyTextEndings, kTokenEndings), kSheetEndings);

/// Returns the ending of kCompressedEndings that the name has in either case, or an empty one.
[[nodiscard]] std::string_view compressedEnding(std::string_view name);
/// Returns the name without that ending.
[[nodiscard]] std::string_view withoutCompression(std::string_view name);
/// True if the name, without the ending of a compression, ends in one of `endings`, in either case.
[[nodiscard]] bool endsIn(std::string_view name, std::span<const std::string_view> endings);

} // namespace residua::projects
