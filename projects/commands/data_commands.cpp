// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/edit/edit.h"
#include "projects/model/data_source.h"

#include <string>
#include <utility>

namespace residua::projects {

Result<Edit> useTokeniser(const Project& project, const Tokeniser& tokeniser)
{
    if (tokeniserOf(project.data.source) == nullptr) {
        return Error{"data", "is neither a text nor JSON Lines, so that no tokeniser cuts it: choose such data first"};
    }
    const std::pair<const char*, FieldScalar> fields[] = {{"kind", static_cast<std::int64_t>(tokeniser.kind)},
                                                          {"model", tokeniser.model},
                                                          {"vocabulary", tokeniser.vocabulary}};
    EditGroup group{"Use another tokeniser", {}};
    for (const auto& [key, value] : fields) {
        Edit edit = RESIDUA_TRY(fieldEdit(project, std::string("/data/source/tokeniser/") + key, value));
        group.edits.push_back(std::move(edit));
    }
    return Edit{std::move(group)};
}

} // namespace residua::projects
