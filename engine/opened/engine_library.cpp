// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/opened/engine_library.h"

#include "engine/files/own_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace residua::engine {
namespace {

constexpr const char* kLibrary = "libresidua_engine.so";
constexpr const char* kVariable = "RESIDUA_ENGINE"; ///< names the library in place of the one beside the program
constexpr const char* kWithout = "without which nothing is trained or computed";

Result<const SessionTable*> openTable()
{
    const std::filesystem::path path = findOwnLibrary(kLibrary, kVariable, "engine");
    if (path.empty()) {
        const char* const named = std::getenv(kVariable);
        const std::string missing = named != nullptr ? std::string("is not where ") + kVariable + " says, at " + named +
                                                           ": unset that variable, or"
                                                     : "is not installed beside the program:";
        return Error{kLibrary, std::string("the engine, ") + kWithout + ", " + missing + " install it again"};
    }
    // Among the program's names, as if it were linked: the part of LibTorch for CUDA, which is opened by name when it
    // is wanted, then shares the variables of the part that is open already. All names at once: with another LibTorch
    // than ours that is an error here, and no crash later.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        const char* const why = dlerror();
        return Error{path.string(), std::string("the engine, ") + kWithout + ", does not load (" +
                                        (why != nullptr ? why : "no reason given") +
                                        "): residua-setup, or in a checkout packaging/setup.sh, installs LibTorch"};
    }
    using TableFunction = const SessionTable* (*)();
    const auto tableOf = reinterpret_cast<TableFunction>(dlsym(library, kSessionTableSymbol));
    const SessionTable* const table = tableOf != nullptr ? tableOf() : nullptr;
    const SessionTable ours;
    if (table == nullptr || table->version != ours.version || std::string_view(table->build) != ours.build ||
        table->commandSize != ours.commandSize || table->eventSize != ours.eventSize) {
        return Error{path.string(), "is not the engine of this version of the program: install both again"};
    }
    return table;
}

} // namespace

const Result<const SessionTable*>& openEngine()
{
    static const Result<const SessionTable*> table = openTable();
    return table;
}

} // namespace residua::engine
