// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/process.h"
#include "engine/base/api/environment.h"

#include <string>
#include <vector>

int main(int argc, char** argv)
{
    residua::cli::prepareProcess(); // ignored signals stay ignored when the program starts again
    residua::engine::startPrepared(argv);
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return static_cast<int>(residua::cli::runProgram(words));
}
