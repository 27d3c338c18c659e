// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/byte_source.h"

#include <cstring>
#include <utility>

namespace residua::engine {
namespace {

class FileBytes : public ByteSource {
public:
    explicit FileBytes(InputFile file) : m_file(std::move(file)) {}
    std::uint64_t size() const override { return m_file.size(); }
    Status read(std::uint64_t offset, std::span<std::byte> out) const override { return m_file.read(offset, out); }

private:
    InputFile m_file;
};

class MemoryBytes : public ByteSource {
public:
    MemoryBytes(std::string bytes, TextShare share) : m_bytes(std::move(bytes)), m_share(std::move(share)) {}
    std::uint64_t size() const override { return m_bytes.size(); }
    Status read(std::uint64_t offset, std::span<std::byte> out) const override
    {
        std::memcpy(out.data(), m_bytes.data() + offset, out.size());
        return Done{};
    }

private:
    std::string m_bytes;
    TextShare m_share;
};

} // namespace

Bytes bytesOfFile(InputFile file)
{
    return std::make_shared<const FileBytes>(std::move(file));
}

Bytes bytesInMemory(std::string bytes, TextShare share)
{
    return std::make_shared<const MemoryBytes>(std::move(bytes), std::move(share));
}

} // namespace residua::engine
