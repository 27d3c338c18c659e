// SPDX-License-Identifier: GPL-3.0-or-later
// Sweeps refer to nodes and blocks by index, so edits that change indices update the sweeps.
#include "projects/edit/edit_apply.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace residua::projects {
namespace {

constexpr std::size_t kMostDigits = 9; // a longer number is not a valid index

/// Returns the new pointer of the field at `pointer`, or nullopt if it did not change. A field of a removed entry gets
/// "-", the entry after the last in JSON pointers, which never exists, so a sweep over it fails.
std::optional<std::string> moved(const std::string& pointer, const ListChange& change)
{
    const std::string list = change.list + "/";
    if (!pointer.starts_with(list)) {
        return std::nullopt;
    }
    const std::size_t end = std::min(pointer.find('/', list.size()), pointer.size());
    const std::string_view token = std::string_view(pointer).substr(list.size(), end - list.size());
    const auto index = token.size() <= kMostDigits ? numberFrom<std::size_t>(token) : std::nullopt;
    if (!index || *index < change.index) {
        return std::nullopt;
    }
    const bool isIn = change.kind == ListChange::Kind::PutIn;
    const std::string now = isIn                    ? std::to_string(*index + 1)
                            : *index > change.index ? std::to_string(*index - 1)
                                                    : "-";
    return list + now + pointer.substr(end);
}

/// Updates the pointers that are the keys of a value of several fields.
std::optional<FieldValue> moved(const FieldValue& value, const ListChange& change)
{
    Result<JsonValue> tree = parseJson(value.json);
    auto* const fields = tree ? std::get_if<JsonObject>(&tree->data) : nullptr;
    bool anyMoved = false;
    for (std::size_t i = 0; fields != nullptr && i < fields->size(); ++i) {
        if (std::optional<std::string> key = moved((*fields)[i].key, change)) {
            (*fields)[i].key = *std::move(key);
            anyMoved = true;
        }
    }
    return anyMoved ? std::optional(FieldValue{lineOf(*std::move(tree))}) : std::nullopt;
}

void move(SweepAxis& axis, const ListChange& change)
{
    if (std::optional<std::string> field = moved(axis.field, change)) {
        axis.field = *std::move(field);
    }
    for (SweepValue& value : axis.values) {
        std::optional<FieldValue> fields = axis.field == kSeveralFields ? moved(value.value, change) : std::nullopt;
        if (fields) {
            value.value = *std::move(fields);
        }
    }
}

} // namespace

void moveSweptFields(Document& document, const ListChange& change)
{
    std::vector<Sweep> sweeps = document.project.sweeps;
    for (Sweep& sweep : sweeps) {
        for (SweepAxis& axis : sweep.axes) {
            move(axis, change);
        }
    }
    if (sweeps == document.project.sweeps) {
        return;
    }
    if (auto kept = canonical(sweeps, "/sweeps")) { // a pointer that became longer may exceed the limit
        document.project.sweeps = *std::move(kept);
    }
}

} // namespace residua::projects
