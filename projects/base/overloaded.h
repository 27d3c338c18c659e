// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua {

/// Functions as one, for std::visit: the overload that fits the alternative is called.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

} // namespace residua
