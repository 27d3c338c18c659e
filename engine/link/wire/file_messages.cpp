// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/wire/file_messages.h"

#include "engine/link/wire/values.h"
#include "projects/base/text.h"

#include <string_view>

namespace residua::engine {
namespace {

/// A list is the parts of its items, each with a zero byte after it. As JSON it would be longer than kMostJsonBytes for
/// a project of many files.
void append(std::string& bytes, std::string_view part)
{
    bytes += part;
    bytes += '\0';
}

void append(std::string& bytes, const FileOffer& offer)
{
    append(bytes, offer.hash);
    append(bytes, std::to_string(offer.bytes));
    append(bytes, offer.path);
}

template <class Item>
std::string listBytes(const std::vector<Item>& list)
{
    std::string bytes;
    for (const Item& item : list) {
        append(bytes, item);
    }
    return bytes;
}

bool take(std::string_view& bytes, std::string& part)
{
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) {
        return false;
    }
    part = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return true;
}

bool take(std::string_view& bytes, FileOffer& offer)
{
    std::string size;
    if (!take(bytes, offer.hash) || !take(bytes, size) || !take(bytes, offer.path)) {
        return false;
    }
    const auto number = numberFrom<std::int64_t>(size);
    offer.bytes = number.value_or(0);
    return number.has_value();
}

/// Takes a message's list out of its bytes.
template <class Item>
Status takeList(std::vector<Item>& list, std::string& bytes)
{
    list.clear();
    for (std::string_view rest = bytes; !rest.empty();) {
        if (list.size() == kMostStoredFiles) {
            return Error{"engine's connection",
                         "carries a list of more than " + std::to_string(kMostStoredFiles) + " files"};
        }
        if (!take(rest, list.emplace_back())) {
            return Error{"engine's connection", "carries a list of files that cannot be read"};
        }
    }
    bytes.clear();
    return Done{};
}

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
    if (const auto* const offer = std::get_if<OfferFiles>(&request)) {
        return framedWithBytes(FileRequest(OfferFiles{}), listBytes(offer->files));
    }
    return framedWithBytes(request, std::move(bytes));
}

Frame frameOf(const FileAnswer& answer, std::string bytes)
{
    if (const auto* const lacking = std::get_if<FilesLacking>(&answer)) {
        return framedWithBytes(FileAnswer(FilesLacking{{}, lacking->project}), listBytes(lacking->hashes));
    }
    return framedWithBytes(answer, std::move(bytes));
}

Result<WithBytes<FileRequest>> fileRequestFrom(Frame frame)
{
    Result<WithBytes<FileRequest>> read = readWithBytes<FileRequest>(std::move(frame));
    auto* const offer = read ? std::get_if<OfferFiles>(&read->message) : nullptr;
    const Status listed = offer != nullptr ? takeList(offer->files, read->bytes) : Done{};
    return listed ? std::move(read) : listed.error();
}

Result<WithBytes<FileAnswer>> fileAnswerFrom(Frame frame)
{
    Result<WithBytes<FileAnswer>> read = readWithBytes<FileAnswer>(std::move(frame));
    auto* const lacking = read ? std::get_if<FilesLacking>(&read->message) : nullptr;
    const Status listed = lacking != nullptr ? takeList(lacking->hashes, read->bytes) : Done{};
    return listed ? std::move(read) : listed.error();
}

} // namespace residua::engine
