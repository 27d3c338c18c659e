// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua {

/// Combines functions into one overload set, for std::visit.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

} // namespace residua
