// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

/// Puts temporary files into memory, where the tests need not wait for a disk to write what the programs flush. Does
/// nothing if TMPDIR is set, if there is little room, or if nothing could be started there.
void keepTemporaryFilesInMemory()
{
    constexpr const char* kFolder = "/dev/shm";
    constexpr std::uint64_t kRoom = std::uint64_t{4} << 30;
    struct statvfs found {};
    if (::access(kFolder, W_OK | X_OK) == 0 && ::statvfs(kFolder, &found) == 0 && (found.f_flag & ST_NOEXEC) == 0 &&
        found.f_bavail * found.f_frsize >= kRoom) {
        ::setenv("TMPDIR", kFolder, 0);
    }
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
    residua::tests::keepTemporaryFilesInMemory();
    // Qt Test takes the rest as if the unit were a program of its own.
    argv[1] = argv[0];
    return unit->second(argc - 1, argv + 1);
}
