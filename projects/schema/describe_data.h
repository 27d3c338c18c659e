// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct EnumNames<TokeniserKind> {
    static constexpr NameList<3> names{"bytes", "characters", "sentence_piece"};
};
template <>
struct EnumNames<TokenWidth> {
    static constexpr NameList<3> names{"detect", "uint16", "uint32"};
};
template <>
struct EnumNames<LinearTarget> {
    static constexpr NameList<4> names{"identity", "random", "scaled_rotation", "diagonal"};
};

template <>
struct Fields<Tokeniser> {
    static constexpr void visit(auto&& v)
    {
        v("kind", &Tokeniser::kind);
        v("model", &Tokeniser::model);
        v({"vocabulary", "tokens"}, &Tokeniser::vocabulary);
    }
};
template <>
struct Fields<TextData> {
    static constexpr void visit(auto&& v)
    {
        v("path", &TextData::path);
        v("tokeniser", &TextData::tokeniser);
    }
};
template <>
struct Fields<JsonLinesData> {
    static constexpr void visit(auto&& v)
    {
        v("path", &JsonLinesData::path);
        v("field", &JsonLinesData::field);
        v("tokeniser", &JsonLinesData::tokeniser);
    }
};
template <>
struct Fields<TokenFileData> {
    static constexpr void visit(auto&& v)
    {
        v("path", &TokenFileData::path);
        v("validation_path", &TokenFileData::validationPath);
        v("token_width", &TokenFileData::tokenWidth);
        v({"vocabulary", "tokens"}, &TokenFileData::vocabulary);
    }
};
template <>
struct Fields<SyntheticLanguage> {
    static constexpr void visit(auto&& v)
    {
        v({"vocabulary", "tokens"}, &SyntheticLanguage::vocabulary);
        v("levels", &SyntheticLanguage::levels);
        v("tokens", &SyntheticLanguage::tokens);
    }
};
template <>
struct Fields<LinearRegression> {
    static constexpr void visit(auto&& v)
    {
        v("dim", &LinearRegression::dim);
        v("samples", &LinearRegression::samples);
        v("target", &LinearRegression::target);
    }
};
template <>
struct Fields<LowRankRegression> {
    static constexpr void visit(auto&& v)
    {
        v("dim", &LowRankRegression::dim);
        v("rank", &LowRankRegression::rank);
        v("samples", &LowRankRegression::samples);
        v("noise", &LowRankRegression::noise);
        v("target", &LowRankRegression::target);
    }
};
template <>
struct Fields<BooleanPolynomial> {
    static constexpr void visit(auto&& v)
    {
        v("dim", &BooleanPolynomial::dim);
        v("variables", &BooleanPolynomial::variables);
        v("degree", &BooleanPolynomial::degree);
        v("terms_per_degree", &BooleanPolynomial::termsPerDegree);
    }
};
template <>
struct Alternatives<Source> {
    static constexpr NameList<7> names{"text",
                                       "json_lines",
                                       "token_file",
                                       "synthetic_language",
                                       "linear_regression",
                                       "low_rank_regression",
                                       "boolean_polynomial"};
};
template <>
struct Fields<DataSource> {
    static constexpr void visit(auto&& v)
    {
        v("source", &DataSource::source);
        v("validation_fraction", &DataSource::validationFraction);
        v("test_fraction", &DataSource::testFraction);
    }
};

} // namespace residua::projects
