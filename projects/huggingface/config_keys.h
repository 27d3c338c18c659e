// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/base/result.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Private to this folder.
namespace residua::projects {

/// The largest number that is accepted. The file may come from anyone, and sums of sizes must not overflow.
inline constexpr std::int64_t kMostOfAnything = 1'000'000'000;

/// Reads keys of an object. The first error is kept; later reads return the value for a missing key.
class Keys {
public:
    Keys(const JsonValue& object, std::string place, std::string name = "config.json")
        : m_object(object), m_place(std::move(place)), m_name(std::move(name))
    {
    }

    /// True if the key exists, even with the value null.
    [[nodiscard]] bool names(std::string_view key) const { return findMember(m_object, key) != nullptr; }

    /// Returns null if the key is missing or its value is null.
    const JsonValue* find(std::string_view key)
    {
        m_used.insert(std::string(key));
        const JsonValue* const value = findMember(m_object, key);
        return value == nullptr || std::holds_alternative<std::nullptr_t>(value->data) ? nullptr : value;
    }

    void fail(std::string_view key, const std::string& message)
    {
        if (!m_error) {
            m_error = Error{m_place + " · " + std::string(key), message};
        }
    }

    /// At least 1. Returns `otherwise` if the key is missing or null.
    std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = std::nullopt)
    {
        const JsonValue* const value = find(key);
        if (value == nullptr) {
            if (!otherwise) {
                fail(key, "is missing, expected a size");
            }
            return otherwise.value_or(1);
        }
        const auto* const number = std::get_if<std::int64_t>(&value->data);
        if (number == nullptr || *number < 1 || *number > kMostOfAnything) {
            fail(key, "got " + shown(*value) + ", expected a size of 1 to " + std::to_string(kMostOfAnything));
            return 1;
        }
        return *number;
    }

    /// A side in pixels, or a list of two: height and width.
    std::pair<std::int64_t, std::int64_t> sides(std::string_view key, std::int64_t otherwise)
    {
        const JsonValue* const value = find(key);
        const auto* const list = value == nullptr ? nullptr : std::get_if<JsonArray>(&value->data);
        if (list == nullptr) {
            const std::int64_t side = size(key, otherwise);
            return {side, side};
        }
        const bool both = list->size() == 2 && std::ranges::all_of(*list, [](const JsonValue& each) {
                              const auto* const side = std::get_if<std::int64_t>(&each.data);
                              return side != nullptr && *side >= 1 && *side <= kMostOfAnything;
                          });
        if (!both) {
            fail(key, "got a list of " + std::to_string(list->size()) + ", expected a height and a width");
            return {1, 1};
        }
        return {std::get<std::int64_t>((*list)[0].data), std::get<std::int64_t>((*list)[1].data)};
    }

    double real(std::string_view key, std::optional<double> otherwise = std::nullopt)
    {
        const JsonValue* const value = find(key);
        if (value == nullptr) {
            if (!otherwise) {
                fail(key, "is missing, expected a number");
            }
            return otherwise.value_or(1);
        }
        if (const auto* const whole = std::get_if<std::int64_t>(&value->data)) {
            return static_cast<double>(*whole);
        }
        const auto* const number = std::get_if<double>(&value->data);
        if (number == nullptr) {
            fail(key, "got " + shown(*value) + ", expected a number");
        }
        return number == nullptr ? otherwise.value_or(1) : *number;
    }

    bool flag(std::string_view key, bool otherwise)
    {
        const JsonValue* const value = find(key);
        const auto* const set = value == nullptr ? nullptr : std::get_if<bool>(&value->data);
        if (value != nullptr && set == nullptr) {
            fail(key, "got " + shown(*value) + ", expected true or false");
        }
        return set == nullptr ? otherwise : *set;
    }

    std::string text(std::string_view key, std::string_view otherwise)
    {
        const JsonValue* const value = find(key);
        const auto* const set = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
        if (value != nullptr && set == nullptr) {
            fail(key, "got " + shown(*value) + ", expected a text");
        }
        return set == nullptr ? std::string(otherwise) : *set;
    }

    /// Rejects any value except `expected`, which is also the meaning of a missing key.
    void only(std::string_view key, bool expected)
    {
        if (flag(key, expected) != expected) {
            fail(key, std::string("is ") + (expected ? "false" : "true") + ", which is not supported; expected " +
                          (expected ? "true" : "false"));
        }
    }

    /// Returns the object under a key, or an empty one if it is missing.
    Keys object(std::string_view key)
    {
        static const JsonValue kNone{JsonObject{}, JsonLayout::Lines};
        const JsonValue* const value = find(key);
        if (value != nullptr && !std::holds_alternative<JsonObject>(value->data)) {
            fail(key, "got " + shown(*value) + ", expected an object");
            return {kNone, m_place};
        }
        const std::string below = " · " + std::string(key);
        return {value == nullptr ? kNone : *value, m_place + below, m_name + below};
    }

    /// Returns the name of the object for notes: "config.json", "config.json · rope_scaling".
    [[nodiscard]] std::string name() const { return m_name; }
    /// Returns the keys of the file that no call has read.
    [[nodiscard]] std::vector<std::string> unread() const
    {
        std::vector<std::string> keys;
        for (const JsonMember& member : std::get<JsonObject>(m_object.data)) {
            if (!m_used.contains(member.key) && !std::holds_alternative<std::nullptr_t>(member.value.data)) {
                keys.push_back(member.key);
            }
        }
        return keys;
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    void take(const Keys& inner)
    {
        if (!m_error) {
            m_error = inner.m_error;
        }
    }

private:
    static std::string shown(const JsonValue& value)
    {
        if (const auto* const number = std::get_if<std::int64_t>(&value.data)) {
            return std::to_string(*number);
        }
        const auto* const real = std::get_if<double>(&value.data);
        if (real == nullptr) {
            return nameOfValue(value);
        }
        const std::string text = numberText(*real);
        return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text; // not an integer
    }

    const JsonValue& m_object;
    std::string m_place;
    std::string m_name;
    std::set<std::string> m_used;
    std::optional<Error> m_error;
};

} // namespace residua::projects
