// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/wire/messages.h"

#include "engine/link/wire/values.h"

namespace residua::engine {
namespace {

template <class Message>
Frame framed(const Message& message)
{
    Frame frame;
    frame.json = encoded(message, frame.numbers).dump();
    return frame;
}

} // namespace

Frame frameOf(const Hello& hello)
{
    return framed(hello);
}

Frame frameOf(const Command& command)
{
    return framed(command);
}

Frame frameOf(const Event& event)
{
    return framed(event);
}

Result<Hello> helloFrom(const Frame& frame)
{
    return readMessage<Hello>(frame);
}

Result<Command> commandFrom(const Frame& frame)
{
    return readMessage<Command>(frame);
}

Result<Event> eventFrom(const Frame& frame)
{
    return readMessage<Event>(frame);
}

} // namespace residua::engine
