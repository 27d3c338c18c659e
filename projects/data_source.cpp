// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/data_source.h"

namespace residua::projects {
namespace {

std::int64_t vocabularyOf(const Tokeniser& tokeniser)
{
    return tokeniser.kind == TokeniserKind::Bytes ? 256 : tokeniser.vocabulary;
}

} // namespace

bool isLanguage(const DataSource& data)
{
    return std::visit(
        [](const auto& source) {
            return !requires
            {
                source.dim;
            };
        },
        data.source);
}

std::int64_t vocabularyOf(const DataSource& data)
{
    return std::visit(
        [](const auto& source) -> std::int64_t {
            if constexpr (requires { source.tokeniser; }) {
                return vocabularyOf(source.tokeniser);
            } else if constexpr (requires { source.vocabulary; }) {
                return source.vocabulary;
            } else {
                return 0;
            }
        },
        data.source);
}

VectorWidths vectorWidthsOf(const DataSource& data)
{
    return std::visit(
        [](const auto& source) -> VectorWidths {
            if constexpr (requires { source.degree; }) {
                return {source.dim, 1};
            } else if constexpr (requires { source.dim; }) {
                return {source.dim, source.dim};
            } else {
                return {};
            }
        },
        data.source);
}

} // namespace residua::projects
