// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/mutate_project.h"

#include "projects/nodes/node_kinds.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace residua::fuzz {
namespace {

using projects::JsonArray;
using projects::JsonMember;
using projects::JsonObject;
using projects::JsonValue;

void gather(JsonValue& value, std::vector<JsonValue*>& values, std::vector<std::string>& words)
{
    values.push_back(&value);
    if (auto* array = std::get_if<JsonArray>(&value.data)) {
        for (JsonValue& item : *array) {
            gather(item, values, words);
        }
    } else if (auto* object = std::get_if<JsonObject>(&value.data)) {
        for (JsonMember& member : *object) {
            words.push_back(member.key);
            gather(member.value, values, words);
        }
    } else if (const auto* text = std::get_if<std::string>(&value.data)) {
        words.push_back(*text);
    }
}

bool isWire(const std::string& text)
{
    return text.find(" > ") != std::string::npos;
}

} // namespace

std::size_t ProjectMutator::below(std::size_t count)
{
    return fuzz::below(m_random, count);
}

std::string ProjectMutator::mutated(JsonValue tree)
{
    for (std::size_t count = 1 + below(3); count > 0; --count) {
        change(tree);
    }
    std::string text = printJson(tree);
    return below(20) == 0 ? withRandomBytes(std::move(text), m_random) : text;
}

void ProjectMutator::change(JsonValue& tree)
{
    std::vector<JsonValue*> values;
    m_words.clear();
    gather(tree, values, m_words);
    // Not the root: little would be left to change.
    JsonValue& value = *values[values.size() == 1 ? 0 : 1 + below(values.size() - 1)];
    JsonValue& other = *values[below(values.size())];
    constexpr std::size_t kSmall = 2000;
    switch (below(16)) {
    case 0:
        value = strange();
        return;
    case 1:
        nest(value);
        return;
    case 2:
        // A copy from elsewhere, as a merge leaves it; not again and again of the whole.
        if (printJson(other).size() < kSmall) {
            value = JsonValue(other);
        }
        return;
    default:
        break;
    }
    if (auto* array = std::get_if<JsonArray>(&value.data)) {
        changeArray(*array);
    } else if (auto* object = std::get_if<JsonObject>(&value.data)) {
        changeObject(*object);
    } else {
        changeScalar(value);
    }
}

void ProjectMutator::changeScalar(JsonValue& value)
{
    if (auto* words = std::get_if<std::string>(&value.data)) {
        if (isWire(*words) && below(4) != 0) {
            changeWire(*words);
        } else {
            *words = text();
        }
    } else if (std::holds_alternative<std::int64_t>(value.data)) {
        const double drawn = number();
        const bool whole = drawn == std::floor(drawn) && std::abs(drawn) < 9e18;
        value.data = whole ? JsonValue{static_cast<std::int64_t>(drawn)}.data : JsonValue{drawn}.data;
    } else if (std::holds_alternative<double>(value.data)) {
        value.data = number();
    } else if (auto* flag = std::get_if<bool>(&value.data)) {
        *flag = !*flag;
    }
}

void ProjectMutator::changeArray(JsonArray& array)
{
    if (array.empty()) {
        array.push_back(strange());
        return;
    }
    const std::size_t at = below(array.size());
    const auto begin = array.begin();
    switch (below(7)) {
    case 0:
    case 1:
        array.erase(begin + static_cast<std::ptrdiff_t>(at));
        break;
    case 2:
        array.insert(begin + static_cast<std::ptrdiff_t>(at), JsonValue(array[at]));
        break;
    case 3:
        std::swap(array[at], array[below(array.size())]);
        break;
    case 4:
        array.clear();
        break;
    case 5:
        array.resize(std::min(array.size() + below(3000), std::size_t{5000}), JsonValue(array[at]));
        break;
    default:
        array[at] = strange();
        break;
    }
}

void ProjectMutator::changeObject(JsonObject& object)
{
    if (object.empty()) {
        object.push_back({text(), strange()});
        return;
    }
    JsonMember& member = object[below(object.size())];
    switch (below(6)) {
    case 0:
    case 1:
        object.erase(object.begin() + (&member - object.data()));
        break;
    case 2:
        object.push_back(JsonMember(member));
        break;
    case 3:
        member.key = text();
        break;
    case 4:
        std::swap(member.value, object[below(object.size())].value);
        break;
    default:
        object.push_back({text(), strange()});
        break;
    }
}

/// One end leads to another node or port, or to none.
void ProjectMutator::changeWire(std::string& wire)
{
    static const std::array<const char*, 10> kPorts{"out", "in", "in1", "in2", "in999", "q", "k", "v", "gate", "x"};
    const auto end = [this] { return std::to_string(below(14)) + "." + oneOf(m_random, kPorts); };
    const std::size_t arrow = wire.find(" > ");
    wire = below(2) == 0 ? end() + wire.substr(arrow) : wire.substr(0, arrow) + " > " + end();
}

void ProjectMutator::nest(JsonValue& value)
{
    for (std::size_t depth = below(below(8) == 0 ? 100 : 4) + 1; depth > 0; --depth) {
        JsonArray around;
        around.push_back(std::move(value));
        value = JsonValue{std::move(around)};
    }
}

JsonValue ProjectMutator::strange()
{
    switch (below(8)) {
    case 0:
        return {nullptr};
    case 1:
        return {below(2) == 0};
    case 2:
        return {JsonArray{}};
    case 3:
        return {JsonObject{}};
    case 4:
    case 5:
        return {text()};
    case 6:
        return {number()};
    default:
        return {static_cast<std::int64_t>(below(100'000'000))};
    }
}

double ProjectMutator::number()
{
    static const std::array<double, 26> kNumbers{0,
                                                 -0.0,
                                                 1,
                                                 -1,
                                                 2,
                                                 3,
                                                 7,
                                                 0.5,
                                                 1.5,
                                                 1e-300,
                                                 5e-324,
                                                 1e5,
                                                 1e6,
                                                 1e8,
                                                 4e9,
                                                 1e12,
                                                 1e15,
                                                 9e18,
                                                 -1e5,
                                                 -9e18,
                                                 1e22,
                                                 1e300,
                                                 -1e300,
                                                 9007199254740993.0,
                                                 2147483648.0,
                                                 std::numeric_limits<double>::max()};
    return below(4) == 0 ? static_cast<double>(below(5000)) : oneOf(m_random, kNumbers);
}

std::string ProjectMutator::text()
{
    static const std::vector<std::string> kTexts{"",
                                                 " ",
                                                 "\x1b[31mred\x1b[0m",
                                                 "two\nlines",
                                                 std::string("nul\0inside", 10),
                                                 "深度 🙂",
                                                 "../../etc",
                                                 "/dev/zero",
                                                 "block:",
                                                 "stem",
                                                 "d",
                                                 "4*d",
                                                 "d^d^d^d",
                                                 "1/0",
                                                 "max(",
                                                 "x - x / (y - y)",
                                                 "1e308*1e308",
                                                 std::string(300, '(') + "d" + std::string(300, ')'),
                                                 std::string(100, '-') + "1",
                                                 std::string(70'000, 'n'),
                                                 "999999999.out > 1.in",
                                                 "4294967295:1",
                                                 "0:9223372036854775806",
                                                 "3:1"};
    switch (below(4)) {
    case 0:
        return oneOf(m_random, kTexts);
    case 1:
        return projects::nodeKinds()[below(projects::nodeKinds().size())].key;
    default:
        return m_words.empty() ? std::string() : oneOf(m_random, m_words);
    }
}

} // namespace residua::fuzz
