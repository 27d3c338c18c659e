// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/membership.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/studies/sweep_grid.h"

#include <utility>

namespace residua::projects {
namespace {

constexpr std::string_view kNameDivider = " · ";

JsonValue jsonOf(const Membership& membership)
{
    JsonArray point;
    for (const AxisPoint& axis : membership.point) {
        point.push_back({JsonObject{
            {"field", JsonValue{axis.field}}, {"axis", JsonValue{axis.axis}}, {"value", JsonValue{axis.value}}}});
    }
    return {JsonObject{{"project", JsonValue{membership.project}},
                       {"sweep", JsonValue{membership.sweep}},
                       {"point", JsonValue{std::move(point)}}}};
}

/// Reads texts of an object. The first one that is missing or not a text gives the error.
class TextFields {
public:
    TextFields(const JsonValue& object, std::string place) : m_object(object), m_place(std::move(place)) {}

    std::string take(const char* key)
    {
        const JsonValue* const value = findMember(m_object, key);
        if (const auto* const text = value != nullptr ? std::get_if<std::string>(&value->data) : nullptr) {
            return *text;
        }
        if (!m_error) {
            m_error = Error{m_place + key, value == nullptr ? "is missing, expected a text"
                                                            : "is " + nameOfValue(*value) + ", expected a text"};
        }
        return {};
    }
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    const JsonValue& m_object;
    std::string m_place;
    std::optional<Error> m_error;
};

} // namespace

std::string Membership::label() const
{
    return joinedText(point, ", ", &AxisPoint::value);
}

std::string Membership::labelApartFromSeeds() const
{
    std::vector<std::string> values;
    for (const AxisPoint& axis : point) {
        if (!isSeedField(axis.field)) {
            values.push_back(axis.value);
        }
    }
    return joinedText(values);
}

std::string nameOf(const Membership& membership)
{
    return membership.project + std::string(kNameDivider) + membership.label();
}

std::optional<Membership> membershipFromName(std::string_view name)
{
    const std::size_t divider = name.find(kNameDivider);
    if (divider == std::string_view::npos || divider + kNameDivider.size() == name.size()) {
        return std::nullopt;
    }
    const std::string_view label = name.substr(divider + kNameDivider.size());
    return Membership{std::string(name.substr(0, divider)), {}, {{{}, {}, std::string(label)}}};
}

std::string textOf(const std::optional<Membership>& membership)
{
    return lineOf(membership ? jsonOf(*membership) : JsonValue{});
}

Result<std::optional<Membership>> membershipFrom(std::string_view text)
{
    const JsonValue json = RESIDUA_TRY(parseJson(text));
    if (std::holds_alternative<std::nullptr_t>(json.data)) {
        return std::optional<Membership>();
    }
    if (!std::holds_alternative<JsonObject>(json.data)) {
        return Error{"", "is " + nameOfValue(json) + ", expected an object, or null for a run of no sweep"};
    }
    TextFields fields(json, "");
    Membership membership{fields.take("project"), fields.take("sweep"), {}};
    if (fields.error()) {
        return *fields.error();
    }
    const JsonValue* const point = findMember(json, "point");
    const auto* const axes = point != nullptr ? std::get_if<JsonArray>(&point->data) : nullptr;
    if (axes == nullptr || axes->empty()) {
        return Error{"point", (point == nullptr  ? "is missing"
                               : axes == nullptr ? "is " + nameOfValue(*point)
                                                 : "is empty") +
                                  ", expected a list of axes with their values"};
    }
    for (std::size_t i = 0; i < axes->size(); ++i) {
        TextFields axis((*axes)[i], "point " + std::to_string(i + 1) + " · ");
        membership.point.push_back({axis.take("field"), axis.take("axis"), axis.take("value")});
        if (axis.error()) {
            return *axis.error();
        }
    }
    return std::optional(std::move(membership));
}

} // namespace residua::projects
