// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

namespace residua::cli {

/// The options beside --data. --mix: a text of a mixture with its weight, any number of times. --field: the key of JSON
/// Lines.
[[nodiscard]] OptionSpec mixOption();
[[nodiscard]] OptionSpec fieldOption();
/// Whether --data, --mix or --field is given.
[[nodiscard]] bool namesData(const Arguments& arguments);
/// What --data names: ready-made tokens (.bin), JSON Lines (.jsonl) or text, by the end of its name, or of those in a
/// folder. What each --mix names, of a mixture, with its weight. Paths are absolute. --field is the key of all of it
/// that is JSON Lines.
[[nodiscard]] Result<projects::Source> dataSource(const Arguments& arguments);

} // namespace residua::cli
