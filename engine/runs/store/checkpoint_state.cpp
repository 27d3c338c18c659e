// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/checkpoint.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/json_record.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

/// Returns the state's own checksum: that of its compact text without the checksum.
std::string checksumOf(const RecordJson& state)
{
    return checksumText(crc32c(asBytes(state.dump(-1, ' ', false, RecordJson::error_handler_t::replace))));
}

RecordJson stateJson(const CheckpointState& state, const std::string& run, std::uint32_t model, std::uint32_t optimiser)
{
    RecordJson json = {{"format", kFormat},
                       {"step", state.step},
                       {"units", state.units},
                       {"seconds", state.seconds},
                       {"stage", 0}}; // earlier versions do not open a checkpoint without it
    if (state.judged) {
        json["validationLoss"] = *state.judged; // the key has the name of the loss for earlier versions
    }
    if (!run.empty()) {
        json["run"] = run;
    }
    json["cursors"] = state.cursors;
    json["crc32c"] = {{kModelTensors, checksumText(model)}, {kOptimiserTensors, checksumText(optimiser)}};
    return json;
}

std::map<std::string, std::string> textsIn(RecordFields& fields, const char* key)
{
    std::map<std::string, std::string> texts;
    const RecordJson* const object = fields.find(key);
    if (object == nullptr || !object->is_object()) {
        fields.fail(key, "is missing, expected an object of texts");
        return texts;
    }
    for (const auto& [name, value] : object->items()) {
        if (!value.is_string()) {
            fields.fail(key, "\"" + name + "\" is no text");
            return texts;
        }
        texts[name] = value.get<std::string>();
    }
    return texts;
}

/// Parses the state. `json` has no checksum; the caller has checked it.
Result<StateFile> stateFrom(const RecordJson& json, const std::string& place)
{
    RecordFields fields(place, json);
    if (const std::int64_t format = fields.count("format"); !fields.error() && format != kFormat) {
        fields.fail("format", "is " + std::to_string(format) + ", expected " + std::to_string(kFormat) +
                                  ", the one this program reads");
    }
    StateFile file;
    CheckpointState& state = file.state;
    state.step = fields.count("step");
    state.units = fields.count("units");
    state.seconds = fields.number("seconds");
    if (fields.find("validationLoss") != nullptr) { // earlier versions wrote none
        state.judged = fields.number("validationLoss");
    }
    if (fields.find("run") != nullptr) {
        file.run = fields.text("run");
    }
    state.cursors = textsIn(fields, "cursors");
    const std::map<std::string, std::string> checksums = textsIn(fields, "crc32c");
    for (const auto& [name, checksum] :
         {std::pair(kModelTensors, &file.modelChecksum), std::pair(kOptimiserTensors, &file.optimiserChecksum)}) {
        const auto found = checksums.find(name);
        if (found == checksums.end()) {
            fields.fail("crc32c", "lacks " + std::string(name));
        } else {
            *checksum = found->second;
        }
    }
    if (!(state.seconds >= 0) || !std::isfinite(state.seconds)) {
        fields.fail("seconds", "is no time, expected seconds from 0 on");
    }
    if (state.judged && !std::isfinite(*state.judged)) {
        fields.fail("validationLoss", "is no finite number");
    }
    return fields.error() ? Result<StateFile>(*fields.error()) : Result<StateFile>(std::move(file));
}

Result<StateFile> readStateFile(const fs::path& path)
{
    auto text = RESIDUA_TRY(readFile(path));
    auto json = RESIDUA_TRY(parseRecord(path, text));
    const auto checksum = json.find("checksum");
    if (checksum == json.end() || !checksum->is_string()) {
        return Error{path.string(), "checksum is missing"};
    }
    const auto claimed = checksum->get<std::string>();
    json.erase("checksum");
    if (const std::string actual = checksumOf(json); actual != claimed) {
        return Error{path.string(), "its checksum is " + actual + ", expected " + claimed + " (damaged)"};
    }
    return stateFrom(json, path.string());
}

} // namespace

std::string checksumText(std::uint32_t checksum)
{
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", checksum);
    return text.data();
}

std::string stateText(const CheckpointState& state, const std::string& run, std::uint32_t model,
                      std::uint32_t optimiser)
{
    RecordJson json = stateJson(state, run, model, optimiser);
    json["checksum"] = checksumOf(json);
    return json.dump(2, ' ', false, RecordJson::error_handler_t::replace) + "\n";
}

Result<StateFile> readState(const fs::path& directory, std::int64_t step)
{
    const fs::path path = directory / kStateFile;
    auto state = readStateFile(path);
    if (state && state->state.step != step) {
        return Error{path.string() + " · step", "is " + std::to_string(state->state.step) +
                                                    ", expected that of the folder, " + std::to_string(step)};
    }
    return state;
}

} // namespace residua::engine
