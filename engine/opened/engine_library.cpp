// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/opened/engine_library.h"

#include "engine/host/own_library.h"

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

/// Returns how a library's table differs from that of this program's build; empty if they are equal.
std::string differenceOf(const SessionTable* table)
{
    const SessionTable ours;
    const auto differs = [](const std::string& got, const std::string& expected) {
        return got + ", expected " + expected;
    };
    if (table == nullptr) {
        return std::string("it has no function ") + kSessionTableSymbol;
    }
    if (table->version != ours.version) {
        return differs("its table has the version " + std::to_string(table->version), std::to_string(ours.version));
    }
    if (std::string_view(table->build) != ours.build) {
        return differs(std::string("it is of the build ") + table->build, ours.build);
    }
    const auto sizes = [](const SessionTable& of) {
        return std::to_string(of.commandSize) + " and " + std::to_string(of.eventSize);
    };
    return sizes(*table) == sizes(ours)
               ? std::string()
               : differs("its commands and events have " + sizes(*table) + " bytes", sizes(ours));
}

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
    // Opens it in the program's scope, as if it were linked. LibTorch's CUDA part, which is opened by name later, then
    // shares the variables of the part that is open already. Resolves all symbols now, so that a different LibTorch is
    // an error here instead of a crash later.
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
    if (const std::string difference = differenceOf(table); !difference.empty()) {
        return Error{path.string(),
                     "is not the engine of this version of the program (" + difference + "): install both again"};
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
