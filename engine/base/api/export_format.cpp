// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/export_format.h"

#include "projects/base/text.h"

namespace residua::engine {

std::string weightTypeNames()
{
    return choiceText(kWeightTypes);
}

} // namespace residua::engine
