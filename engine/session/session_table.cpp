// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/opened/session_table.h"

#include "engine/runtime/failure.h"

#include <utility>

namespace residua::engine {
namespace {

Result<SessionTable::Opened*> makeSession(EventSink sink, int threads) noexcept
{
    Session* session = nullptr;
    if (const auto failure = attempt([&] { session = new Session(std::move(sink), threads); })) {
        return Error{"engine", failure->text};
    }
    return static_cast<SessionTable::Opened*>(session);
}

void postToSession(SessionTable::Opened* session, Command command) noexcept
{
    static_cast<Session*>(session)->post(std::move(command));
}

void closeSession(SessionTable::Opened* session) noexcept
{
    delete static_cast<Session*>(session);
}

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) const residua::engine::SessionTable* residuaEngine()
{
    using namespace residua::engine;
    static const SessionTable table{.make = &makeSession, .post = &postToSession, .close = &closeSession};
    return &table;
}
