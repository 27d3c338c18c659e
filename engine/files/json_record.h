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

/// The small JSON files of runs and bundles, read as a stranger's.
namespace residua::engine {

using RecordJson = nlohmann::ordered_json;

inline constexpr std::size_t kLongestRecord = std::size_t{1} << 18; ///< finding a key takes time by their number

/// The object in `text`, which came from the file at `path`. Refused, with what it is instead: more bytes than
/// `longest`, UTF-16 or UTF-32, what is nested deeper than 16 levels, what is no JSON object. Keys are in the order of
/// the text, or of their letters where `longest` is more than kLongestRecord.
[[nodiscard]] Result<RecordJson> parseRecord(const std::filesystem::path& path, std::string_view text,
                                             std::size_t longest = kLongestRecord);

/// Takes the fields of an object. The first that is missing or of another kind is the error; what is taken after it
/// is empty.
class RecordFields {
public:
    /// `place` is the file's path. The object outlives this.
    RecordFields(std::string place, const RecordJson& object) : m_place(std::move(place)), m_object(object) {}

    [[nodiscard]] std::string text(const char* key);
    [[nodiscard]] std::vector<std::string> texts(const char* key);
    /// Not negative, and at most 10^15: a double holds it exactly.
    [[nodiscard]] std::int64_t count(const char* key);
    /// NaN for null, which JSON has in its place.
    [[nodiscard]] double number(const char* key);
    /// Reads the list `key` of objects: `take` gets the fields of each. The error names the entry, from 1 on.
    void eachOf(const char* key, const std::function<void(RecordFields& entry)>& take);
    /// nullptr where there is none, which is no error here.
    [[nodiscard]] const RecordJson* find(const char* key) const;

    /// Makes `message` the error, where there is none yet.
    void fail(const char* key, const std::string& message);
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    [[nodiscard]] const RecordJson* taken(const char* key);

    std::string m_place;
    const RecordJson& m_object;
    std::optional<Error> m_error;
};

} // namespace residua::engine
