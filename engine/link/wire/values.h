// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"
#include "engine/link/wire/messages.h"
#include "projects/base/json_tree.h"
#include "projects/base/utf8.h"
#include "projects/schema/describe_project.h"

#include <functional>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace residua::engine {

/// Conversions between values and JSON for frames. Parts of a document, and queries, are objects with the keys of their
/// fields (projects/schema, describe_requests.h); other structs are lists of their members in order, because both sides
/// are of one build. A variant is a list of the alternative's index and its value. The elements of std::vector<float>,
/// and the bytes of a text above kLongestJsonText, are in Frame::numbers, and their count is in the JSON.

using nlohmann::json;

inline constexpr std::size_t kLongestJsonText = std::size_t{1} << 20; ///< bytes

/// Thrown for JSON that is not the value expected.
struct WireError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The last enumerator of an enumeration that is not described in the schema.
template <class E>
inline constexpr E kLastOf = E{};
template <>
inline constexpr RunStatus kLastOf<RunStatus> = RunStatus::Interrupted;
template <>
inline constexpr ReadingVersion kLastOf<ReadingVersion> = kNewestReading;
template <>
inline constexpr projects::Unit kLastOf<projects::Unit> = projects::Unit::Sample;
template <>
inline constexpr projects::ShortcutState::Hold kLastOf<projects::ShortcutState::Hold> =
    projects::ShortcutState::Hold::Learned;
template <>
inline constexpr GapFit::State kLastOf<GapFit::State> = GapFit::State::Failed;
template <>
inline constexpr Serves kLastOf<Serves> = Serves::Files;
template <>
inline constexpr RunId kLastOf<RunId>{std::numeric_limits<std::uint64_t>::max()};
template <>
inline constexpr QueryTag kLastOf<QueryTag>{std::numeric_limits<std::uint64_t>::max()};
template <>
inline constexpr projects::NodeId kLastOf<projects::NodeId>{
    std::numeric_limits<std::underlying_type_t<projects::NodeId>>::max()};

template <class T, template <class...> class Of>
inline constexpr bool kIs = false;
template <template <class...> class Of, class... Parts>
inline constexpr bool kIs<Of<Parts...>, Of> = true;

/// Calls `take` with each member of an aggregate, in order.
template <class T, class Take>
void forEachMember(T& value, Take&& take)
{
    constexpr std::size_t count = projects::memberCount<std::remove_const_t<T>>();
    const auto all = [&](auto&... members) { (take(members), ...); };
    if constexpr (count == 1) {
        auto& [a] = value;
        all(a);
    } else if constexpr (count == 2) {
        auto& [a, b] = value;
        all(a, b);
    } else if constexpr (count == 3) {
        auto& [a, b, c] = value;
        all(a, b, c);
    } else if constexpr (count == 4) {
        auto& [a, b, c, d] = value;
        all(a, b, c, d);
    } else if constexpr (count == 5) {
        auto& [a, b, c, d, e] = value;
        all(a, b, c, d, e);
    } else if constexpr (count == 6) {
        auto& [a, b, c, d, e, f] = value;
        all(a, b, c, d, e, f);
    } else if constexpr (count == 7) {
        auto& [a, b, c, d, e, f, g] = value;
        all(a, b, c, d, e, f, g);
    } else if constexpr (count == 8) {
        auto& [a, b, c, d, e, f, g, h] = value;
        all(a, b, c, d, e, f, g, h);
    } else if constexpr (count == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = value;
        all(a, b, c, d, e, f, g, h, i);
    } else if constexpr (count == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = value;
        all(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (count == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
        all(a, b, c, d, e, f, g, h, i, j, k);
    } else {
        static_assert(count == 12);
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
        all(a, b, c, d, e, f, g, h, i, j, k, l);
    }
}

template <class T>
[[nodiscard]] json encoded(const T& value, std::string& numbers)
{
    if constexpr (std::is_enum_v<T>) {
        return static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::isfinite(value) ? json(value) : json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    } else if constexpr (std::is_arithmetic_v<T>) {
        return value;
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (value.size() > kLongestJsonText) {
            numbers += value;
            return value.size();
        }
        // A path or a message about one may have bytes that are no text.
        return isUtf8(value) ? json(value) : json(std::vector<unsigned char>(value.begin(), value.end()));
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
        return encoded(value.string(), numbers);
    } else if constexpr (std::is_same_v<T, MatrixName>) {
        return encoded(value.text(), numbers);
    } else if constexpr (std::is_same_v<T, std::monostate>) {
        return nullptr;
    } else if constexpr (std::is_same_v<T, std::vector<float>>) {
        numbers.append(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(float));
        return value.size();
    } else if constexpr (std::is_same_v<T, projects::ShortcutState>) {
        return json::array(
            {encoded(value.kind, numbers), encoded(value.hold, numbers), encoded(value.number, numbers)});
    } else if constexpr (kIs<T, std::optional>) {
        return value ? json::array({encoded(*value, numbers)}) : json(nullptr);
    } else if constexpr (kIs<T, std::variant>) {
        return json::array(
            {value.index(), std::visit([&](const auto& part) { return encoded(part, numbers); }, value)});
    } else if constexpr (kIs<T, std::pair>) {
        return json::array({encoded(value.first, numbers), encoded(value.second, numbers)});
    } else if constexpr (kIs<T, std::vector> || kIs<T, std::map>) {
        json list = json::array();
        for (const auto& item : value) {
            list.push_back(encoded(item, numbers));
        }
        return list;
    } else if constexpr (projects::Described<T>) {
        json object = json::object();
        projects::Fields<T>::visit([&](const projects::Field& field, auto member) {
            object[std::string(field.key)] = encoded(std::invoke(member, value), numbers);
        });
        return object;
    } else {
        json list = json::array();
        forEachMember(value, [&](const auto& member) { list.push_back(encoded(member, numbers)); });
        return list;
    }
}

/// Reads what encoded() wrote. Throws WireError, or nlohmann's exceptions, for anything else.
class WireReader {
public:
    explicit WireReader(const std::string& numbers) : m_numbers(numbers) {}

    template <class T>
    void read(const json& from, T& to)
    {
        if constexpr (std::is_enum_v<T>) {
            using Number = std::underlying_type_t<T>;
            constexpr auto last = [] {
                if constexpr (projects::Named<T>) {
                    return static_cast<Number>(std::size(projects::Choices<T>::all) - 1);
                } else {
                    static_assert(kLastOf<T> != T{}, "kLastOf has no line for this enumeration");
                    return static_cast<Number>(kLastOf<T>);
                }
            }();
            const auto number = whole<Number>(from);
            expect(number <= last, "an enumerator");
            to = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, bool>) {
            to = from.get_ref<const json::boolean_t&>();
        } else if constexpr (std::is_floating_point_v<T>) {
            to = from.is_string() ? static_cast<T>(nonFinite(from.get_ref<const std::string&>())) : number<T>(from);
        } else if constexpr (std::is_arithmetic_v<T>) {
            to = whole<T>(from);
        } else if constexpr (std::is_same_v<T, std::string>) {
            to = from.is_string() ? from.get<std::string>() : from.is_number() ? longText(from) : bytes(from);
        } else if constexpr (std::is_same_v<T, std::filesystem::path> || std::is_same_v<T, MatrixName>) {
            std::string text;
            read(from, text);
            if constexpr (std::is_same_v<T, MatrixName>) {
                to = MatrixName::from(text);
            } else {
                to = text;
            }
        } else if constexpr (std::is_same_v<T, std::monostate>) {
            expect(from.is_null(), "null");
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
            const auto count = whole<std::size_t>(from);
            const char* const values = take(count, sizeof(float));
            to.resize(count);
            std::memcpy(to.data(), values, count * sizeof(float));
        } else if constexpr (std::is_same_v<T, projects::ShortcutState>) {
            read(listOf(from, 3)[0], to.kind);
            read(from[1], to.hold);
            read(from[2], to.number);
            expect(to.hold == T::Hold::Beginning || to.kind == T::Frozen, "a value of a frozen state alone");
            expect(std::isfinite(to.number), "a finite number");
        } else if constexpr (kIs<T, std::optional>) {
            to.reset();
            if (!from.is_null()) {
                read(listOf(from, 1)[0], to.emplace());
            }
        } else if constexpr (kIs<T, std::variant>) {
            listOf(from, 2);
            readAlternative(whole<std::size_t>(from[0]), from[1], to,
                            std::make_index_sequence<std::variant_size_v<T>>());
        } else if constexpr (kIs<T, std::vector>) {
            expect(from.is_array(), "a list");
            to.assign(from.size(), {});
            for (std::size_t i = 0; i < from.size(); ++i) {
                read(from[i], to[i]);
            }
        } else if constexpr (kIs<T, std::map>) {
            expect(from.is_array(), "a list");
            for (const json& item : from) {
                typename T::key_type key{};
                read(listOf(item, 2)[0], key);
                read(item[1], to[key]);
            }
        } else if constexpr (projects::Described<T>) {
            std::size_t fields = 0;
            projects::Fields<T>::visit([&](const projects::Field& field, auto member) {
                read(from.at(std::string(field.key)), std::invoke(member, to));
                ++fields;
            });
            expect(from.is_object() && from.size() == fields, "the fields of the schema");
        } else {
            listOf(from, projects::memberCount<T>());
            std::size_t next = 0;
            forEachMember(to, [&](auto& member) { read(from[next++], member); });
        }
    }

private:
    static void expect(bool holds, const char* what)
    {
        if (!holds) {
            throw WireError(std::string("expected ") + what);
        }
    }

    template <class Number>
    static Number whole(const json& from)
    {
        expect(from.is_number_integer(), "a whole number");
        if (from.is_number_unsigned()) {
            const auto number = from.get<std::uint64_t>();
            expect(std::in_range<Number>(number), "a number in its range");
            return static_cast<Number>(number);
        }
        const auto number = from.get<std::int64_t>();
        expect(std::in_range<Number>(number), "a number in its range");
        return static_cast<Number>(number);
    }

    template <class Number>
    static Number number(const json& from)
    {
        expect(from.is_number(), "a number");
        return from.get<Number>();
    }

    static double nonFinite(const std::string& word)
    {
        expect(word == "nan" || word == "inf" || word == "-inf", "a number");
        const double infinite = std::numeric_limits<double>::infinity();
        return word == "nan" ? std::numeric_limits<double>::quiet_NaN() : word == "inf" ? infinite : -infinite;
    }

    /// Takes the next `count` elements of the frame's numbers, of `each` bytes.
    const char* take(std::size_t count, std::size_t each)
    {
        expect(count <= (m_numbers.size() - m_taken) / each, "as many numbers as the frame has");
        return m_numbers.data() + std::exchange(m_taken, m_taken + count * each);
    }

    std::string longText(const json& from)
    {
        const auto count = whole<std::size_t>(from);
        return {take(count, 1), count};
    }

    static std::string bytes(const json& from)
    {
        const auto numbers = from.get<std::vector<unsigned char>>();
        return {numbers.begin(), numbers.end()};
    }

    static const json& listOf(const json& from, std::size_t count)
    {
        expect(from.is_array() && from.size() == count, "a list of the members");
        return from;
    }

    template <class V, std::size_t... index>
    void readAlternative(std::size_t wanted, const json& from, V& to, std::index_sequence<index...>)
    {
        const bool known = ((index == wanted && (read(from, to.template emplace<index>()), true)) || ...);
        expect(known, "an alternative");
    }

    const std::string& m_numbers;
    std::size_t m_taken = 0; ///< bytes
};

/// The maximum nesting of a message's JSON: a document within a command.
inline constexpr int kDeepestMessage = 2 * kDeepestJson;

/// Reads the message of a frame. The error says why the frame has no such message.
template <class Message>
[[nodiscard]] Result<Message> readMessage(const Frame& frame)
{
    if (const auto deep = tooDeep(frame.json, kDeepestMessage)) {
        return Error{"engine's connection", "carries a message that " + deep->message};
    }
    try {
        Result<Message> message = Message();
        WireReader(frame.numbers).read(json::parse(frame.json), *message);
        return message;
    } catch (const std::bad_alloc&) {
        return Error{"engine's connection", "carries a message of " + std::to_string(frame.json.size()) +
                                                " bytes, for which there is no memory"};
    } catch (const json::exception& error) {
        return Error{"engine's connection", std::string("carries a message that cannot be read: ") + error.what()};
    } catch (const WireError& error) {
        return Error{"engine's connection", std::string("carries a message that cannot be read: ") + error.what()};
    }
}

} // namespace residua::engine
