// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace residua::engine {

Status refuseLfsPointer(const InputFile& file, const std::string& what)
{
    constexpr std::string_view kBegin = "version https://git-lfs";
    std::string head(std::min<std::uint64_t>(file.size(), kBegin.size()), '\0');
    RESIDUA_TRY(file.read(0, std::as_writable_bytes(std::span(head))));
    return head != kBegin ? Status(Done{})
                          : Error{file.path().string(),
                                  "is a pointer of Git LFS and not " + what + " itself: fetch that with git lfs pull"};
}

} // namespace residua::engine
