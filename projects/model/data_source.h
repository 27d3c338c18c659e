// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

/// TokenizerJson: a file of Hugging Face.
enum class TokeniserKind { Bytes, Characters, SentencePiece, TokenizerJson };

/// The vocabulary of bytes as tokens.
inline constexpr std::int64_t kByteVocabulary = 256;
/// The most tokens that any vocabulary may have.
inline constexpr std::int64_t kMostVocabulary = 10'000'000;

/// How text becomes tokens.
struct Tokeniser {
    TokeniserKind kind = TokeniserKind::Bytes;
    std::string model; ///< the file of SentencePiece or tokenizer.json; relative paths start at the project
    /// Rows of the embedding table. Bytes: always kByteVocabulary. Characters: the most distinct characters that the
    /// text may have. Those of a file: at least its tokens. The engine's data module checks it against what it reads.
    std::int64_t vocabulary = kByteVocabulary;
    bool operator==(const Tokeniser&) const = default;
};
/// Whether it is read from a file, which `model` then names.
[[nodiscard]] inline bool hasModel(TokeniserKind kind)
{
    return kind == TokeniserKind::SentencePiece || kind == TokeniserKind::TokenizerJson;
}
/// Whether `vocabulary` says how large its vocabulary is; that of bytes never changes.
[[nodiscard]] inline bool hasVocabulary(TokeniserKind kind)
{
    return kind != TokeniserKind::Bytes;
}

/// A UTF-8 text file, or every *.txt below a folder in the order of their paths.
struct TextData {
    std::string path;
    Tokeniser tokeniser;
    bool operator==(const TextData&) const = default;
};

/// JSON Lines: one document per line, its text in `field`. Or Parquet, by the end of the name: one per row, its text in
/// that column.
struct JsonLinesData {
    std::string path;
    std::string field = "text";
    Tokeniser tokeniser;
    bool operator==(const JsonLinesData&) const = default;
};

/// One of the texts of a mixture: a file that sourceAt() takes for text or JSON Lines, or a folder of one of them,
/// where plain text goes first.
struct MixturePart {
    std::string path;
    std::string field = "text"; ///< of JSON Lines
    double weight = 1.0;        ///< in proportion to the other parts' weights
    bool operator==(const MixturePart&) const = default;
};

/// Several texts in one: each example is of a part that is drawn by weight, tokenised as all of them are.
struct MixtureData {
    std::vector<MixturePart> parts;
    Tokeniser tokeniser;
    bool operator==(const MixtureData&) const = default;
};
/// The weights of the parts over their sum; a weight that is no positive number counts as none. All 0 where none
/// counts.
[[nodiscard]] std::vector<double> sharesOf(const MixtureData& mixture);

enum class TokenWidth { Detect, Uint16, Uint32 };

/// Ready-made token ids; the headers of llm.c are recognised, nanoGPT files have none.
struct TokenFileData {
    std::string path;
    std::string validationPath; ///< empty: split off by fraction
    TokenWidth tokenWidth = TokenWidth::Detect;
    std::int64_t vocabulary = 50257;
    bool operator==(const TokenFileData&) const = default;
};

/// A seeded language whose agreement spans nested levels: a deeper network predicts it better.
struct SyntheticLanguage {
    std::int64_t vocabulary = 64;
    std::int64_t levels = 4; ///< nesting depth of agreement
    std::int64_t tokens = 1'000'000;
    bool operator==(const SyntheticLanguage&) const = default;
};

/// Random: N(0, 1/dim). Diagonal: 1 down to 0 in equal steps, so that one direction has nothing to learn (the instance
/// of ANCRe, B.1). StandardNormal: N(0, 1) (DeepCrossAttention, figure 1).
enum class LinearTarget { Identity, Random, ScaledRotation, Diagonal, StandardNormal };

/// Y = T X (ANCRe §3): X orthogonal where samples = dim.
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
                            LowRankRegression, BooleanPolynomial>;

/// Where the examples come from and how they are split. The rest after the two fractions is for training. What they
/// consist of is asked of examplesOf (projects/nodes/example_schema.h).
struct DataSource {
    Source source = SyntheticLanguage{};
    double validationFraction = 0.1;
    double testFraction = 0.0;
    bool operator==(const DataSource&) const = default;
};

/// What lies at a path, by the name's end: ready-made tokens (.bin), JSON Lines (.jsonl, .ndjson) or Parquet
/// (.parquet), else text. Of text the bytes are tokens.
[[nodiscard]] Source sourceAt(const std::string& path);
/// Whether what lies at a path may be JSON Lines: by the name it may be, or it may be a folder of them.
[[nodiscard]] bool mayBeJsonLines(const std::string& path);

/// Samples of a polynomial that are fixed, in each split that has any; its training samples are new for every step.
inline constexpr std::int64_t kHeldOutPolynomials = 4096;

/// The memory that generated examples may take, in bytes; files are not bounded by it.
inline constexpr double kMostGeneratedBytes = 4.0 * 1024 * 1024 * 1024;
/// Whether the examples of a source that generates them fit in that while they are made, and one of them takes no
/// absurd time. Told from the numbers alone, before anything is made; Done for files.
[[nodiscard]] Status checkGeneratedSize(const DataSource& data);

} // namespace residua::projects
