// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/weakest_shortcuts.h"

#include <optional>
#include <vector>

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
    std::vector<projects::ShortcutStrength> strengths;
    for (const engine::KnockoutRow& row : ready.rows) {
        strengths.push_back({{row.first, row.reader}, row.weight, row.rise});
    }
    return projects::weakest(project, strengths, by, count);
}

} // namespace residua::cli
