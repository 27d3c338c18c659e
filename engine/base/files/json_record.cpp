// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/json_record.h"

#include "projects/base/json_tree.h"
#include "projects/base/utf8.h"

#include <limits>

namespace residua::engine {
namespace {

constexpr int kDeepest = 16;
constexpr std::int64_t kLargest = 1'000'000'000'000'000;

/// Returns a short form of the value for an error message.
std::string shown(const RecordJson& value)
{
    if (value.is_structured()) {
        return value.is_object() ? "an object" : "a list";
    }
    constexpr std::size_t kLong = 40;
    std::string text = value.dump(-1, ' ', true, RecordJson::error_handler_t::replace);
    return text.size() > kLong ? text.substr(0, kLong) + "…" : text;
}

} // namespace

Result<RecordJson> parseRecord(const std::filesystem::path& path, std::string_view text, std::size_t longest)
{
    if (text.size() > longest) {
        return Error{path.string(),
                     "has " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(longest)};
    }
    const auto plain = utf8Text(text);
    if (!plain) {
        return Error{path.string(), plain.error().message};
    }
    if (const auto deep = tooDeep(text, kDeepest)) {
        return Error{path.string(), deep->message};
    }
    // An ordered object compares each key with all previous ones, which would take hours for a million keys.
    RecordJson json = longest <= kLongestRecord
                          ? RecordJson::parse(plain->begin(), plain->end(), nullptr, false)
                          : RecordJson(nlohmann::json::parse(plain->begin(), plain->end(), nullptr, false));
    if (!json.is_object()) {
        return Error{path.string(), text.empty()          ? "is empty, expected a JSON object"
                                    : json.is_discarded() ? "is not JSON (damaged or cut off?), expected an object"
                                                          : "is not a JSON object"};
    }
    return json;
}

const RecordJson* RecordFields::find(const char* key) const
{
    const auto found = m_object.find(key);
    return found == m_object.end() ? nullptr : &*found;
}

void RecordFields::fail(const char* key, const std::string& message)
{
    if (!m_error) {
        m_error = Error{m_place + " · " + key, message};
    }
}

const RecordJson* RecordFields::taken(const char* key)
{
    const RecordJson* const value = find(key);
    if (value == nullptr) {
        fail(key, "is missing");
    }
    return value;
}

std::string RecordFields::text(const char* key)
{
    const RecordJson* const value = taken(key);
    if (value != nullptr && !value->is_string()) {
        fail(key, "is " + shown(*value) + ", expected a text");
    }
    return m_error ? std::string() : value->get<std::string>();
}

std::vector<std::string> RecordFields::texts(const char* key)
{
    const RecordJson* const value = taken(key);
    std::vector<std::string> list;
    if (value != nullptr && !value->is_array()) {
        fail(key, "is " + shown(*value) + ", expected a list of texts");
    }
    for (std::size_t i = 0; !m_error && i < value->size(); ++i) {
        if (const RecordJson& item = (*value)[i]; item.is_string()) {
            list.push_back(item.get<std::string>());
        } else {
            fail(key, "holds " + shown(item) + ", expected texts");
        }
    }
    return list;
}

void RecordFields::eachOf(const char* key, const std::function<void(RecordFields& entry)>& take)
{
    const RecordJson* const list = taken(key);
    if (list != nullptr && !list->is_array()) {
        fail(key, "is " + shown(*list) + ", expected a list");
    }
    for (std::size_t i = 0; !m_error && i < list->size(); ++i) {
        const RecordJson& item = (*list)[i];
        RecordFields entry(m_place + " · " + key + " · entry " + std::to_string(i + 1), item);
        if (item.is_object()) {
            take(entry);
        } else {
            entry.m_error = Error{entry.m_place, "is " + shown(item) + ", expected an object"};
        }
        m_error = entry.m_error;
    }
}

std::int64_t RecordFields::count(const char* key)
{
    const RecordJson* const value = taken(key);
    // A large unsigned number would wrap around if it were read as a signed one.
    const bool sound = value != nullptr && value->is_number_integer() && value->get<double>() >= 0 &&
                       value->get<double>() <= static_cast<double>(kLargest);
    if (value != nullptr && !sound) {
        fail(key, "is " + shown(*value) + ", expected a whole number from 0 to 10^15");
    }
    return m_error ? 0 : value->get<std::int64_t>();
}

double RecordFields::number(const char* key)
{
    const RecordJson* const value = taken(key);
    if (value != nullptr && !value->is_number() && !value->is_null()) {
        fail(key, "is " + shown(*value) + ", expected a number or null");
    }
    const bool none = m_error || value->is_null();
    return none ? std::numeric_limits<double>::quiet_NaN() : value->get<double>();
}

} // namespace residua::engine
