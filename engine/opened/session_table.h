// SPDX-License-Identifier: GPL-3.0-or-later
// The programs' interface to the engine: a table of functions. The engine is a shared library (libresidua_engine.so),
// and the function that returns the table is the only one that it exports for use. (It also exports what C++ shares
// between all libraries of a process, such as the inline variables of headers.) The library is opened at run time.
// LibTorch takes some 0.5 s to load, so it is opened with a session's first command. Commands such as printing a
// version or completing a word do not need it. A program whose LibTorch is missing or damaged starts and can report the
// error.
#pragma once

#include "engine/api/session.h"

#include <cstddef>

namespace residua::engine {

inline constexpr int kSessionTableVersion = 2;
inline constexpr const char* kSessionTableSymbol = "residuaEngine";

/// Returns the version and a hash of the headers that define commands and events, as the caller was built with them.
/// Program and library each have a function of this name, and compare the results.
[[nodiscard]] const char* buildIdentity() noexcept;

/// Commands and events are passed as C++ values with their texts and lists: program and library are built together,
/// with one C++ library and one heap. No exception crosses this interface.
struct SessionTable {
    using Opened = void;

    int version = kSessionTableVersion; ///< of this struct; if it differs, no other member may be read
    const char* build = buildIdentity();
    std::size_t commandSize = sizeof(Command); ///< differs if the compiler's options did
    std::size_t eventSize = sizeof(Event);
    /// Calls Session's constructor. The caller must close the session.
    Result<Opened*> (*make)(EventSink sink, int threads) noexcept = nullptr;
    void (*post)(Opened* session, Command command) noexcept = nullptr;
    void (*close)(Opened* session) noexcept = nullptr; ///< calls Session's destructor
};

} // namespace residua::engine
