// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace residua::tests {
namespace {

std::map<std::string, RunUnit>& units()
{
    static std::map<std::string, RunUnit> table;
    return table;
}

} // namespace

UnitEntry::UnitEntry(const char* sourceFile, RunUnit run)
{
    units()[std::filesystem::path(sourceFile).stem().string()] = run;
}

} // namespace residua::tests

int main(int argc, char** argv)
{
    const auto& units = residua::tests::units();
    const auto unit = argc > 1 ? units.find(argv[1]) : units.end();
    if (unit == units.end()) {
        std::fprintf(stderr, "usage: %s UNIT [ARGUMENTS]; the units are\n", argv[0]);
        for (const auto& [name, run] : units) {
            std::fprintf(stderr, "  %s\n", name.c_str());
        }
        return 2;
    }
    // Qt Test takes the rest as if the unit were a program of its own.
    argv[1] = argv[0];
    return unit->second(argc - 1, argv + 1);
}
