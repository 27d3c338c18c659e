// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/data_source.h"

#include <variant>

namespace residua::projects {

namespace {

/// `Found` is Tokeniser, const if the source is const.
template <class Found>
Found* tokeniserIn(auto& source)
{
    return std::visit(
        [](auto& data) -> Found* {
            if constexpr (requires { data.tokeniser; }) {
                return &data.tokeniser;
            } else {
                return nullptr;
            }
        },
        source);
}

/// `Found` is std::int64_t, const if the source is const.
template <class Found>
Found* classesIn(auto& source)
{
    return std::visit(
        [](auto& data) -> Found* {
            if constexpr (requires { data.classes; }) {
                return &data.classes;
            } else {
                return nullptr;
            }
        },
        source);
}

} // namespace

const Tokeniser* tokeniserOf(const Source& source)
{
    return tokeniserIn<const Tokeniser>(source);
}

Tokeniser* tokeniserOf(Source& source)
{
    return tokeniserIn<Tokeniser>(source);
}

const std::int64_t* classCountOf(const Source& source)
{
    return classesIn<const std::int64_t>(source);
}

std::int64_t* classCountOf(Source& source)
{
    return classesIn<std::int64_t>(source);
}

} // namespace residua::projects
