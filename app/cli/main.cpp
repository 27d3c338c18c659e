// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "engine/api/host_threads.h"

#include <string>
#include <vector>

int main(int argc, char** argv)
{
    residua::engine::restartWithShortSpins(argv);
    const std::vector<std::string> words(argv + 1, argv + argc);
    return static_cast<int>(residua::cli::runProgram(words));
}
