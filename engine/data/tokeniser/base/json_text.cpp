// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/part.h"

#include "projects/base/json_tree.h"
#include "projects/base/utf8.h"

#include <vector>

namespace residua::engine {
namespace {

using Json = nlohmann::json;

/// Checks keys during parsing.
class KeyWatch {
public:
    bool operator()(Json::parse_event_t event, Json& value)
    {
        if (event == Json::parse_event_t::object_start) {
            m_keys.emplace_back();
        } else if (event == Json::parse_event_t::key) {
            m_keys.back().push_back(value.get<std::string>());
        } else if (event == Json::parse_event_t::object_end) {
            if (const auto twice = keyGivenTwice({m_keys.back().begin(), m_keys.back().end()})) {
                m_fault = "names \"" + std::string(*twice) + "\" twice in one object";
            }
            m_keys.pop_back();
        }
        return true;
    }
    [[nodiscard]] const std::string& fault() const { return m_fault; }

private:
    std::vector<std::vector<std::string>> m_keys; ///< of the open objects
    std::string m_fault;
};

} // namespace

Result<Json> parsedJson(std::string_view bytes, const std::string& place)
{
    const auto text = utf8Text(bytes);
    if (!text) {
        return Error{place, text.error().text()};
    }
    if (const auto deep = tooDeep(*text, kDeepestJson)) {
        return Error{place, deep->message};
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
