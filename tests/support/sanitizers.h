// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::tests {

/// True if the program has the address or the thread sanitizer, which maps more memory than any limit on the address
/// space allows and keeps memory of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline constexpr const char* kSanitizedMemory = "a sanitizer's own memory exceeds the limit that this case sets";

} // namespace residua::tests
