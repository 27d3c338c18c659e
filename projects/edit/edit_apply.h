// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/schema/json_read.h"
#include "projects/schema/json_write.h"

#include <string>

namespace residua::projects {

/// Private to projects: one overload per edit. edit.cpp has the simple setters.
[[nodiscard]] Status applyTo(Document& document, const SetField& edit);
[[nodiscard]] Status applyTo(Document& document, const AddShortcut& edit);
[[nodiscard]] Status applyTo(Document& document, const RemoveShortcut& edit);
[[nodiscard]] Status applyTo(Document& document, const SetShortcutState& edit);
[[nodiscard]] Status applyTo(Document& document, const PutBlock& edit);
[[nodiscard]] Status applyTo(Document& document, const RemoveBlock& edit);
[[nodiscard]] Status applyTo(Document& document, const RenameBlock& edit);
[[nodiscard]] Status applyTo(Document& document, const AddNode& edit);
[[nodiscard]] Status applyTo(Document& document, const RemoveNode& edit);
[[nodiscard]] Status applyTo(Document& document, const RenameNode& edit);
[[nodiscard]] Status applyTo(Document& document, const SetParam& edit);
[[nodiscard]] Status applyTo(Document& document, const AddWire& edit);
[[nodiscard]] Status applyTo(Document& document, const RemoveWire& edit);
[[nodiscard]] Status applyTo(Document& document, const SetGraph& edit);
[[nodiscard]] Status applyTo(Document& document, const MoveNode& edit);

/// Returns `value` as it would be read from a file (wires sorted), or an error if a file cannot contain it. It uses the
/// file's reader, so an edit never makes a document that cannot be saved and opened again.
template <class T>
[[nodiscard]] Result<T> canonical(const T& value, const std::string& place)
{
    auto kept = JsonReader::readAll<T>(toTree(value));
    if (!kept) {
        const std::string& pointer = kept.error().place;
        return Error{pointer.starts_with('/') ? place + pointer : place, kept.error().message};
    }
    return kept;
}

/// Assigns the canonical form of `value` to `target`.
template <class T>
[[nodiscard]] Status put(T& target, const T& value, const std::string& place)
{
    target = RESIDUA_TRY(canonical(value, place));
    return Done{};
}

/// Returns an error if loops make more executed layers than a document may have.
[[nodiscard]] inline Status checkDepth(const Stack& stack)
{
    if (stack.depth() <= kMaxLayers) {
        return Done{};
    }
    return Error{"/network/loops", "make " + std::to_string(stack.depth()) + " executed layers; expected at most " +
                                       std::to_string(kMaxLayers)};
}

/// An insertion into or a removal from a list of the project, which changes the indices of the entries after it.
struct ListChange {
    enum class Kind { PutIn, TakenOut };
    std::string list; ///< as a JSON pointer: "/network/stem/nodes"
    std::size_t index = 0;
    Kind kind = Kind::PutIn;
};
/// Updates the pointers in the sweeps so that each still refers to the same field. A sweep over a removed field refers
/// to no field, and fails when it is expanded.
void moveSweptFields(Document& document, const ListChange& change);

} // namespace residua::projects
