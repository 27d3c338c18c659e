// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"

#include <dlfcn.h>

#include <cstdlib>

namespace residua::engine {

std::filesystem::path findOwnLibrary(const std::string& file, const char* environment, const std::string& folder)
{
    std::error_code ignored;
    if (const char* const named = std::getenv(environment)) {
        return std::filesystem::exists(named, ignored) ? named : std::filesystem::path();
    }
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const std::string& place :
         {std::string("."), std::string("../lib/residua"), std::string("../lib"), "../" + folder, "../../" + folder}) {
        const std::filesystem::path path = program / place / file;
        if (std::filesystem::exists(path, ignored)) {
            return path;
        }
    }
    return {};
}

Result<void*> openLibrary(const std::filesystem::path& library, SymbolScope scope)
{
#ifdef RESIDUA_SANITIZED
    constexpr int kOwn = 0;
#else
    constexpr int kOwn = RTLD_DEEPBIND;
#endif
    void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | (scope == SymbolScope::Own ? kOwn : 0));
    if (opened == nullptr) {
        const char* const why = dlerror();
        return Error{{}, why != nullptr ? why : "no reason given"};
    }
    return opened;
}

} // namespace residua::engine
