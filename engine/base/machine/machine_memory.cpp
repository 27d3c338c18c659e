// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace residua::engine {
namespace {

/// Returns a field of /proc/meminfo in bytes.
std::int64_t memoryField(const std::string& name)
{
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::string unit;
    std::int64_t kibibytes = 0;
    while (file >> key >> kibibytes) {
        std::getline(file, unit);
        if (key == name + ":") {
            return kibibytes * 1024;
        }
    }
    return 0;
}

std::int64_t numberIn(const char* path, std::int64_t otherwise)
{
    std::ifstream file(path);
    std::int64_t value = 0;
    return file >> value ? value : otherwise; // "max" is not a number
}

} // namespace

MachineMemory machineMemory()
{
    MachineMemory memory{memoryField("MemAvailable"), memoryField("MemTotal")};
    const std::int64_t limit = numberIn("/sys/fs/cgroup/memory.max", std::numeric_limits<std::int64_t>::max());
    if (limit < memory.totalBytes) {
        memory.totalBytes = limit;
        memory.freeBytes =
            std::clamp<std::int64_t>(limit - numberIn("/sys/fs/cgroup/memory.current", 0), 0, memory.freeBytes);
    }
    rlimit addresses{}; // ulimit -v
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur < static_cast<rlim_t>(memory.totalBytes)) {
        const auto most = static_cast<std::int64_t>(addresses.rlim_cur);
        const std::int64_t used = numberIn("/proc/self/statm", 0) * sysconf(_SC_PAGESIZE);
        memory.totalBytes = most;
        memory.freeBytes = std::clamp<std::int64_t>(most - used, 0, memory.freeBytes);
    }
    return memory;
}

} // namespace residua::engine
