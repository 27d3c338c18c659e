// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/json.h"

#include "projects/file/store.h"
#include "projects/schema/json_read.h"
#include "projects/schema/json_write.h"

namespace residua::projects {

template <>
struct Fields<BlockFile> {
    static constexpr void visit(auto&& v)
    {
        v({"block", "block", "The block that the file keeps."}, &BlockFile::block);
        v({"positions", "positions", "Where its nodes stand."}, &BlockFile::positions);
    }
};

namespace {

constexpr std::string_view kSchemaKey = "schema";

template <class T>
JsonValue withSchema(const T& value)
{
    JsonObject object{{std::string(kSchemaKey), toTree(std::int64_t{kSchemaVersion})}};
    appendFields(object, value);
    return {std::move(object)};
}

/// Removes the key of the schema version and returns its checked value.
Result<int> takeSchema(JsonValue& tree)
{
    if (!std::holds_alternative<JsonObject>(tree.data)) {
        return Error{"document", "is " + nameOfValue(tree) + "; expected an object"};
    }
    const JsonPlace root;
    const std::string place = JsonPlace{&root, kSchemaKey}.text();
    const std::string known = "expected a schema from 0 to " + std::to_string(kSchemaVersion);
    if (findMember(tree, kSchemaKey) == nullptr) {
        return Error{place, "is missing; " + known};
    }
    const JsonValue schema = takeMember(tree, kSchemaKey);
    const auto* number = std::get_if<std::int64_t>(&schema.data);
    if (number == nullptr || *number < 0) {
        return Error{place, "is " + nameOfValue(schema) + "; " + known};
    }
    if (*number > kSchemaVersion) {
        return Error{place, "is " + nameOfValue(schema) + ", which a newer Residua wrote; this one reads up to " +
                                std::to_string(kSchemaVersion)};
    }
    return static_cast<int>(*number);
}

Result<BlockFile> blockFromTree(JsonValue tree)
{
    const auto schema = RESIDUA_TRY(takeSchema(tree));
    migrateBlock(tree, schema);
    return JsonReader::readAll<BlockFile>(tree);
}

template <class T>
Result<T> parsedWith(Result<T> (*fromTree)(JsonValue), std::string_view text)
{
    auto tree = RESIDUA_TRY(parseJson(text));
    return fromTree(std::move(tree));
}

} // namespace

JsonValue treeOf(const Project& project)
{
    return withSchema(project);
}

JsonValue treeOf(const Layout& layout)
{
    Layout kept = layout;
    std::erase_if(kept.positions, [](const auto& entry) { return entry.second.empty(); });
    return withSchema(kept);
}

JsonValue treeOf(const FieldValue& value)
{
    return toTree(value);
}

Result<Project> projectFromTree(JsonValue tree)
{
    const auto schema = RESIDUA_TRY(takeSchema(tree));
    RESIDUA_TRY(migrateProject(tree, schema));
    return JsonReader::readAll<Project>(tree);
}

Result<Layout> layoutFromTree(JsonValue tree)
{
    // The format of layouts has not changed since schema 0.
    RESIDUA_TRY(takeSchema(tree));
    return JsonReader::readAll<Layout>(tree);
}

std::string toJson(const Project& project)
{
    return printJson(treeOf(project));
}

std::string changedFields(const Project& project)
{
    return printJson(toTree(project, InFiles::IfSet));
}

std::string toJson(const Layout& layout)
{
    return printJson(treeOf(layout));
}

std::string toJson(const BlockFile& file)
{
    return printJson(withSchema(file));
}

Result<Project> projectFromJson(std::string_view text)
{
    return parsedWith(projectFromTree, text);
}

Result<Layout> layoutFromJson(std::string_view text)
{
    return parsedWith(layoutFromTree, text);
}

Result<BlockFile> blockFromJson(std::string_view text)
{
    return parsedWith(blockFromTree, text);
}

} // namespace residua::projects
