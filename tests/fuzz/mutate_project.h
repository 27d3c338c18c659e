// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace residua::fuzz {

/// Changes a project's file as a mistake, a merge or malice would: it mostly stays well-formed JSON, and often a
/// document.
class ProjectMutator {
public:
    explicit ProjectMutator(std::uint64_t seed) : m_random(seed) {}

    /// One to three changes of `tree`, as a file's text.
    [[nodiscard]] std::string mutated(projects::JsonValue tree);

private:
    using Value = projects::JsonValue;

    void change(Value& tree);
    void changeScalar(Value& value);
    void changeArray(projects::JsonArray& array);
    void changeObject(projects::JsonObject& object);
    void changeWire(std::string& wire);
    void nest(Value& value);
    [[nodiscard]] Value strange();
    [[nodiscard]] double number();
    [[nodiscard]] std::string text();
    [[nodiscard]] std::size_t below(std::size_t count);

    std::mt19937_64 m_random;
    std::vector<std::string> m_words; ///< texts and keys of the file
};

} // namespace residua::fuzz
