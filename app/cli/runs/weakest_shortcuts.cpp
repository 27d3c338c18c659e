// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/weakest_shortcuts.h"

#include "engine/runs/results/effects.h"

#include <optional>

namespace residua::cli {

OptionSpec weakByOption(const std::string& of)
{
    return {"weak-by", OptionKind::Text, "MEASURE",
            of + ": weight, its size; effect, the rise of the loss; flop, that rise per FLOP (default: effect)"};
}

Result<projects::WeakBy> weakByFrom(const std::string& text)
{
    const std::optional<projects::WeakBy> by = projects::weakByNamed(text);
    return by ? Result<projects::WeakBy>(*by)
              : Error{"--weak-by", "got \"" + text + "\", expected weight, effect or flop"};
}

Result<projects::Pruning> weakestOf(const projects::Project& project, const engine::KnockoutReady& ready,
                                    projects::WeakBy by, std::int64_t count)
{
    return projects::weakest(project, engine::strengthsOf(ready), by, count);
}

} // namespace residua::cli
