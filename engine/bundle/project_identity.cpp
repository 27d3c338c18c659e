// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bundle/project_identity.h"

#include "projects/base/whole_file.h"

#include <algorithm>
#include <random>

namespace residua::engine {
namespace {

constexpr std::size_t kDigits = 32;

std::string drawn()
{
    std::random_device device;
    std::uniform_int_distribution<int> digit(0, 15);
    std::string text;
    for (std::size_t i = 0; i < kDigits; ++i) {
        text += "0123456789abcdef"[digit(device)];
    }
    return text;
}

} // namespace

bool isIdentity(const std::string& text)
{
    return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string identityOf(const std::filesystem::path& directory)
{
    const auto text = readFile(directory / kIdentityFile);
    const std::string identity = text ? text->substr(0, text->find('\n')) : std::string();
    return isIdentity(identity) ? identity : std::string();
}

Result<std::string> ensureIdentity(const std::filesystem::path& directory)
{
    std::string identity = identityOf(directory);
    if (identity.empty()) {
        identity = drawn();
        if (const Status written = writeFileAtomically(directory / kIdentityFile, identity + "\n"); !written) {
            return written.error();
        }
    }
    return identity;
}

} // namespace residua::engine
