// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/example_schema.h"

#include <algorithm>

namespace residua::engine {

using projects::kBatch;
using projects::kTime;

ExampleSchema ExampleSchema::nextToken(std::int64_t vocabulary)
{
    const projects::Shape shape{{kBatch, kTime}, projects::Element::Token};
    return {{{"tokens", FieldRole::Input, shape, vocabulary}, {"next tokens", FieldRole::Target, shape, vocabulary}}};
}

ExampleSchema ExampleSchema::vectors(std::int64_t inputs, std::int64_t outputs)
{
    return {{{"inputs", FieldRole::Input, {{kBatch, inputs}}}, {"outputs", FieldRole::Target, {{kBatch, outputs}}}}};
}

bool ExampleSchema::hasTime() const
{
    return std::ranges::find(input().shape.dims, kTime) != input().shape.dims.end();
}

std::int64_t ExampleSchema::units(std::int64_t examples, std::int64_t time) const
{
    return hasTime() ? examples * time : examples;
}

const ExampleField& ExampleSchema::first(FieldRole role) const
{
    return *std::ranges::find(fields, role, &ExampleField::role);
}

} // namespace residua::engine
