// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/schema/describe.h"
#include "projects/schema/describe_pictures.h"

namespace residua::projects {

template <>
struct Choices<TokeniserKind> {
    static constexpr Choice all[] = {{"bytes", "bytes"},
                                     {"characters", "characters"},
                                     {"sentence_piece", "SentencePiece"},
                                     {"tokenizer_json", "tokenizer.json", "of Hugging Face"}};
};
template <>
struct Choices<TokenWidth> {
    static constexpr Choice all[] = {{"detect", "detect"}, {"uint16", "uint16"}, {"uint32", "uint32"}};
};
template <>
struct Choices<LabelColumn> {
    static constexpr Choice all[] = {{"detect", "detect"}, {"first", "first"}, {"last", "last"}};
};
template <>
struct Choices<LinearTarget> {
    static constexpr Choice all[] = {{"identity", "identity"},
                                     {"random", "random"},
                                     {"scaled_rotation", "scaled rotation"},
                                     {"diagonal", "diagonal, 1 to 0"},
                                     {"standard_normal", "standard normal"}};
};

template <>
struct Fields<Tokeniser> {
    static bool isFile(const Tokeniser& tokeniser) { return hasModel(tokeniser.kind); }
    static bool isCounted(const Tokeniser& tokeniser) { return hasVocabulary(tokeniser.kind); }

    static constexpr void visit(auto&& v)
    {
        v({"kind", "kind", "How text becomes tokens."}, &Tokeniser::kind);
        v({"model",
           "model file",
           "The model of SentencePiece, or tokenizer.json of Hugging Face; a relative path starts at the project.",
           {.form = TextForm::Path, .where = when<isFile>}},
          &Tokeniser::model);
        v({"vocabulary",
           "vocabulary",
           "Rows of the embedding table; bytes always have 256.",
           {.unit = "tokens", .range = Range::within(2, kMostVocabulary), .where = when<isCounted>}},
          &Tokeniser::vocabulary);
    }
};
template <>
struct Fields<TextData> {
    static constexpr void visit(auto&& v)
    {
        v({"path",
           "file or folder",
           "A UTF-8 text, or a folder of *.txt, also .gz and .zst; a relative path starts at the project.",
           {.form = TextForm::Path}},
          &TextData::path);
        v({"tokeniser", "tokeniser", "How the text is cut into tokens.", {.group = "tokens"}}, &TextData::tokeniser);
    }
};
template <>
struct Fields<JsonLinesData> {
    static constexpr void visit(auto&& v)
    {
        v({"path",
           "file or folder",
           "JSON Lines, also .gz and .zst, or Parquet (*.parquet), or a folder of such files; a relative path starts "
           "at the project.",
           {.form = TextForm::Path}},
          &JsonLinesData::path);
        v({"field", "key or column", "The key of each JSON object, or the column of Parquet, that holds the text."},
          &JsonLinesData::field);
        v({"tokeniser", "tokeniser", "How the text is cut into tokens.", {.group = "tokens"}},
          &JsonLinesData::tokeniser);
    }
};
template <>
inline constexpr bool kInline<MixturePart> = true;
template <>
inline constexpr std::size_t kMostOf<MixturePart> = 256;
template <>
struct Fields<MixturePart> {
    static bool mayHaveKeys(const MixturePart& part) { return mayBeJsonLines(part.path); }

    static constexpr void visit(auto&& v)
    {
        v({"path",
           "file or folder",
           "A UTF-8 text or JSON Lines, also .gz and .zst, or Parquet, or a folder of such files; a relative path "
           "starts at the project.",
           {.form = TextForm::Path}},
          &MixturePart::path);
        v({"field",
           "key or column",
           "The key of each JSON object, or the column of Parquet, that holds the text.",
           {.where = when<mayHaveKeys>}},
          &MixturePart::field);
        v({"weight",
           "weight",
           "How often examples are of this part, in proportion to the other parts' weights.",
           {.range = Range::halfOpenLow(0, 1e9), .paper = "9, 57, 17, 17 (RaPTr, D.5)"}},
          &MixturePart::weight);
    }
};
template <>
struct Fields<MixtureData> {
    static constexpr void visit(auto&& v)
    {
        v({"parts", "parts", "The texts that examples are drawn from, each with its weight.", {.item = "part"}},
          &MixtureData::parts);
        v({"tokeniser", "tokeniser", "How all texts are cut into tokens.", {.group = "tokens"}},
          &MixtureData::tokeniser);
    }
};
template <>
struct Fields<LabelledTextData> {
    static constexpr void visit(auto&& v)
    {
        v({"path",
           "file",
           "CSV or TSV whose first line names the columns, or JSON Lines, also .gz and .zst; a relative path starts at "
           "the project.",
           {.form = TextForm::Path}},
          &LabelledTextData::path);
        v({"validation_path",
           "validation file",
           "Rows to validate on, with the same columns; empty: split off from the first.",
           {.form = TextForm::Path}},
          &LabelledTextData::validationPath);
        v({"text", "text column", "The column or key of the text."}, &LabelledTextData::text);
        v({"second", "second column", "The column or key of a second text of the pair; empty: none."},
          &LabelledTextData::second);
        v({"label", "label column", "The column or key of the label, a word or a number."}, &LabelledTextData::label);
        v({"classes",
           "classes",
           "Outputs of the head; at least the number of different labels.",
           {.unit = "classes", .range = Range::within(2, 1'000'000)}},
          &LabelledTextData::classes);
        v({"tokeniser", "tokeniser", "How the texts are cut into tokens.", {.group = "tokens"}},
          &LabelledTextData::tokeniser);
    }
};
template <>
struct Fields<TokenFileData> {
    static constexpr void visit(auto&& v)
    {
        v({"path", "file", "Token ids, as nanoGPT and llm.c write them.", {.form = TextForm::Path}},
          &TokenFileData::path);
        v({"validation_path",
           "validation file",
           "Token ids to validate on; empty: split off from the first.",
           {.form = TextForm::Path}},
          &TokenFileData::validationPath);
        v({"token_width", "token width", "How wide a token is in the file; detect goes by the file's header."},
          &TokenFileData::tokenWidth);
        v({"vocabulary",
           "vocabulary",
           "Rows of the embedding table.",
           {.unit = "tokens", .range = Range::within(2, kMostVocabulary)}},
          &TokenFileData::vocabulary);
    }
};
template <>
struct Fields<SyntheticLanguage> {
    static constexpr void visit(auto&& v)
    {
        v({"vocabulary",
           "vocabulary",
           "Distinct tokens of the language.",
           {.unit = "tokens", .range = Range::within(kFewestWords, 1'000'000)}},
          &SyntheticLanguage::vocabulary);
        v({"levels",
           "levels",
           "Nesting depth of agreement: more levels reward a deeper network.",
           {.range = Range::within(1, 64)}},
          &SyntheticLanguage::levels);
        v({"tokens", "length", "Tokens that are generated.", {.unit = "tokens", .range = Range::atLeast(1)}},
          &SyntheticLanguage::tokens);
    }
};
template <>
struct Fields<LinearRegression> {
    static constexpr void visit(auto&& v)
    {
        v({"dim", "dimension", "Features of x and of y.", {.unit = "features", .range = Range::within(1, 100'000)}},
          &LinearRegression::dim);
        v({"samples",
           "samples",
           "Pairs of x and y; as many as the dimension make X orthogonal.",
           {.range = Range::atLeast(1)}},
          &LinearRegression::samples);
        v({"target", "target", "The matrix T of Y = T X.", {.paper = "diagonal (ANCRe, B.1)"}},
          &LinearRegression::target);
    }
};
template <>
struct Fields<LowRankRegression> {
    static constexpr void visit(auto&& v)
    {
        v({"dim",
           "dimension",
           "Features of x and of y.",
           {.unit = "features", .range = Range::within(1, 100'000), .paper = "100 (DCA, fig. 1)"}},
          &LowRankRegression::dim);
        v({"rank", "rank", "Rank of the matrix A of y = A x.", {.range = Range::atLeast(1), .paper = "3"}},
          &LowRankRegression::rank);
        v({"samples", "samples", "Pairs of x and y.", {.range = Range::atLeast(1)}}, &LowRankRegression::samples);
        v({"noise", "noise", "Standard deviation added to the target.", {.range = Range::atLeast(0)}},
          &LowRankRegression::noise);
        v({"target",
           "target",
           "The matrix whose part in a random subspace of that rank is A.",
           {.paper = "standard normal, identity (DCA, fig. 1)"}},
          &LowRankRegression::target);
        v({"offset",
           "offset",
           "Adds b, standard normal and the same for all samples, to y; layers without biases cannot fit it.",
           {.paper = "on (DCA, fig. 1)"}},
          &LowRankRegression::offset);
    }
};
template <>
struct Fields<BooleanPolynomial> {
    static constexpr void visit(auto&& v)
    {
        v({"dim",
           "dimension",
           "Features of x, each −1 or 1.",
           {.unit = "features", .range = Range::within(1, 100'000), .paper = "100 (RaPTr, D.3)"}},
          &BooleanPolynomial::dim);
        v({"variables",
           "variables",
           "The target depends on the first so many features.",
           {.range = Range::atLeast(1), .paper = "20"}},
          &BooleanPolynomial::variables);
        v({"degree", "degree", "The highest degree of a term.", {.range = Range::atLeast(1), .paper = "10"}},
          &BooleanPolynomial::degree);
        v({"terms_per_degree",
           "terms per degree",
           "Products of each degree that the target sums up.",
           {.range = Range::within(1, 1'000'000), .paper = "20"}},
          &BooleanPolynomial::termsPerDegree);
    }
};
template <>
struct Choices<WorldKind> {
    static constexpr Choice all[] = {{"point_maze", "point mass in a maze", "built in"},
                                     {"arm", "arm of two links", "built in"},
                                     {"mujoco", "model of MuJoCo", "a folder with world.json and the model"}};
};
template <>
struct Choices<ReplayOnResume> {
    static constexpr Choice all[] = {{"kept", "kept", "in the newest checkpoint"},
                                     {"collected", "collected anew", "the resumed run is another one"}};
};
template <>
struct Fields<WorldData> {
    static bool isModel(const WorldData& world) { return world.kind == WorldKind::Mujoco; }

    static constexpr void visit(auto&& v)
    {
        v({"world", "world", "What the first tower acts in."}, &WorldData::kind);
        v({"path",
           "files",
           "A folder with world.json and a model of MuJoCo; a relative path starts at the project.",
           {.form = TextForm::Path, .where = when<isModel>}},
          &WorldData::path);
        v({"states",
           "features of a state",
           "Numbers that a step observes, beginning with the place that goals are about.",
           {.unit = "features",
            .range = Range::within(1, 100'000),
            .paper = "268 (humanoid), 29 (ant)",
            .where = when<isModel>}},
          &WorldData::states);
        v({"actions",
           "features of an action",
           "Numbers that a step sets, each from -1 to 1.",
           {.unit = "features",
            .range = Range::within(1, 10'000),
            .paper = "17 (humanoid), 8 (ant)",
            .where = when<isModel>}},
          &WorldData::actions);
        v({"goals",
           "features of a goal",
           "The first so many features of a state are the place that goals are about.",
           {.unit = "features",
            .range = Range::within(1, 10'000),
            .paper = "3 (humanoid), 2 (ant)",
            .where = when<isModel>}},
          &WorldData::goals);
        v({"environments",
           "environments",
           "Worlds that act at the same time, in parallel threads.",
           {.range = Range::within(1, 65'536), .paper = "512 (ANCRe)", .group = "collection"}},
          &WorldData::environments);
        v({"episode",
           "episode",
           "Steps until a world begins again.",
           {.unit = "steps", .range = Range::within(2, 1'000'000), .paper = "1000 (ANCRe)"}},
          &WorldData::episode);
        v({"unroll",
           "unroll",
           "Steps that each environment acts at a time.",
           {.unit = "steps", .range = Range::within(1, 1'000'000), .paper = "62"}},
          &WorldData::unroll);
        v({"updates",
           "updates",
           "Steps of training after each unroll.",
           {.unit = "steps", .range = Range::within(1, 1'000'000), .paper = "800"}},
          &WorldData::updates);
        v({"prefill",
           "prefill",
           "Steps that each environment acts before the first step of training.",
           {.unit = "steps", .range = Range::within(2, 1'000'000'000), .paper = "1000"}},
          &WorldData::prefill);
        v({"replay",
           "replay buffer",
           "Newest steps of each environment that examples are drawn from.",
           {.unit = "steps", .range = Range::within(2, 1'000'000'000), .paper = "10,000", .group = "replay"}},
          &WorldData::replay);
        v({"memory",
           "most memory",
           "The replay buffer may use at most so much memory.",
           {.unit = "MiB", .range = Range::within(1, 1'000'000), .paper = "about 6,000"}},
          &WorldData::memory);
        v({"discount",
           "discount",
           "A goal is the state that many steps later in the episode with a probability of its power.",
           {.range = Range::halfOpen(0, 1), .paper = "0.99"}},
          &WorldData::discount);
        v({"on_resume", "on resume", "Where the replay buffer of a resumed run comes from."}, &WorldData::onResume);
        v({"judged",
           "judged episodes",
           "Episodes that a validation acts without noise; their mean time at the goal judges the run.",
           {.unit = "episodes", .range = Range::within(1, 65'536), .paper = "128", .group = "validation"}},
          &WorldData::judged);
    }
};
template <>
struct Choices<Source> {
    static constexpr Choice all[] = {{"text", "text", "a file, or a folder of .txt files"},
                                     {"json_lines", "JSON Lines or Parquet", "a text in each row"},
                                     {"mixture", "mixture of texts", "each with a weight"},
                                     {"token_file", "token file", "made beforehand"},
                                     {"synthetic_language", "synthetic language", "built in"},
                                     {"linear_regression", "linear regression", "on vectors"},
                                     {"low_rank_regression", "low-rank regression", "on vectors"},
                                     {"boolean_polynomial", "Boolean polynomial", "of vectors"},
                                     {"labelled_text", "labelled text", "a table of texts and labels"},
                                     {"pictures", "pictures", "files with a class each"},
                                     {"drawn_pictures", "drawn pictures", "of two parts, built in"},
                                     {"world", "world", "environments to act in"},
                                     {"latents", "latents", "codes of pictures, made beforehand"}};
};
template <>
struct Fields<Masking> {
    static bool isUsed(const Project& project);

    static constexpr void visit(auto&& v)
    {
        v({"share",
           "share",
           "Share of an example's tokens that are predicted, at least one.",
           {.range = Range::halfOpenLow(0, 1), .paper = "0.15 (BERT)", .group = "masking", .where = when<isUsed>}},
          &Masking::share);
        v({"masked",
           "become the mask",
           "Share of these that become the mask token.",
           {.range = Range::within(0, 1), .paper = "0.8 (BERT)", .where = when<isUsed>}},
          &Masking::masked);
        v({"random",
           "become random",
           "Share of these that become a random token; the rest stays as it is.",
           {.range = Range::within(0, 1), .paper = "0.1 (BERT)", .where = when<isUsed>}},
          &Masking::random);
        v({"most",
           "most",
           "Most tokens that are predicted in an example; 0: no limit.",
           {.unit = "tokens", .range = Range::atLeast(0), .paper = "20 of 128 (BERT)", .where = when<isUsed>}},
          &Masking::most);
        v({"whole_words",
           "whole words",
           "Predicts all tokens of a word together, by the pieces of WordPiece and SentencePiece.",
           {.where = when<isUsed>}},
          &Masking::wholeWords);
        v({"token",
           "mask token",
           "Number of the mask token; -1: the token [MASK] of the tokeniser, or one that no text has.",
           {.range = Range::within(-1, kMostVocabulary), .where = when<isUsed>}},
          &Masking::token);
        v({"next_sentence",
           "next sentence",
           "Makes each example of two texts, the second in half of them from elsewhere, and predicts which it is.",
           {.where = when<isUsed>}},
          &Masking::nextSentence);
    }
};
template <>
struct Fields<Denoising> {
    static bool isUsed(const Project& project);

    static constexpr void visit(auto&& v)
    {
        v({"regular",
           "regular",
           "Weight of examples with spans of 3 or 8 tokens on average, 15 % of the text.",
           {.range = Range::within(0, 1e9), .group = "denoising", .where = when<isUsed>}},
          &Denoising::regular);
        v({"extreme",
           "extreme",
           "Weight of examples with spans of 3 or 8 tokens and half of the text, or of 64 and 15 % or half.",
           {.range = Range::within(0, 1e9), .where = when<isUsed>}},
          &Denoising::extreme);
        v({"sequential",
           "sequential",
           "Weight of examples that continue a text, whose end is a quarter of it on average.",
           {.range = Range::within(0, 1e9), .where = when<isUsed>}},
          &Denoising::sequential);
        v({"sentinels",
           "sentinels",
           "Tokens that stand for the spans of an example, the last ones of the vocabulary.",
           {.unit = "tokens", .range = Range::within(1, 100'000), .paper = "100 (T5)", .where = when<isUsed>}},
          &Denoising::sentinels);
    }
};
template <>
struct Fields<Diffusion> {
    static bool isUsed(const Project& project);

    static constexpr void visit(auto&& v)
    {
        v({"steps",
           "steps",
           "Steps of noise that an example may have; the network reads the step.",
           {.unit = "steps",
            .range = Range::within(2, kMostDiffusionSteps),
            .paper = "1000 (DDPM, DiT)",
            .group = "diffusion",
            .where = when<isUsed>}},
          &Diffusion::steps);
        v({"first",
           "first variance",
           "Variance of the noise that the first step adds; those of the others rise linearly.",
           {.range = Range::within(1e-9, 0.999), .paper = "1e-4 (DDPM, DiT)", .where = when<isUsed>}},
          &Diffusion::first);
        v({"last",
           "last variance",
           "Variance of the noise that the last step adds.",
           {.range = Range::within(1e-9, 0.999), .paper = "0.02 (DDPM, DiT)", .where = when<isUsed>}},
          &Diffusion::last);
        v({"learns_variance",
           "learned variances",
           "Outputs a second number for each value, which sets the variance of a step between its bounds.",
           {.paper = "on (DiT)", .where = when<isUsed>}},
          &Diffusion::learnsVariance);
        v({"label_dropout",
           "label dropout",
           "Share of the training examples whose class becomes the null class; guidance needs some.",
           {.range = Range::within(0, 1), .paper = "0.1 (DiT)", .where = when<isUsed>}},
          &Diffusion::labelDropout);
    }
};
template <>
struct Choices<DocumentRows> {
    static constexpr Choice all[] = {{"stream", "stream", "windows of all text, which begin anywhere"},
                                     {"single", "one document", "its beginning, padded"},
                                     {"packed", "packed documents", "several, apart from each other, then padding"}};
};
template <>
struct Fields<Documents> {
    static bool isUsed(const Project& project);
    static bool hasLines(const Project& project); ///< true if the source may be plain text
    static bool hasEnd(const Project& project);   ///< true if the source is a token file

    static constexpr void visit(auto&& v)
    {
        v({"rows",
           "rows",
           "How documents become rows: padding is left out of the loss, and documents in one row do not see each "
           "other.",
           {.paper = "packed (LM1B of DCA), one document (ANCRe)", .group = "documents", .where = when<isUsed>}},
          &Documents::rows);
        v({"lines",
           "lines are documents",
           "Each line of a plain text is a document; otherwise each file is one.",
           {.where = when<hasLines>}},
          &Documents::lines);
        v({"end",
           "end token",
           "The token that ends each document of a token file, 50256 of GPT-2; -1: none.",
           {.range = Range::within(-1, kMostVocabulary), .where = when<hasEnd>}},
          &Documents::end);
    }
};
template <>
struct Fields<DataSource> {
    static constexpr void visit(auto&& v)
    {
        v({"source", "source", "Files, or a generator that needs nothing downloaded.", {.inPlaces = InPlaces::LeftOut}},
          &DataSource::source);
        v({"validation_fraction",
           "validation share",
           "Share of the examples held back to validate on.",
           {.range = Range::halfOpen(0, 1), .group = "split"}},
          &DataSource::validationFraction);
        v({"test_fraction",
           "test share",
           "Share of the examples held back for the end.",
           {.range = Range::halfOpen(0, 1)}},
          &DataSource::testFraction);
        v({"masking", "masking", "The tokens that the objective masked token hides and predicts."},
          &DataSource::masking);
        v({"augmentation", "augmentation", "Normalisation of pictures, and random changes of those for training."},
          &DataSource::augmentation);
        v({"documents",
           "documents",
           "How the documents of a text become the rows of a batch.",
           {.inFiles = InFiles::IfSet}},
          &DataSource::documents);
        v({"denoising",
           "denoising",
           "The spans that the objective mixture of denoisers hides and predicts.",
           {.inFiles = InFiles::IfSet}},
          &DataSource::denoising);
        v({"diffusion",
           "diffusion",
           "The noise that the objective denoising diffusion adds and predicts.",
           {.inFiles = InFiles::IfSet}},
          &DataSource::diffusion);
    }
};

} // namespace residua::projects
