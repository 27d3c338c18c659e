// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/byte_source.h"
#include "engine/text/text_memory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::engine {

/// Texts on their way to documents in memory, each ended by a newline.
class GatheredTexts {
public:
    explicit GatheredTexts(const TextMemory& memory) : m_memory(memory), m_share(memory) {}

    /// False, and the text is left out, where it does not fit in memory besides what is held.
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
    /// Whether there is no character in any.
    [[nodiscard]] bool allEmpty() const { return m_texts.size() == m_ends.size(); }

    /// Every text as a document of its own, in order; none is left here.
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
