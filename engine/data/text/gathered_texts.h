// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/text/byte_source.h"
#include "engine/data/text/text_memory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::engine {

/// Collects texts, each ended by a newline, and returns them as documents in memory.
class GatheredTexts {
public:
    explicit GatheredTexts(const TextMemory& memory) : m_memory(memory), m_share(memory) {}

    /// Adds a text. Returns false, without adding it, if it exceeds the memory that is left.
    [[nodiscard]] bool add(std::string_view text)
    {
        if (!m_share.grow(text.size() + 1 + sizeof(ByteRange))) {
            return false;
        }
        m_texts += text;
        m_texts += '\n';
        m_ends.push_back(m_texts.size());
        return true;
    }
    [[nodiscard]] const TextMemory& memory() const { return m_memory; }

    [[nodiscard]] std::size_t count() const { return m_ends.size(); }
    [[nodiscard]] std::size_t bytes() const { return m_texts.size(); }
    /// True if no text has a character.
    [[nodiscard]] bool allEmpty() const { return m_texts.size() == m_ends.size(); }

    /// Returns every text as a separate document, in order, and leaves this empty.
    [[nodiscard]] std::vector<ByteRange> take()
    {
        const Bytes texts = bytesInMemory(std::exchange(m_texts, {}), std::move(m_share));
        std::vector<ByteRange> documents;
        documents.reserve(m_ends.size());
        std::uint64_t begin = 0;
        for (const std::uint64_t end : std::exchange(m_ends, {})) {
            documents.push_back({texts, begin, end - begin});
            begin = end;
        }
        return documents;
    }

private:
    TextMemory m_memory;
    TextShare m_share;
    std::string m_texts;
    std::vector<std::uint64_t> m_ends;
};

} // namespace residua::engine
