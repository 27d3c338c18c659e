// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// SHA-256 by Nettle, for contents that cross between machines.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&& other) noexcept;
    Sha256& operator=(Sha256&& other) noexcept;

    void add(std::span<const std::byte> bytes);
    /// Ends the hash and returns it as 64 hexadecimal digits. Must be called once.
    [[nodiscard]] std::string text();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// The number of digits of such a hash.
inline constexpr std::size_t kSha256Digits = 64;
/// True if the text is 64 hexadecimal digits, the letters in lower case.
[[nodiscard]] bool isSha256(std::string_view text);

} // namespace residua::engine
