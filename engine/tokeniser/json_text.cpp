// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokeniser/json_text.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <optional>
#include <unordered_set>
#include <vector>

namespace residua::engine {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;

/// Looks at keys while they are read.
class KeyWatch {
public:
    bool operator()(Json::parse_event_t event, Json& value)
    {
        if (event == Json::parse_event_t::object_start) {
            m_keys.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            m_keys.pop_back();
        } else if (event == Json::parse_event_t::key && !m_keys.back().insert(value.get<std::string>()).second) {
            m_fault = "names \"" + value.get<std::string>() + "\" twice in one object";
        }
        return true;
    }
    [[nodiscard]] const std::string& fault() const { return m_fault; }

private:
    std::vector<std::unordered_set<std::string>> m_keys; ///< of the objects that are open
    std::string m_fault;
};

} // namespace

Result<Json> parsedJson(std::string_view bytes, const std::string& place)
{
    const auto text = utf8Text(bytes);
    if (!text) {
        return Error{place, text.error().text()};
    }
    if (nestsDeeperThan(*text, kDeepest)) {
        return Error{place, "is nested more than " + std::to_string(kDeepest) + " deep"};
    }
    KeyWatch watch;
    Json json = Json::parse(
        text->begin(), text->end(), [&](int, Json::parse_event_t event, Json& value) { return watch(event, value); },
        false);
    if (!watch.fault().empty()) {
        return Error{place, watch.fault()};
    }
    if (json.is_discarded() || !json.is_object()) {
        return Error{place, json.is_discarded()
                                ? "is no valid JSON: cut off, damaged, or another kind of file"
                                : std::string("is a JSON ") + json.type_name() + ", expected an object"};
    }
    return json;
}

} // namespace residua::engine
