// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/wire/messages.h"

#include "engine/wire/values.h"

namespace residua::engine {
namespace {

template <class Message>
Frame framed(const Message& message)
{
    Frame frame;
    frame.json = encoded(message, frame.numbers).dump();
    return frame;
}

template <class Message>
Result<Message> readFrom(const Frame& frame)
{
    try {
        Message message;
        WireReader(frame.numbers).read(json::parse(frame.json), message);
        return message;
    } catch (const json::exception& error) {
        return Error{"engine's connection", std::string("carries a message that cannot be read: ") + error.what()};
    } catch (const WireError& error) {
        return Error{"engine's connection", std::string("carries a message that cannot be read: ") + error.what()};
    }
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
    return readFrom<Hello>(frame);
}

Result<Command> commandFrom(const Frame& frame)
{
    return readFrom<Command>(frame);
}

Result<Event> eventFrom(const Frame& frame)
{
    return readFrom<Event>(frame);
}

} // namespace residua::engine
