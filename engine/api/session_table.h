// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs see of the engine: a table of functions, the one symbol of a shared library of its own
// (libresidua_engine.so) that is opened at run time. LibTorch takes some half a second of the processor to load, so it
// comes with the first command to a session, and not to whoever asks for a version or completes a word; and a program
// whose LibTorch is missing or damaged starts and can say so.
#pragma once

#include "engine/api/session.h"

#include <cstddef>

namespace residua::engine {

inline constexpr int kSessionTableVersion = 1;
inline constexpr const char* kSessionTableSymbol = "residuaEngine";

/// Commands and events cross it whole, with their texts and lists: program and library are built together, with one C++
/// library and one heap. No exception crosses it.
struct SessionTable {
    using Opened = void;

    int version = kSessionTableVersion;
    std::size_t commandSize = sizeof(Command); ///< a library of other sources seldom has both sizes
    std::size_t eventSize = sizeof(Event);
    /// Session's constructor. The session is the caller's to close.
    Result<Opened*> (*make)(EventSink sink, int threads) noexcept = nullptr;
    void (*post)(Opened* session, Command command) noexcept = nullptr;
    void (*close)(Opened* session) noexcept = nullptr; ///< its destructor
};

} // namespace residua::engine
