// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace residua::engine {

/// Returns the bytes of text that may be held in memory: half of the free memory, because text is copied while it
/// grows.
[[nodiscard]] std::uint64_t mostTextInMemory();

/// Counts the text that a source holds in memory, over all its files, with a limit. Copies share the count. Any thread.
class TextMemory {
public:
    explicit TextMemory(std::uint64_t most = mostTextInMemory()) : m_state(std::make_shared<State>(most)) {}

    [[nodiscard]] std::uint64_t most() const { return m_state->most; }
    [[nodiscard]] std::uint64_t left() const;
    /// Returns the error that a text of `file` does not fit beside the text held already. `wayOn` is the remedy.
    [[nodiscard]] Error refusal(const std::filesystem::path& file, const std::string& wayOn) const;

private:
    friend class TextShare;
    struct State {
        explicit State(std::uint64_t bytes) : most(bytes) {}
        const std::uint64_t most;
        std::atomic<std::uint64_t> held = 0;
    };
    std::shared_ptr<State> m_state;
};

/// The bytes of a text, counted during the lifetime of this object.
class TextShare {
public:
    TextShare() = default; ///< counts nothing
    explicit TextShare(const TextMemory& memory) : m_state(memory.m_state) {}
    TextShare(TextShare&& other) noexcept : m_state(std::move(other.m_state)), m_bytes(std::exchange(other.m_bytes, 0))
    {
    }
    TextShare& operator=(TextShare&&) = delete;
    ~TextShare();

    /// Counts `bytes` more bytes; returns false without counting them if they exceed the limit.
    [[nodiscard]] bool grow(std::uint64_t bytes);

private:
    std::shared_ptr<TextMemory::State> m_state;
    std::uint64_t m_bytes = 0;
};

} // namespace residua::engine
