// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/sweep.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
inline constexpr bool kInline<SweepValue> = true;
template <>
inline constexpr std::size_t kMostOf<SweepValue> = kMaxSweepMembers; ///< of one axis
template <>
inline constexpr std::size_t kMostOf<Sweep> = 256;
template <>
struct Fields<SweepValue> {
    static constexpr void visit(auto&& v)
    {
        v("label", &SweepValue::label);
        v({"value", "", Need::Required}, &SweepValue::value);
    }
};
template <>
struct Fields<SweepAxis> {
    static constexpr void visit(auto&& v)
    {
        v({"field", "", Need::Required}, &SweepAxis::field);
        v("label", &SweepAxis::label);
        v("values", &SweepAxis::values);
    }
};
template <>
struct Fields<Sweep> {
    static constexpr void visit(auto&& v)
    {
        v({"name", "", Need::Required}, &Sweep::name);
        v("axes", &Sweep::axes);
    }
};

} // namespace residua::projects
