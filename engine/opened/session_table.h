// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs see of the engine: a table of functions. The engine is a shared library of its own
// (libresidua_engine.so), and the function that returns the table is the only one that it exports for use. (It also
// exports what C++ shares between all libraries of a process, such as the inline variables of headers.) The library is
// opened at run time. LibTorch takes some 0.5 s of the processor to load, so it comes with the first command to a
// session, and not to whoever asks for a version or completes a word; and a program whose LibTorch is missing or
// damaged starts and can say so.
#pragma once

#include "engine/api/session.h"

#include <cstddef>

namespace residua::engine {

inline constexpr int kSessionTableVersion = 2;
inline constexpr const char* kSessionTableSymbol = "residuaEngine";

/// The version and a hash of the headers that define commands and events, as the caller was built with them: program
/// and library each have a function of this name, and compare what the two return.
[[nodiscard]] const char* buildIdentity() noexcept;

/// Commands and events are handed over as C++ values, with their texts and lists: program and library are built
/// together, with one C++ library and one heap. No exception crosses it.
struct SessionTable {
    using Opened = void;

    int version = kSessionTableVersion; ///< of this struct; where it differs nothing else may be read
    const char* build = buildIdentity();
    std::size_t commandSize = sizeof(Command); ///< it differs where the compiler's options did
    std::size_t eventSize = sizeof(Event);
    /// Session's constructor. The session is the caller's to close.
    Result<Opened*> (*make)(EventSink sink, int threads) noexcept = nullptr;
    void (*post)(Opened* session, Command command) noexcept = nullptr;
    void (*close)(Opened* session) noexcept = nullptr; ///< its destructor
};

} // namespace residua::engine
