// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/checkpoint.h"

#include "engine/api/run_paths.h"
#include "engine/files/crc32c.h"
#include "engine/files/json_record.h"
#include "engine/files/safetensors_writer.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include <fcntl.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

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

/// The state's own checksum is that of its compact text without the checksum.
std::string checksumOf(const RecordJson& state)
{
    return hex(crc32c(asBytes(state.dump(-1, ' ', false, RecordJson::error_handler_t::replace))));
}

RecordJson stateJson(const CheckpointState& state, std::uint32_t model, std::uint32_t optimiser)
{
    RecordJson json = {{"format", kFormat},
                       {"step", state.step},
                       {"units", state.units},
                       {"seconds", state.seconds},
                       {"stage", state.stage}};
    if (state.validationLoss) {
        json["validationLoss"] = *state.validationLoss;
    }
    json["cursors"] = state.cursors;
    json["crc32c"] = {{kModelFile, hex(model)}, {kOptimiserFile, hex(optimiser)}};
    return json;
}

struct StateFile {
    CheckpointState state;
    std::string modelChecksum;
    std::string optimiserChecksum;
};

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

/// `json` without its checksum, which was right.
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
    state.stage = fields.count("stage");
    if (fields.find("validationLoss") != nullptr) { // earlier versions wrote none
        state.validationLoss = fields.number("validationLoss");
    }
    state.cursors = textsIn(fields, "cursors");
    const std::map<std::string, std::string> checksums = textsIn(fields, "crc32c");
    for (const auto& [name, checksum] :
         {std::pair(kModelFile, &file.modelChecksum), std::pair(kOptimiserFile, &file.optimiserChecksum)}) {
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
    if (state.validationLoss && !std::isfinite(*state.validationLoss)) {
        fields.fail("validationLoss", "is no finite number");
    }
    return fields.error() ? Result<StateFile>(*fields.error()) : Result<StateFile>(std::move(file));
}

Result<StateFile> readStateFile(const fs::path& path)
{
    auto text = readFile(path);
    if (!text) {
        return text.error();
    }
    auto json = parseRecord(path, *text);
    if (!json) {
        return json.error();
    }
    const auto checksum = json->find("checksum");
    if (checksum == json->end() || !checksum->is_string()) {
        return Error{path.string(), "checksum is missing"};
    }
    const auto claimed = checksum->get<std::string>();
    json->erase("checksum");
    if (const std::string actual = checksumOf(*json); actual != claimed) {
        return Error{path.string(), "its checksum is " + actual + ", expected " + claimed + " (damaged)"};
    }
    return stateFrom(*json, path.string());
}

/// The state of a checkpoint's folder; its name says the step as well.
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

Result<LoadedCheckpoint> loadFrom(const fs::path& runDirectory, std::int64_t step)
{
    const fs::path directory = checkpointDirectory(runDirectory, step);
    auto state = readState(directory, step);
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
    RecordJson json = stateJson(state, *modelChecksum, *optimiserChecksum);
    json["checksum"] = checksumOf(json);
    const std::string text = json.dump(2, ' ', false, RecordJson::error_handler_t::replace) + "\n";
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

/// Those that tell their validation loss, the least first, of equal ones the earlier.
std::vector<std::pair<double, std::int64_t>> byLoss(const fs::path& runDirectory,
                                                    const std::vector<std::int64_t>& steps)
{
    std::vector<std::pair<double, std::int64_t>> losses;
    for (const std::int64_t step : steps) {
        const auto state = readState(checkpointDirectory(runDirectory, step), step);
        if (state && state->state.validationLoss) {
            losses.emplace_back(*state->state.validationLoss, step);
        }
    }
    std::ranges::sort(losses);
    return losses;
}

/// Of `steps`, those that the rule keeps.
std::set<std::int64_t> keptBy(const CheckpointRule& rule, const fs::path& runDirectory,
                              const std::vector<std::int64_t>& steps)
{
    std::set<std::int64_t> kept;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool newest = rule.newest == 0 || steps.size() - i <= static_cast<std::size_t>(rule.newest);
        if (newest || (rule.every > 0 && steps[i] % rule.every == 0)) {
            kept.insert(steps[i]);
        }
    }
    if (rule.best > 0) {
        const auto losses = byLoss(runDirectory, steps);
        for (std::size_t i = 0; i < losses.size() && i < static_cast<std::size_t>(rule.best); ++i) {
            kept.insert(losses[i].second);
        }
    }
    return kept;
}

} // namespace

fs::path checkpointsFolder(const fs::path& runDirectory)
{
    return checkpointDirectory(runDirectory, 0).parent_path();
}

Status checkCheckpointsFolder(const fs::path& runDirectory)
{
    const fs::path folder = checkpointsFolder(runDirectory);
    std::error_code code;
    const fs::file_status status = fs::symlink_status(folder, code);
    if (fs::is_symlink(status)) {
        return Error{folder.string(), "is a link; a run writes its checkpoints, and removes old ones, in a folder of "
                                      "its own: put the folder that it points to in its place"};
    }
    if (fs::exists(status) && !fs::is_directory(status)) {
        return Error{folder.string(), "is no folder, expected one for the run's checkpoints"};
    }
    return Done{};
}

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
        // The name that a checkpoint of this step has, and no other way to write the number.
        if (parsed.ec == std::errc{} && parsed.ptr == last && step >= 0 &&
            checkpointDirectory(runDirectory, step).filename() == name) {
            steps.push_back(step);
        }
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::optional<std::int64_t> bestCheckpoint(const fs::path& runDirectory)
{
    const auto losses = byLoss(runDirectory, checkpointSteps(runDirectory));
    return losses.empty() ? std::nullopt : std::optional(losses.front().second);
}

Status removeCheckpointsAfter(const fs::path& runDirectory, std::int64_t step)
{
    if (Status sound = checkCheckpointsFolder(runDirectory); !sound) {
        return sound;
    }
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
                       const std::map<std::string, StoredTensor>& optimiser, const CheckpointRule& rule)
{
    if (Status sound = checkCheckpointsFolder(runDirectory); !sound) {
        return sound;
    }
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
    const std::set<std::int64_t> kept = keptBy(rule, runDirectory, steps);
    for (const std::int64_t step : steps) {
        if (status = kept.contains(step) ? Status(Done{}) : removeCheckpoint(runDirectory, step); !status) {
            return status;
        }
    }
    return Done{};
}

Result<LoadedCheckpoint> loadCheckpoint(const fs::path& runDirectory, std::optional<std::int64_t> step,
                                        std::vector<std::string>* skipped)
{
    if (step) {
        return loadFrom(runDirectory, *step);
    }
    auto steps = checkpointSteps(runDirectory);
    std::reverse(steps.begin(), steps.end());
    for (const std::int64_t candidate : steps) {
        const fs::path directory = checkpointDirectory(runDirectory, candidate);
        auto loaded = loadFrom(runDirectory, candidate);
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
