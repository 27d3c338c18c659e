// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/link/wire/frame.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// The work of an engine on one connection.
enum class Serves {
    Session,     ///< commands
    PlaceFolder, ///< commands that write below Hello::folder only, which is created if it does not exist
    Files,       ///< the transfer of files into and out of that folder (file_messages.h)
};

/// The first message of each side.
struct Hello {
    std::string build;               ///< buildIdentity(); a side refuses the other if they differ
    int threads = 0;                 ///< from the program: Session's argument
    std::filesystem::path folder;    ///< from the program: where its relative paths begin; not for a background engine
    std::string refusal = {};        ///< from the engine: why it does not serve this program; empty: it does
    Serves serves = Serves::Session; ///< from the program
    bool operator==(const Hello&) const = default;
};

/// Returns the version, and a hash of the headers that define what crosses between program and engine.
[[nodiscard]] const char* buildIdentity() noexcept;

/// Conversions of messages. Reading does not change or run anything; the error says what a frame is instead. Any
/// thread.
[[nodiscard]] Frame frameOf(const Hello& hello);
[[nodiscard]] Frame frameOf(const Command& command);
[[nodiscard]] Frame frameOf(const Event& event);
[[nodiscard]] Result<Hello> helloFrom(const Frame& frame);
[[nodiscard]] Result<Command> commandFrom(const Frame& frame);
[[nodiscard]] Result<Event> eventFrom(const Frame& frame);

} // namespace residua::engine
