// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/sweep.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
inline constexpr bool kInline<SweepValue> = true;
template <>
inline constexpr std::size_t kMostOf<SweepValue> = kMaxSweepMembers; ///< on one axis
template <>
inline constexpr std::size_t kMostOf<Sweep> = 256;
template <>
struct Fields<SweepValue> {
    static constexpr void visit(auto&& v)
    {
        v({"label", "label", "What tables call the value; empty: its text."}, &SweepValue::label);
        v({"value", "value", "A JSON value that the field takes.", {.need = Need::Required}}, &SweepValue::value);
    }
};
template <>
struct Fields<SweepAxis> {
    static constexpr void visit(auto&& v)
    {
        v({"field", "field", "JSON pointer of the field that varies.", {.need = Need::Required}}, &SweepAxis::field);
        v({"label", "label", "What tables call the field; empty: its last word."}, &SweepAxis::label);
        v({"values", "values", "The values that it takes.", {.item = "value"}}, &SweepAxis::values);
    }
};
template <>
struct Fields<Sweep> {
    static constexpr void visit(auto&& v)
    {
        v({"name", "name", "What the sweep is called.", {.need = Need::Required}}, &Sweep::name);
        v({"axes", "axes", "The fields that vary; the last varies fastest.", {.item = "axis"}}, &Sweep::axes);
    }
};

} // namespace residua::projects
