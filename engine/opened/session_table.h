// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs see of the engine: a table of functions, given by the one function that a shared library of its own
// (libresidua_engine.so) exports, besides what the language makes one of each in a process, such as inline variables of
// headers. It is opened at run time. LibTorch takes some 0.5 s of the processor to load, so it comes with the first
// command to a session, and not to whoever asks for a version or completes a word; and a program whose LibTorch is
// missing or damaged starts and can say so.
#pragma once

#include "engine/api/session.h"

#include <cstddef>

namespace residua::engine {

inline constexpr int kSessionTableVersion = 2;
inline constexpr const char* kSessionTableSymbol = "residuaEngine";

/// The program's version and a hash of the headers that say what commands and events are; of whoever calls it, program
/// or library, its own.
[[nodiscard]] const char* buildIdentity() noexcept;

/// Commands and events cross it whole, with their texts and lists: program and library are built together, with one C++
/// library and one heap. No exception crosses it.
struct SessionTable {
    using Opened = void;

    int version = kSessionTableVersion; ///< of the table: of another, nothing else may be read
    const char* build = buildIdentity();
    std::size_t commandSize = sizeof(Command); ///< one made with other options of the compiler may have others
    std::size_t eventSize = sizeof(Event);
    /// Session's constructor. The session is the caller's to close.
    Result<Opened*> (*make)(EventSink sink, int threads) noexcept = nullptr;
    void (*post)(Opened* session, Command command) noexcept = nullptr;
    void (*close)(Opened* session) noexcept = nullptr; ///< its destructor
};

} // namespace residua::engine
