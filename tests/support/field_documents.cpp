// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/field_documents.h"

#include "projects/shipped/examples.h"

#include <cmath>
#include <limits>

namespace residua::tests {

using namespace projects;

namespace {

/// The pointer with the first entry of each list.
std::string firstOf(std::string pointer)
{
    for (std::size_t at = pointer.find("/N/"); at != std::string::npos; at = pointer.find("/N/", at)) {
        pointer.replace(at, 3, "/0/");
    }
    return pointer;
}

/// The next number beyond `end`, in the direction of `sign`.
double next(FieldType type, double end, int sign)
{
    return type == FieldType::Integer ? end + sign
                                      : std::nextafter(end, sign * std::numeric_limits<double>::infinity());
}

} // namespace

Project documentWith(const FieldEntry& entry)
{
    Project project = findExample("ancre-language")->project;
    project.stack().schedule.stages = {{0, 1, {1}}};
    project.sweeps = {{"sweep", {{"/seeds/init", "", {{"", {"1"}}}}}}};
    if (entry.pointer.starts_with("/training/groups/")) {
        project.training.groups.resize(1);
    }
    if (entry.pointer.starts_with("/network/loops/")) {
        project.stack().loops = {{.first = 1, .last = 1, .visits = 2}};
    }
    if (entry.pointer.starts_with("/towers/")) {
        project.towers.push_back({project.network});
        project.towers[0].network.name = "second";
        project.towers[0].network.stack().loops = {{.first = 1, .last = 1, .visits = 2}};
    }
    if (entry.pointer.starts_with("/losses/")) {
        Loss& loss = project.losses.emplace_back();
        loss.name = "further";
        loss.trains = {"network"};
    }
    for (const auto& [pointer, choice] : entry.within) {
        (void)setField(project, firstOf(pointer), choice);
    }
    if (auto* const mixture = std::get_if<MixtureData>(&project.data.source)) {
        mixture->parts = {{.path = "a.txt"}};
    }
    return project;
}

FieldEntry fieldIn(const Project& project, const FieldEntry& entry)
{
    return findField(project, firstOf(entry.pointer)).value();
}

FieldScalar otherValue(const FieldEntry& entry)
{
    switch (entry.type) {
    case FieldType::Flag:
        return !std::get<bool>(entry.value);
    case FieldType::Integer: {
        const std::int64_t value = std::get<std::int64_t>(entry.value);
        return entry.field.more.range.contains(value + 1) ? value + 1 : value - 1;
    }
    case FieldType::Real: {
        const double value = std::get<double>(entry.value);
        return value != 0 ? value / 2 : 0.25;
    }
    case FieldType::Choice:
        return (std::get<std::int64_t>(entry.value) + 1) % std::ssize(entry.choices);
    case FieldType::Text:
        return std::get<std::string>(entry.value) + "2";
    case FieldType::Other:
        break;
    }
    return std::monostate{};
}

FieldScalar numberFor(const FieldEntry& entry, double value)
{
    return entry.type == FieldType::Integer ? FieldScalar(static_cast<std::int64_t>(value)) : FieldScalar(value);
}

std::vector<FieldEnd> endsOf(const FieldEntry& entry)
{
    std::vector<FieldEnd> ends;
    if (entry.type != FieldType::Integer && entry.type != FieldType::Real) {
        return ends;
    }
    const Range& range = entry.field.more.range;
    const auto add = [&](double end, End kind, int outward) {
        if (std::isfinite(end)) {
            const bool closed = kind == End::Closed;
            ends.push_back({end, closed});
            ends.push_back({next(entry.type, end, closed ? outward : -outward), !closed});
        }
    };
    add(range.least, range.lower, -1);
    add(range.most, range.upper, 1);
    return ends;
}

} // namespace residua::tests
