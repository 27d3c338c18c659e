// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/diff/diff.h"
#include "projects/model/graph.h"
#include "projects/schema/describe_project.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace residua::projects {

/// Private to projects: compares described values field by field. Places and values use the words of the schema:
/// "per_feature" becomes "per feature", and a length gets its unit.
class Differ {
public:
    using Words = std::vector<std::string>; ///< a place, as of a Change

    [[nodiscard]] std::vector<Change> take() && { return std::move(m_changes); }

    template <Described T>
    void compareFields(const T& a, const T& b, const Words& place)
    {
        Fields<T>::visit([&](const Field& field, auto member) {
            using Value = std::remove_cvref_t<decltype(std::invoke(member, a))>;
            if constexpr (std::is_same_v<T, Project>) {
                m_part = field.more.decides == Decides::Nothing ? ChangedPart::Remark
                         : std::is_same_v<Value, Topology>      ? ChangedPart::Topology
                                                                : ChangedPart::Other;
            } else if constexpr (std::is_same_v<T, Topology>) {
                m_part = std::is_same_v<Value, std::string> ? ChangedPart::Preset : ChangedPart::Topology;
            }
            const Words own = within(place, std::string(field.title));
            if constexpr (Alternating<Value>) {
                const bool leftOut = field.more.inPlaces == InPlaces::LeftOut;
                compareAlternatives(std::invoke(member, a), std::invoke(member, b), own, leftOut ? place : own);
            } else {
                compare(std::invoke(member, a), std::invoke(member, b), own, field.more.unit);
            }
        });
    }

private:
    // Parts that are matched by meaning and not by position.
    void compare(const Graph& a, const Graph& b, const Words& place, std::string_view unit);
    void compare(const std::vector<Block>& a, const std::vector<Block>& b, const Words& place, std::string_view unit);
    void compare(const std::vector<StackSegment>& a, const std::vector<StackSegment>& b, const Words& place,
                 std::string_view unit);
    void compare(const std::vector<Loop>& a, const std::vector<Loop>& b, const Words& place, std::string_view unit);
    void compare(const std::vector<Stage>& a, const std::vector<Stage>& b, const Words& place, std::string_view unit);
    void compare(const std::map<Shortcut, ShortcutState>& a, const std::map<Shortcut, ShortcutState>& b,
                 const Words& place, std::string_view unit);
    void compare(const std::vector<Shortcut>& a, const std::vector<Shortcut>& b, const Words& place,
                 std::string_view unit);
    void compare(const std::vector<Sweep>& a, const std::vector<Sweep>& b, const Words& place, std::string_view unit);
    void compare(const std::vector<MixturePart>& a, const std::vector<MixturePart>& b, const Words& place,
                 std::string_view unit);
    void compare(const std::vector<ParameterGroup>& a, const std::vector<ParameterGroup>& b, const Words& place,
                 std::string_view unit);

    void compare(const std::vector<Tower>& a, const std::vector<Tower>& b, const Words& place, std::string_view unit);
    void compare(const std::vector<Loss>& a, const std::vector<Loss>& b, const Words& place, std::string_view unit);

    /// `below` is the place of the alternative's fields.
    template <Alternating V>
    void compareAlternatives(const V& a, const V& b, const Words& place, const Words& below)
    {
        if (a.index() != b.index()) {
            changed(place, summary(a), summary(b));
            return;
        }
        std::visit([&]<class T>(const T& before) { compareFields(before, std::get<T>(b), below); }, a);
    }

    template <class T>
    void compare(const T& a, const T& b, const Words& place, std::string_view unit)
    {
        if constexpr (Described<T>) {
            compareFields(a, b, place);
        } else if (a != b) {
            changed(place, withUnit(spokenValue(a), unit), withUnit(spokenValue(b), unit));
        }
    }

    void compareNodes(const Graph& a, const Graph& b, const Words& place,
                      const std::map<NodeId, const Node*>& partners);
    void compareWires(const Graph& a, const Graph& b, const Words& place,
                      const std::map<NodeId, const Node*>& partners);

    void changed(const Words& place, std::string before, std::string after);
    void added(const Words& place, std::string what = {});
    void removed(const Words& place, std::string what = {});

    static Words within(Words place, std::string part);
    static std::string withUnit(std::string value, std::string_view unit);

    static std::string spokenValue(bool value) { return value ? "on" : "off"; }
    static std::string spokenValue(std::int64_t value) { return std::to_string(value); }
    static std::string spokenValue(double value) { return numberText(value); }
    static std::string spokenValue(const std::string& value);
    static std::string spokenValue(const ParamValue& value);
    static std::string spokenValue(const std::vector<std::int64_t>& values);
    static std::string spokenValue(const std::vector<std::string>& values);
    static std::string spokenValue(const std::vector<Shortcut>& values);
    static std::string spokenValue(const std::vector<MixturePart>& parts);
    static std::string spokenValue(const ShortcutState& state);
    template <Named E>
    static std::string spokenValue(E value)
    {
        return std::string(choiceOf(value).title);
    }

    enum class Listed { All, NotDefault };

    /// Lists the fields of one struct: "average length 6 layers, always 1 12".
    template <Described T>
    static std::string details(const T& value, Listed listed)
    {
        std::string text;
        Fields<T>::visit([&](const Field& field, auto member) {
            if constexpr (requires { spokenValue(std::invoke(member, value)); }) {
                if (listed == Listed::All || std::invoke(member, value) != std::invoke(member, T{})) {
                    text += (text.empty() ? "" : ", ") + std::string(field.title) + " " +
                            withUnit(spokenValue(std::invoke(member, value)), field.more.unit);
                }
            }
        });
        return text;
    }

    /// Describes a stage without its start, which identifies it.
    static std::string summary(Stage stage)
    {
        stage.start = Stage{}.start;
        return details(stage, Listed::NotDefault);
    }

    /// Describes an alternative and its values that differ from the defaults: "first and last (k 2)".
    template <Alternating V>
    static std::string summary(const V& value)
    {
        const auto ofAlternative = []<class T>(const T& alternative) {
            return details(alternative, kInline<T> ? Listed::All : Listed::NotDefault);
        };
        const std::string text = std::visit(ofAlternative, value);
        return std::string(choiceOf(value).title) + (text.empty() ? "" : " (" + text + ")");
    }

    std::map<std::string, std::string> m_renamedBlocks; ///< from names in a to names in b
    ChangedPart m_part = ChangedPart::Other;            ///< the part that is being compared
    std::vector<Change> m_changes;
};

} // namespace residua::projects
