// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/wire/file_messages.h"

#include "engine/wire/values.h"

namespace residua::engine {
namespace {

template <class Message>
Frame framedWithBytes(const Message& message, std::string bytes)
{
    std::string none;
    return {encoded(message, none).dump(), std::move(bytes)};
}

template <class Message>
Result<WithBytes<Message>> readWithBytes(Frame frame)
{
    Result<Message> message = readMessage<Message>({std::move(frame.json), {}});
    return message ? Result(WithBytes<Message>{*std::move(message), std::move(frame.numbers)}) : message.error();
}

} // namespace

Frame frameOf(const FileRequest& request, std::string bytes)
{
    return framedWithBytes(request, std::move(bytes));
}

Frame frameOf(const FileAnswer& answer, std::string bytes)
{
    return framedWithBytes(answer, std::move(bytes));
}

Result<WithBytes<FileRequest>> fileRequestFrom(Frame frame)
{
    return readWithBytes<FileRequest>(std::move(frame));
}

Result<WithBytes<FileAnswer>> fileAnswerFrom(Frame frame)
{
    return readWithBytes<FileAnswer>(std::move(frame));
}

} // namespace residua::engine
