// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"

#include <cstddef>
#include <random>

namespace residua::engine {
namespace {

constexpr std::size_t kDigits = 32;

} // namespace

std::string newIdentity()
{
    std::random_device device;
    std::uniform_int_distribution<int> digit(0, 15);
    std::string text;
    for (std::size_t i = 0; i < kDigits; ++i) {
        text += "0123456789abcdef"[digit(device)];
    }
    return text;
}

bool isIdentity(const std::string& text)
{
    return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

} // namespace residua::engine
