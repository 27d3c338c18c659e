// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/data_argument.h"

#include "projects/schema/fields.h"

#include <algorithm>
#include <utility>

namespace residua::cli {

OptionSpec fieldOption(std::string_view pointer, std::string name, std::string value, std::string help)
{
    const projects::FieldEntry entry = projects::fieldOfSchema(pointer).value();
    const projects::Range& range = entry.field.more.range;
    return {.name = std::move(name),
            .kind = entry.type == projects::FieldType::Integer ? OptionKind::Integer : OptionKind::Real,
            .value = std::move(value),
            .help = std::move(help),
            .minimum = std::max(range.least, -kMostInteger),
            .maximum = std::min(range.most, kMostInteger)};
}

} // namespace residua::cli
