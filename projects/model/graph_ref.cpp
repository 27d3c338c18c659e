// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/graph_ref.h"

namespace residua::projects {
namespace {

constexpr std::string_view kStem = "stem";
constexpr std::string_view kHead = "head";
constexpr std::string_view kBlockPrefix = "block:";

} // namespace

std::string textOf(const GraphRef& ref)
{
    if (ref.isBlock()) {
        return std::string(kBlockPrefix) + ref.blockName();
    }
    return std::string(ref.isStem() ? kStem : ref.isHead() ? kHead : "");
}

std::optional<GraphRef> graphRefFrom(std::string_view text)
{
    if (text == kStem) {
        return GraphRef::stem();
    }
    if (text == kHead) {
        return GraphRef::head();
    }
    if (text.starts_with(kBlockPrefix)) {
        return GraphRef::block(std::string(text.substr(kBlockPrefix.size())));
    }
    return std::nullopt;
}

} // namespace residua::projects
