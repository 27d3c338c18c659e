// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_files.h"

#include "engine/base/api/export_format.h"
#include "engine/base/files/json_record.h"
#include "engine/base/files/safetensors_header.h"
#include "projects/base/whole_file.h"

#include <map>
#include <string>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kImportFile = "import.json";
/// In bytes; enough for a config.json and some hundred thousand names.
constexpr std::size_t kLongestImport = std::size_t{1} << 24;

StoredType weightType(RecordFields& fields, const char* key, const std::string& name)
{
    if (const std::optional<StoredType> type = weightTypeFrom(name)) {
        return *type;
    }
    fields.fail(key, "is \"" + name + "\", expected " + weightTypeNames());
    return StoredType::F32;
}

Result<ImportRecord> importFrom(const RecordJson& json, const std::filesystem::path& path)
{
    RecordFields fields(path.string(), json);
    ImportRecord record;
    record.source = fields.text("source");
    record.config = fields.text("config");
    record.type = weightType(fields, "type", fields.text("type"));
    const RecordJson* const types = fields.find("types");
    if (types == nullptr || !types->is_object()) {
        fields.fail("types", "is missing, expected an object of types by tensor");
        return *fields.error();
    }
    for (const auto& [name, type] : types->items()) {
        record.types[name] = weightType(fields, "types", type.is_string() ? type.get<std::string>() : std::string());
    }
    return fields.error() ? Result<ImportRecord>(*fields.error()) : Result<ImportRecord>(std::move(record));
}

} // namespace

Status writeImport(const std::filesystem::path& runDirectory, const ImportRecord& record)
{
    std::map<std::string, std::string> types; // a map, because an ordered object compares each new key with all others
    for (const auto& [name, type] : record.types) {
        types[name] = nameOf(type);
    }
    const RecordJson json = {
        {"source", record.source}, {"type", nameOf(record.type)}, {"types", types}, {"config", record.config}};
    return writeOwnFile(runDirectory / kImportFile,
                        json.dump(1, ' ', false, RecordJson::error_handler_t::replace) + "\n");
}

Result<std::optional<ImportRecord>> readImport(const std::filesystem::path& runDirectory)
{
    const std::filesystem::path path = runDirectory / kImportFile;
    if (!isThere(path)) {
        return std::optional<ImportRecord>();
    }
    const auto text = RESIDUA_TRY(readFile(path));
    const auto json = RESIDUA_TRY(parseRecord(path, text, kLongestImport));
    Result<ImportRecord> record = importFrom(json, path);
    return record ? Result<std::optional<ImportRecord>>(std::move(*record))
                  : Result<std::optional<ImportRecord>>(record.error());
}

} // namespace residua::engine
