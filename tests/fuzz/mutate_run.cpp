// SPDX-License-Identifier: GPL-3.0-or-later
#include "mutate_run.h"

#include "fuzz.h"

#include "engine/base/files/content_hash.h"
#include "projects/base/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

namespace residua::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string contentOf(const fs::path& path)
{
    std::error_code code;
    if (!fs::is_regular_file(fs::symlink_status(path, code))) {
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put(const fs::path& path, const std::string& bytes)
{
    std::error_code code;
    fs::remove_all(path, code); // of a link, the link
    std::ofstream(path, std::ios::binary) << bytes;
}

/// Everything in the run, deepest names last; links are not followed.
std::vector<fs::path> entriesOf(const fs::path& run)
{
    std::vector<fs::path> entries;
    std::error_code code;
    for (fs::recursive_directory_iterator entry(run, code), end; !code && entry != end; entry.increment(code)) {
        entries.push_back(entry->path());
    }
    std::ranges::sort(entries);
    return entries;
}

std::string checksum(const std::string& bytes)
{
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", engine::crc32c(asBytes(bytes)));
    return digits;
}

} // namespace

std::string RunMutator::mutate(const fs::path& run)
{
    std::string done;
    for (std::size_t count = 1 + below(m_random, 4); count > 0; --count) {
        done += change(run) + "; ";
    }
    if (below(m_random, 2) == 0) {
        reseal(run);
        done += "resealed";
    }
    return done;
}

std::string RunMutator::change(const fs::path& run)
{
    const std::vector<fs::path> entries = entriesOf(run);
    if (entries.empty()) {
        return "nothing is left";
    }
    const fs::path entry = oneOf(m_random, entries);
    std::string done;
    switch (below(m_random, 4)) {
    case 0:
        done = changeField(run / "run.json");
        break;
    case 1:
        done = entry.extension() == ".safetensors" ? changeHeader(entry) : changeField(entry);
        break;
    default:
        done = changeEntry(entry);
        break;
    }
    return done;
}

std::string RunMutator::changeEntry(const fs::path& entry)
{
    const std::string name = entry.lexically_relative(entry.parent_path().parent_path()).string();
    std::error_code code;
    const fs::path target = below(m_random, 2) == 0 ? m_outside : m_outside / "precious.txt";
    switch (below(m_random, 9)) {
    case 0:
        fs::remove_all(entry, code);
        return "removed " + name;
    case 1:
        fs::rename(entry, entry.string() + ".tmp", code);
        return "renamed " + name;
    case 2:
        fs::remove_all(entry, code);
        fs::create_directory(entry, code);
        return "a folder for " + name;
    case 3:
        fs::remove_all(entry, code);
        fs::create_symlink(target, entry, code);
        return "a link for " + name;
    case 4:
        fs::remove_all(entry, code);
        ::mkfifo(entry.c_str(), 0600);
        return "a FIFO for " + name;
    case 5:
        fs::rename(entry, entry.parent_path() / "step-00000003", code);
        return "another checkpoint's name for " + name;
    case 6:
        fs::create_symlink(target, entry.parent_path() / ".step-00000006.tmp", code);
        fs::create_symlink(target, entry.parent_path() / ".step-00000004.old", code);
        return "links beside " + name;
    default:
        if (entry.filename() == "project.json" || !fs::is_regular_file(fs::symlink_status(entry, code))) {
            return name + " stays"; // documents have a mutator of their own
        }
        put(entry, withRandomBytes(contentOf(entry), m_random));
        return "bytes of " + name;
    }
}

/// A field, or one in an object in it, becomes something strange, or goes.
std::string RunMutator::changeField(const fs::path& file)
{
    Json json = Json::parse(contentOf(file), nullptr, false);
    if (!json.is_object() || json.empty() || file.filename() == "project.json") {
        return file.filename().string() + " has no fields";
    }
    Json* object = &json;
    auto field = std::next(object->begin(), static_cast<std::ptrdiff_t>(below(m_random, object->size())));
    if (field->is_object() && !field->empty() && below(m_random, 2) == 0) {
        object = &*field;
        field = std::next(object->begin(), static_cast<std::ptrdiff_t>(below(m_random, object->size())));
    }
    const std::string key = field.key();
    const std::string value = strange();
    if (below(m_random, 6) == 0) {
        object->erase(key);
    } else {
        const Json parsed = Json::parse(value, nullptr, false);
        (*object)[key] = parsed.is_discarded() ? Json(value) : parsed;
    }
    put(file, json.dump(2, ' ', false, Json::error_handler_t::replace));
    return file.filename().string() + " · " + key + " = " + value.substr(0, 40);
}

/// A field of one tensor's entry, or the length of the header.
std::string RunMutator::changeHeader(const fs::path& tensors)
{
    std::string bytes = contentOf(tensors);
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length) {
        return "no header";
    }
    std::memcpy(&length, bytes.data(), sizeof length);
    const std::string name = tensors.filename().string();
    if (length > bytes.size() - sizeof length || below(m_random, 8) == 0) {
        length = m_random() >> below(m_random, 64);
        std::memcpy(bytes.data(), &length, sizeof length);
        put(tensors, bytes);
        return name + " · length = " + std::to_string(length);
    }
    Json header = Json::parse(bytes.substr(sizeof length, length), nullptr, false);
    if (!header.is_object() || header.empty()) {
        return "no header";
    }
    auto tensor = std::next(header.begin(), static_cast<std::ptrdiff_t>(below(m_random, header.size())));
    const char* const keys[] = {"dtype", "shape", "data_offsets"};
    const std::string key = oneOf(m_random, keys);
    const std::string values[] = {
        "[]",        "[-1]",    "[4,4]",   "[0,18446744073709551615]", "[1e9,1e9]",
        "[[[[1]]]]", "\"F64\"", "\"F16\"", "[9223372036854775807,2]",  "[4294967296,4294967296]",
        "[0,0]"};
    const std::string value = oneOf(m_random, values);
    if (tensor->is_object()) {
        (*tensor)[key] = Json::parse(value);
    }
    const std::string text = header.dump();
    const std::uint64_t now = text.size();
    std::string prefix(sizeof now, '\0');
    std::memcpy(prefix.data(), &now, sizeof now);
    put(tensors, prefix + text + bytes.substr(sizeof length + length));
    return name + " · " + key + " = " + value;
}

std::string RunMutator::strange()
{
    const std::string values[] = {"-1",
                                  "0",
                                  "1e300",
                                  "9223372036854775807",
                                  "18446744073709551615",
                                  "1.5",
                                  "null",
                                  "true",
                                  "[]",
                                  "{}",
                                  "\"\"",
                                  "\"finished\"",
                                  "\"running\"",
                                  "\"cuda:99\"",
                                  "\"../../../../../../outside\"",
                                  "\"" + m_outside.string() + "\"",
                                  "\"\\u0000\\u001b[2J\"",
                                  "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
                                  std::string(300'000, '[')};
    return oneOf(m_random, values);
}

void reseal(const fs::path& run)
{
    std::error_code code;
    for (fs::directory_iterator entry(run / "checkpoints", code), end; !code && entry != end; entry.increment(code)) {
        const fs::path state = entry->path() / "state.json";
        std::error_code ignored;
        const bool within = fs::is_directory(entry->symlink_status(ignored)) &&
                            !fs::is_symlink(fs::symlink_status(run / "checkpoints", ignored));
        Json json = within ? Json::parse(contentOf(state), nullptr, false) : Json();
        if (!json.is_object()) {
            continue;
        }
        for (const char* name : {"model.safetensors", "optimiser.safetensors"}) {
            if (json.contains("crc32c") && json["crc32c"].is_object()) {
                json["crc32c"][name] = checksum(contentOf(entry->path() / name));
            }
        }
        json.erase("checksum");
        json["checksum"] = checksum(json.dump(-1, ' ', false, Json::error_handler_t::replace));
        put(state, json.dump(2, ' ', false, Json::error_handler_t::replace));
    }
}

} // namespace residua::fuzz
