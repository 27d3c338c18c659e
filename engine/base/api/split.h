// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace residua::engine {

/// The parts of the data.
enum class Split { Train, Validation, Test };

struct SplitName {
    std::string_view word;  ///< used on the command line
    std::string_view title; ///< used within a sentence
};
/// Indexed by the enumerators.
inline constexpr SplitName kSplitNames[] = {{"train", "training"}, {"validation", "validation"}, {"test", "test"}};
inline constexpr int kSplits = std::size(kSplitNames);

[[nodiscard]] constexpr const SplitName& nameOf(Split split)
{
    return kSplitNames[static_cast<std::size_t>(split)];
}

} // namespace residua::engine
