// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/pattern.h"
#include "projects/base/result.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A component of tokenizer.json, and where it stands. The first thing that is wrong with the file is kept for all its
/// parts; what is read after it has no meaning.
class Part {
public:
    Part(const nlohmann::json& value, std::string place, std::optional<Error>& fault)
        : m_value(&value), m_place(std::move(place)), m_fault(&fault)
    {
    }

    [[nodiscard]] const nlohmann::json& value() const { return *m_value; }
    [[nodiscard]] const std::string& place() const { return m_place; }
    /// Whether the file has it, and not as null.
    [[nodiscard]] bool has(const std::string& key) const;
    [[nodiscard]] Part part(const std::string& key) const;
    /// The elements of a list.
    [[nodiscard]] std::vector<Part> parts(const std::string& key) const;
    /// Its "type"; empty where it has none.
    [[nodiscard]] std::string type() const;

    /// A field that is missing or null is `otherwise`.
    [[nodiscard]] bool flag(const std::string& key, bool otherwise) const;
    [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;
    [[nodiscard]] std::int64_t number(const std::string& key, std::int64_t otherwise) const;
    /// A text of one character.
    [[nodiscard]] std::string character(const std::string& key, const std::string& otherwise) const;
    /// {"String": …} or {"Regex": …}.
    [[nodiscard]] Pattern pattern(const std::string& key) const;

    void fail(std::string message) const;
    [[nodiscard]] bool failed() const { return m_fault->has_value(); }

private:
    [[nodiscard]] const nlohmann::json& at(const std::string& key) const;

    const nlohmann::json* m_value;
    std::string m_place;
    std::optional<Error>* m_fault;
};

/// An entry of a table of components, by their type.
template <class Made>
struct Maker {
    std::string_view type;
    Made (*make)(const Part& part);
};

/// Makes what the part's type says; one that the table lacks is refused by name.
template <class Made, std::size_t count>
[[nodiscard]] Made madeBy(const Maker<Made> (&makers)[count], const Part& part)
{
    const std::string type = part.type();
    for (const Maker<Made>& maker : makers) {
        if (maker.type == type) {
            return maker.make(part);
        }
    }
    part.fail("\"" + type + "\" is not supported here; supported are " + joinedText(makers, ", ", &Maker<Made>::type));
    return Made();
}

} // namespace residua::engine
