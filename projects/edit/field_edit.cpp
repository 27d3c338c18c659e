// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/base/json_tree.h"
#include "projects/edit/edit_apply.h"
#include "projects/model/data_source.h"
#include "projects/schedule/stage_schedule.h"

#include <cmath>
#include <functional>
#include <type_traits>

namespace residua::projects {
namespace {

std::string jsonOf(const FieldScalar& value)
{
    return std::visit(
        []<class T>(const T& held) {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return std::string("null");
            } else {
                return lineOf({held});
            }
        },
        value);
}

Error hasOwnEdits(std::string_view pointer)
{
    return {std::string(pointer), "is of a graph, which has edits of its own"};
}

template <class T>
Status setInPart(T& part, const std::string& partPointer, const SetField& edit)
{
    JsonValue tree = toTree(part);
    const std::string_view below = std::string_view(edit.pointer).substr(partPointer.size());
    if (const Status set = setValueAt(tree, below, toTree(edit.value)); !set) {
        return Error{partPointer + set.error().place, set.error().message};
    }
    auto read = JsonReader::readAll<T>(tree);
    if (!read) {
        const std::string& at = read.error().place;
        return Error{at.starts_with('/') ? partPointer + at : partPointer, read.error().message};
    }
    part = *std::move(read);
    return Done{};
}

/// Finds the member of `owner`, the project or its network, that contains the field.
template <class T>
Status setIn(T& owner, const std::string& ownerPointer, const SetField& edit)
{
    Status result = Error{edit.pointer, "there is no such field"};
    Fields<T>::visit([&](const Field& field, auto member) {
        using Part = std::remove_reference_t<decltype(std::invoke(member, owner))>;
        const std::string pointer = ownerPointer + "/" + std::string(field.key);
        const bool isBelow = edit.pointer.starts_with(pointer + "/");
        if (!isBelow && edit.pointer != pointer) {
            return;
        }
        if constexpr (kHasOwnEdits<Part>) {
            result = hasOwnEdits(edit.pointer);
        } else if constexpr (std::is_same_v<Part, Network>) {
            result = isBelow ? setIn(std::invoke(member, owner), pointer, edit) : std::move(result);
        } else {
            result = setInPart(std::invoke(member, owner), pointer, edit);
        }
    });
    return result;
}

} // namespace

Status applyTo(Document& document, const SetField& edit)
{
    Stack before;
    before.segments = document.project.stack().segments;
    before.loops = document.project.stack().loops;
    Status set = setIn(document.project, {}, edit);
    if (Status fits = checkDepth(document.project.stack()); set && !fits) { // the reader checks those of towers
        document.project.stack().segments = std::move(before.segments);
        document.project.stack().loops = std::move(before.loops);
        set = std::move(fits);
    }
    Tokeniser* const tokeniser = set ? tokeniserOf(document.project.data.source) : nullptr;
    if (tokeniser != nullptr && edit.pointer.ends_with("/tokeniser/kind") && !hasVocabulary(tokeniser->kind)) {
        tokeniser->vocabulary = kByteVocabulary;
    }
    return set;
}

Result<Edit> fieldEdit(const Project& project, std::string_view pointer, const FieldScalar& value)
{
    const std::optional<FieldEntry> entry = findField(project, pointer);
    if (!entry) {
        return Error{std::string(pointer), "there is no such field"};
    }
    if (entry->hasOwnEdits) {
        return hasOwnEdits(pointer);
    }
    RESIDUA_TRY(checkField(project, pointer, value));
    if (const auto* const real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real)) {
        return Error{entry->place, "got " + numberText(*real) + ", expected a finite number"};
    }
    if (pointer == kFullModelSteps && !project.stack().schedule.stages.empty()) {
        return Edit{SetSchedule{withFullModelSteps(project.stack().schedule, std::get<std::int64_t>(value))}};
    }
    if (pointer == kTrainingSteps) {
        const StageSchedule& schedule = project.stack().schedule;
        const auto steps = std::get<std::int64_t>(value);
        if (StageSchedule scaled = stretched(schedule, project.training.steps, steps); scaled != schedule) {
            const SetField edit{entry->pointer, {jsonOf(value)}};
            return Edit{
                EditGroup{titleOf(edit) + "; its stages keep their shares", {edit, SetSchedule{std::move(scaled)}}}};
        }
    }
    if (entry->type != FieldType::Choice) {
        return Edit{SetField{entry->pointer, {jsonOf(value)}}};
    }
    const auto chosen = static_cast<std::size_t>(std::get<std::int64_t>(value));
    const JsonValue name{std::string(entry->choices[chosen].name)};
    const std::string whole = wholeOf(*entry);
    if (whole == entry->pointer || value == entry->value) {
        return Edit{SetField{entry->pointer, {lineOf(name)}}};
    }
    return Edit{SetField{whole, {lineOf({JsonObject{{std::string(kKindKey), name}}})}}}; // with its own defaults
}

} // namespace residua::projects
