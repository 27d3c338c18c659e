// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/tensorboard.h"

#include "engine/base/files/content_hash.h"
#include "projects/base/text.h"

#include <array>
#include <chrono>
#include <cstring>

#include <unistd.h>

namespace residua::engine {
namespace {

// The parts of protocol buffers that the four messages below need: a field is a varint key (number << 3 | wire type)
// followed by its value.
enum class WireType : std::uint64_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

void putVarint(std::string& message, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        message += static_cast<char>(value | 0x80);
    }
    message += static_cast<char>(value);
}

void putKey(std::string& message, std::uint64_t number, WireType type)
{
    putVarint(message, number << 3 | static_cast<std::uint64_t>(type));
}

template <class T>
void putRaw(std::string& message, T value)
{
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    message.append(bytes.data(), bytes.size());
}

void putBytes(std::string& message, std::uint64_t number, std::string_view bytes)
{
    putKey(message, number, WireType::Bytes);
    putVarint(message, bytes.size());
    message += bytes;
}

/// Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
///         SessionLog session_log = 7; }
std::string eventAt(std::int64_t step)
{
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    std::string event;
    putKey(event, 1, WireType::Fixed64);
    putRaw(event, now.count());
    putKey(event, 2, WireType::Varint);
    putVarint(event, static_cast<std::uint64_t>(step));
    return event;
}

std::uint32_t masked(std::uint32_t crc)
{
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::filesystem::path freshName(const std::filesystem::path& directory)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    // Replaces the host's name, which the file's name would reveal to others.
    const std::string name =
        "events.out.tfevents." + std::to_string(seconds) + ".residua." + std::to_string(::getpid());
    return freePath(directory / name, ".");
}

} // namespace

std::string tensorBoardRecord(std::string_view event)
{
    std::string record;
    putRaw(record, static_cast<std::uint64_t>(event.size()));
    putRaw(record, masked(crc32c(asBytes(record))));
    record += event;
    putRaw(record, masked(crc32c(asBytes(event))));
    return record;
}

Result<TensorBoardWriter> TensorBoardWriter::create(const std::filesystem::path& directory,
                                                    std::optional<std::int64_t> purgeFrom)
{
    auto file = RESIDUA_TRY(OutputFile::create(freshName(directory)));
    TensorBoardWriter writer(std::move(file));
    std::string version = eventAt(0);
    putBytes(version, 3, "brain.Event:2");
    writer.m_buffer += tensorBoardRecord(version);
    if (purgeFrom) {
        // SessionLog { SessionStatus status = 1; } with START = 1.
        std::string start;
        putKey(start, 1, WireType::Varint);
        putVarint(start, 1);
        std::string event = eventAt(*purgeFrom);
        putBytes(event, 7, start);
        writer.m_buffer += tensorBoardRecord(event);
    }
    RESIDUA_TRY(writer.flush());
    return writer;
}

void TensorBoardWriter::scalar(std::string_view name, std::int64_t step, double value)
{
    // Summary { repeated Value value = 1; }, Value { string tag = 1; float simple_value = 2; }
    std::string entry;
    putBytes(entry, 1, name);
    putKey(entry, 2, WireType::Fixed32);
    putRaw(entry, static_cast<float>(value));
    std::string summary;
    putBytes(summary, 1, entry);
    std::string event = eventAt(step);
    putBytes(event, 5, summary);
    m_buffer += tensorBoardRecord(event);
}

Status TensorBoardWriter::flush()
{
    auto status = m_file.write(asBytes(m_buffer));
    if (status) {
        m_buffer.clear();
    }
    return status;
}

} // namespace residua::engine
