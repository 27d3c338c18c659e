// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/manifest.h"

#include "engine/base/files/content_hash.h"
#include "projects/base/whole_file.h"

namespace residua::engine {
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
        identity = newIdentity();
        RESIDUA_TRY(writeFileAtomically(directory / kIdentityFile, identity + "\n"));
    }
    return identity;
}

} // namespace residua::engine
