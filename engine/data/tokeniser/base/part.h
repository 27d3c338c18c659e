// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/pattern.h"
#include "projects/base/result.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A component of tokenizer.json with its place. All parts share the first error in the file; values read after it are
/// meaningless.
class Part {
public:
    Part(const nlohmann::json& value, std::string place, std::optional<Error>& fault)
        : m_value(&value), m_place(std::move(place)), m_fault(&fault)
    {
    }

    [[nodiscard]] const nlohmann::json& value() const { return *m_value; }
    [[nodiscard]] const std::string& place() const { return m_place; }
    /// True if the file has the key with a value other than null.
    [[nodiscard]] bool has(const std::string& key) const;
    [[nodiscard]] Part part(const std::string& key) const;
    /// Returns the elements of a list.
    [[nodiscard]] std::vector<Part> parts(const std::string& key) const;
    /// Returns its "type"; empty if it has none.
    [[nodiscard]] std::string type() const;

    /// These return `otherwise` for a field that is missing or null.
    [[nodiscard]] bool flag(const std::string& key, bool otherwise) const;
    [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;
    [[nodiscard]] std::int64_t number(const std::string& key, std::int64_t otherwise) const;
    /// Returns a text of one character.
    [[nodiscard]] std::string character(const std::string& key, const std::string& otherwise) const;
    /// Reads {"String": …} or {"Regex": …}.
    [[nodiscard]] Pattern pattern(const std::string& key) const;

    void fail(std::string message) const;
    [[nodiscard]] bool failed() const { return m_fault->has_value(); }

private:
    [[nodiscard]] const nlohmann::json& at(const std::string& key) const;

    const nlohmann::json* m_value;
    std::string m_place;
    std::optional<Error>* m_fault;
};

/// An entry in a table of components by type.
template <class Made>
struct Maker {
    std::string_view type;
    Made (*make)(const Part& part);
};

/// Makes the component of the part's type. Fails with an error that names a type missing from the table.
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

/// Parses an untrusted JSON object. Returns an error if it is not an object, is nested too deeply, or repeats a key in
/// an object; other readers would silently take one of the values.
[[nodiscard]] Result<nlohmann::json> parsedJson(std::string_view bytes, const std::string& place);

/// Whether a text begins here, or continues one that was passed before.
enum class TextStart { Begins, GoesOn };

/// The tokens around a document.
struct DocumentMarks {
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> behind;
};

} // namespace residua::engine
