// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/text_memory.h"

#include "engine/base/machine/machine.h"
#include "projects/base/text.h"

#include <algorithm>
#include <limits>

namespace residua::engine {

std::uint64_t mostTextInMemory()
{
    const MachineMemory memory = machineMemory();
    return memory.totalBytes > 0 ? static_cast<std::uint64_t>(std::max<std::int64_t>(memory.freeBytes, 0)) / 2
                                 : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t TextMemory::left() const
{
    return m_state->most - std::min(m_state->most, m_state->held.load());
}

Error TextMemory::refusal(const std::filesystem::path& file, const std::string& wayOn) const
{
    const auto text = [](std::uint64_t bytes) { return bytesText(static_cast<double>(bytes)); };
    return Error{file.string(), "does not fit in memory: this source may hold " + text(most()) +
                                    " of text there, half of what was free, and has reached " +
                                    text(m_state->held.load()) + " within this file; " + wayOn};
}

TextShare::~TextShare()
{
    if (m_state) {
        m_state->held -= m_bytes;
    }
}

bool TextShare::grow(std::uint64_t bytes)
{
    if (!m_state) {
        return true;
    }
    const std::uint64_t before = m_state->held.fetch_add(bytes);
    if (before > m_state->most || bytes > m_state->most - before) {
        m_state->held -= bytes;
        return false;
    }
    m_bytes += bytes;
    return true;
}

} // namespace residua::engine
