// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/characters.h"

namespace residua::engine {

Metaspace readMetaspace(const Part& part)
{
    using Before = Metaspace::Before;
    // Files of earlier versions have a flag instead of the scheme.
    const std::string scheme = part.text("prepend_scheme", part.flag("add_prefix_space", true) ? "always" : "never");
    const Before before = scheme == "first" ? Before::First : scheme == "never" ? Before::Never : Before::Always;
    if (before == Before::Always && scheme != "always") {
        part.part("prepend_scheme").fail("\"" + scheme + "\" is unknown, expected always, first or never");
    }
    return {part.character("replacement", "\u2581"), before};
}

} // namespace residua::engine
