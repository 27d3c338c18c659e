// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <tuple>
#include <vector>

namespace residua::engine {

std::filesystem::path userCacheFolder()
{
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const bool isCache = cache != nullptr && *cache == '/'; // the standard says that a relative path must be ignored
    const bool isHome = home != nullptr && *home == '/';
    if (!isCache && !isHome) {
        return {};
    }
    return (isCache ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache") / "residua";
}

UserCache userCache(const char* name, const CacheLimit& limit)
{
    const std::filesystem::path root = userCacheFolder();
    UserCache user{root.empty() ? root : root / name, limit.bytes()};
    const char* const said = std::getenv(limit.variable);
    if (said == nullptr) {
        return user;
    }
    constexpr std::uint64_t kMostMib = std::uint64_t{1} << 40U;
    const auto mib = numberFrom<std::uint64_t>(said);
    if (!mib || *mib > kMostMib) {
        user.fault = std::string(limit.variable) + ": got \"" + std::string(said).substr(0, 40) +
                     "\", expected a whole number of MiB; up to " + std::to_string(limit.mebibytes) + " are kept";
        return user;
    }
    user.mostBytes = *mib << 20U;
    if (*mib == 0) {
        user.folder.clear();
    }
    return user;
}

void trimCache(const std::filesystem::path& folder, const std::string& ending, std::uint64_t mostBytes)
{
    struct Kept {
        std::filesystem::path path;
        std::filesystem::file_time_type used;
        std::uint64_t bytes = 0;
    };
    std::vector<Kept> all;
    std::uint64_t sum = 0;
    std::error_code failed; // another process may trim too, so a file that is gone is not an error
    std::filesystem::directory_iterator entries(folder, failed);
    for (; !failed && entries != std::filesystem::directory_iterator(); entries.increment(failed)) {
        std::error_code gone;
        // The file of a process killed while writing has a suffix after the extension.
        const bool ours = entries->path().filename().string().find(ending) != std::string::npos;
        if (!ours || !entries->is_regular_file(gone) || entries->is_symlink(gone)) {
            continue;
        }
        Kept kept{entries->path(), entries->last_write_time(gone), 0};
        const std::uintmax_t bytes = entries->file_size(gone);
        if (!gone) {
            kept.bytes = bytes;
            sum += kept.bytes;
            all.push_back(std::move(kept));
        }
    }
    std::ranges::sort(all, {}, [](const Kept& kept) { return std::tie(kept.used, kept.path); });
    for (std::size_t i = 0; i < all.size() && sum > mostBytes; ++i) {
        if (std::filesystem::remove(all[i].path, failed)) {
            sum -= all[i].bytes;
        }
    }
}

} // namespace residua::engine
