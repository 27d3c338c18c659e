// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/checkpoint.h"

#include "engine/api/run_reader.h"
#include "engine/record/crc32c.h"
#include "engine/record/files.h"
#include "engine/record/safetensors_writer.h"
#include "projects/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include <fcntl.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kStateFile = "state.json";
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimiserFile = "optimiser.safetensors";
constexpr int kFormat = 1;
constexpr std::string_view kStepPrefix = "step-";

std::string hex(std::uint32_t checksum)
{
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", checksum);
    return text.data();
}

fs::path checkpointsFolder(const fs::path& runDirectory)
{
    return checkpointDirectory(runDirectory, 0).parent_path();
}

/// The state's own checksum is that of its compact text without the checksum.
std::string checksumOf(const Json& state)
{
    return hex(crc32c(asBytes(state.dump(-1, ' ', false, Json::error_handler_t::replace))));
}

Json stateJson(const CheckpointState& state, std::uint32_t model, std::uint32_t optimiser)
{
    Json json = {{"format", kFormat},
                 {"step", state.step},
                 {"units", state.units},
                 {"seconds", state.seconds},
                 {"stage", state.stage}};
    json["cursors"] = state.cursors;
    json["crc32c"] = {{kModelFile, hex(model)}, {kOptimiserFile, hex(optimiser)}};
    return json;
}

struct StateFile {
    CheckpointState state;
    std::string modelChecksum;
    std::string optimiserChecksum;
};

Result<StateFile> readStateFile(const fs::path& path)
{
    const auto text = projects::readFile(path);
    if (!text) {
        return text.error();
    }
    Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) {
        return Error{path.string(), "is not a JSON object (truncated?)"};
    }
    const auto checksum = json.find("checksum");
    if (checksum == json.end() || !checksum->is_string()) {
        return Error{path.string(), "checksum is missing"};
    }
    const auto claimed = checksum->get<std::string>();
    json.erase("checksum");
    if (const std::string actual = checksumOf(json); actual != claimed) {
        return Error{path.string(), "its checksum is " + actual + ", expected " + claimed + " (damaged)"};
    }
    try {
        if (const int format = json.at("format").get<int>(); format != kFormat) {
            return Error{path.string(), "format " + std::to_string(format) + " is not " + std::to_string(kFormat) +
                                            ", the one this program reads"};
        }
        StateFile file;
        json.at("step").get_to(file.state.step);
        json.at("units").get_to(file.state.units);
        json.at("seconds").get_to(file.state.seconds);
        json.at("stage").get_to(file.state.stage);
        json.at("cursors").get_to(file.state.cursors);
        json.at("crc32c").at(kModelFile).get_to(file.modelChecksum);
        json.at("crc32c").at(kOptimiserFile).get_to(file.optimiserChecksum);
        return file;
    } catch (const Json::exception& exception) {
        return Error{path.string(), exception.what()};
    }
}

Result<SafetensorsFile> openVerified(const fs::path& path, const std::string& checksum)
{
    auto file = SafetensorsFile::open(path);
    if (!file) {
        return file;
    }
    if (const std::string actual = hex(crc32c(file->bytes())); actual != checksum) {
        return Error{path.string(), "its checksum is " + actual + ", expected " + checksum + " (damaged)"};
    }
    return file;
}

Result<LoadedCheckpoint> loadFrom(const fs::path& directory)
{
    auto state = readStateFile(directory / kStateFile);
    if (!state) {
        return state.error();
    }
    auto model = openVerified(directory / kModelFile, state->modelChecksum);
    if (!model) {
        return model.error();
    }
    auto optimiser = openVerified(directory / kOptimiserFile, state->optimiserChecksum);
    if (!optimiser) {
        return optimiser.error();
    }
    return LoadedCheckpoint{std::move(state->state), std::move(*model), std::move(*optimiser)};
}

Status writeFiles(const fs::path& directory, const CheckpointState& state,
                  const std::map<std::string, StoredTensor>& model,
                  const std::map<std::string, StoredTensor>& optimiser)
{
    const std::map<std::string, std::string> metadata{{"format", "residua"}, {"step", std::to_string(state.step)}};
    auto modelChecksum = writeNewSafetensors(directory / kModelFile, model, metadata);
    if (!modelChecksum) {
        return modelChecksum.error();
    }
    auto optimiserChecksum = writeNewSafetensors(directory / kOptimiserFile, optimiser, metadata);
    if (!optimiserChecksum) {
        return optimiserChecksum.error();
    }
    auto file = OutputFile::create(directory / kStateFile);
    if (!file) {
        return file.error();
    }
    Json json = stateJson(state, *modelChecksum, *optimiserChecksum);
    json["checksum"] = checksumOf(json);
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (auto status = file->write(asBytes(text)); !status) {
        return status;
    }
    if (auto status = file->sync(); !status) {
        return status;
    }
    return syncDirectory(directory);
}

/// Renames `from` to `to`, exchanging them where `to` exists, so that one whole checkpoint is there at any moment.
Status putInPlace(const fs::path& from, const fs::path& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
        return Done{};
    }
    std::error_code code;
    if (errno != ENOENT) { // a file system that cannot exchange
        fs::remove_all(to, code);
    }
    fs::rename(from, to, code);
    if (code) {
        return systemError(to, "cannot put the new checkpoint in place", code.value());
    }
    return Done{};
}

Status removeCheckpoint(const fs::path& runDirectory, std::int64_t step)
{
    // Renamed first: a checkpoint that is half removed must not look like one.
    const fs::path directory = checkpointDirectory(runDirectory, step);
    const fs::path doomed = directory.parent_path() / ("." + directory.filename().string() + ".old");
    std::error_code code;
    fs::remove_all(doomed, code);
    fs::rename(directory, doomed, code);
    if (code) {
        return systemError(directory, "cannot remove the checkpoint", code.value());
    }
    fs::remove_all(doomed, code);
    return Done{};
}

} // namespace

std::vector<std::int64_t> checkpointSteps(const fs::path& runDirectory)
{
    std::vector<std::int64_t> steps;
    std::error_code code;
    for (fs::directory_iterator entry(checkpointsFolder(runDirectory), code), end; !code && entry != end;
         entry.increment(code)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(kStepPrefix)) {
            continue;
        }
        std::int64_t step = 0;
        const char* last = name.data() + name.size();
        const auto parsed = std::from_chars(name.data() + kStepPrefix.size(), last, step);
        if (parsed.ec == std::errc{} && parsed.ptr == last) {
            steps.push_back(step);
        }
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

Status removeCheckpointsAfter(const fs::path& runDirectory, std::int64_t step)
{
    for (const std::int64_t later : checkpointSteps(runDirectory)) {
        if (later > step) {
            if (auto status = removeCheckpoint(runDirectory, later); !status) {
                return status;
            }
        }
    }
    return Done{};
}

Status writeCheckpoint(const fs::path& runDirectory, const CheckpointState& state,
                       const std::map<std::string, StoredTensor>& model,
                       const std::map<std::string, StoredTensor>& optimiser, std::int64_t keep)
{
    const fs::path folder = checkpointsFolder(runDirectory);
    const fs::path directory = checkpointDirectory(runDirectory, state.step);
    const fs::path temporary = folder / ("." + directory.filename().string() + ".tmp");
    std::error_code code;
    fs::remove_all(temporary, code);
    fs::create_directories(temporary, code);
    if (code) {
        return systemError(temporary, "cannot create the checkpoint's directory", code.value());
    }
    Status status = writeFiles(temporary, state, model, optimiser);
    if (status) {
        status = putInPlace(temporary, directory);
    }
    fs::remove_all(temporary, code); // what is left of a failure, or the checkpoint that was exchanged
    if (!status) {
        return status;
    }
    for (const fs::path& changed : {folder, runDirectory}) {
        if (status = syncDirectory(changed); !status) {
            return status;
        }
    }
    const auto steps = checkpointSteps(runDirectory);
    const auto kept = keep == 0 ? steps.size() : static_cast<std::size_t>(keep);
    for (std::size_t i = 0; i + kept < steps.size(); ++i) {
        if (status = removeCheckpoint(runDirectory, steps[i]); !status) {
            return status;
        }
    }
    return Done{};
}

Result<LoadedCheckpoint> loadCheckpoint(const fs::path& runDirectory, std::optional<std::int64_t> step,
                                        std::vector<std::string>* skipped)
{
    if (step) {
        return loadFrom(checkpointDirectory(runDirectory, *step));
    }
    auto steps = checkpointSteps(runDirectory);
    std::reverse(steps.begin(), steps.end());
    for (const std::int64_t candidate : steps) {
        const fs::path directory = checkpointDirectory(runDirectory, candidate);
        auto loaded = loadFrom(directory);
        if (loaded) {
            return loaded;
        }
        if (skipped != nullptr) {
            skipped->push_back("checkpoint " + directory.filename().string() + " skipped: " + loaded.error().text());
        }
    }
    return Error{checkpointsFolder(runDirectory).string(),
                 steps.empty() ? "there is no checkpoint"
                               : "none of the " + std::to_string(steps.size()) + " checkpoints is intact"};
}

} // namespace residua::engine
