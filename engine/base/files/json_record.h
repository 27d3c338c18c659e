// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Readers of the small JSON files of runs and bundles, which are treated as untrusted.
namespace residua::engine {

using RecordJson = nlohmann::ordered_json;

/// In bytes. Finding a key takes time proportional to the number of keys.
inline constexpr std::size_t kLongestRecord = std::size_t{1} << 18;

/// Parses the object in `text`, the content of the file at `path`. Returns an error that describes the content if it is
/// longer than `longest` bytes, is UTF-16 or UTF-32, is nested deeper than 16 levels, or is not a JSON object. Keys
/// keep their order, but are sorted if `longest` is more than kLongestRecord.
[[nodiscard]] Result<RecordJson> parseRecord(const std::filesystem::path& path, std::string_view text,
                                             std::size_t longest = kLongestRecord);

/// Reads the fields of an object. The first field that is missing or of another type sets the error; after that all
/// values are empty.
class RecordFields {
public:
    /// `place` is the file's path. `object` must outlive this.
    RecordFields(std::string place, const RecordJson& object) : m_place(std::move(place)), m_object(object) {}

    [[nodiscard]] std::string text(const char* key);
    [[nodiscard]] std::vector<std::string> texts(const char* key);
    /// Returns an integer from 0 to 10^15, which a double holds exactly.
    [[nodiscard]] std::int64_t count(const char* key);
    /// Returns a number; NaN if it is null, which represents NaN in JSON.
    [[nodiscard]] double number(const char* key);
    /// Reads the list `key` of objects: calls `take` with the fields of each. Errors name the entry, from 1.
    void eachOf(const char* key, const std::function<void(RecordFields& entry)>& take);
    /// Returns the field, or nullptr if it is missing, which is not an error here.
    [[nodiscard]] const RecordJson* find(const char* key) const;

    /// Sets the error to `message`, unless an error is already set.
    void fail(const char* key, const std::string& message);
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    [[nodiscard]] const RecordJson* taken(const char* key);

    std::string m_place;
    const RecordJson& m_object;
    std::optional<Error> m_error;
};

} // namespace residua::engine
