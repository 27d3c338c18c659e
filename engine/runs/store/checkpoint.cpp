// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/checkpoint.h"

#include "engine/base/api/environment.h"
#include "engine/base/files/content_hash.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/files.h"
#include "projects/base/mapped.h"
#include "projects/base/scratch_folder.h"
#include "projects/base/text.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStepPrefix = kCheckpointPrefix;
constexpr std::size_t kLongestCause = 300; ///< bytes of a run's error that a message repeats

Status compareChecksum(const fs::path& path, std::uint32_t actual, const std::string& checksum)
{
    return checksumText(actual) == checksum ? Status(Done{})
                                            : Error{path.string(), "its checksum is " + checksumText(actual) +
                                                                       ", expected " + checksum + " (damaged)"};
}

/// Returns the identity of a run; empty if it has none or no run.json.
std::string runIdentity(const fs::path& runDirectory)
{
    const auto file = readRunFile(runDirectory);
    return file ? file->identity : std::string();
}

/// Returns why a run has no checkpoint, and the way on, as the end of a sentence; empty if that is unknown.
std::string whyNone(const fs::path& runDirectory)
{
    const auto file = readRunFile(runDirectory);
    if (!file) {
        return {};
    }
    const RunInfo& info = file->info;
    const std::string ended =
        textOf(info.status) + " after step " + std::to_string(info.step) + ", before its first one";
    switch (info.status) {
    case RunStatus::Running:
    case RunStatus::Paused:
        return " yet: the run is " + textOf(info.status) +
               "; wait for its first one, or train the project again if it was killed";
    case RunStatus::Failed:
        return ": the run " + ended + (info.message.size() <= kLongestCause ? " (" + info.message + ")" : "") +
               "; mend the cause and train the project again";
    case RunStatus::Interrupted:
        return ": the run was " + ended + "; train the project again";
    case RunStatus::Finished:
    case RunStatus::Stopped:
        break;
    }
    return ": its checkpoints were removed or left where it trained; train the project again";
}

/// Returns an error that names the steps that the run has if this one has no checkpoint.
Status checkStep(const fs::path& runDirectory, std::int64_t step)
{
    constexpr std::size_t kFew = 8;
    const std::vector<std::int64_t> steps = checkpointSteps(runDirectory);
    if (std::ranges::binary_search(steps, step)) {
        return Done{};
    }
    const auto shown = [](std::int64_t each) { return std::to_string(each); };
    const std::string there = steps.empty() ? whyNone(runDirectory)
                              : steps.size() <= kFew
                                  ? "; expected one of " + joinedText(steps, ", ", shown)
                                  : "; expected one of the " + std::to_string(steps.size()) + " from " +
                                        std::to_string(steps.front()) + " to " + std::to_string(steps.back());
    return Error{checkpointsFolder(runDirectory).string(),
                 "there is no checkpoint of step " + std::to_string(step) + there};
}

struct Whole {
    using Checkpoint = LoadedCheckpoint;

    static Result<SafetensorsFile> open(const fs::path& path, const std::string& checksum,
                                        const PreparationWatch& /*watch*/)
    {
        auto file = RESIDUA_TRY(SafetensorsFile::open(path));
        RESIDUA_TRY(compareChecksum(path, crc32c(file.bytes()), checksum));
        return file;
    }
};

struct InPieces {
    using Checkpoint = CheckpointFiles;

    static Result<TensorFiles> open(const fs::path& path, const std::string& checksum, const PreparationWatch& watch)
    {
        auto files = RESIDUA_TRY(TensorFiles::openFile(path));
        const auto file = RESIDUA_TRY(InputFile::open(path));
        constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
        std::vector<std::byte> piece;
        std::uint32_t actual = 0;
        for (std::uint64_t at = 0; at < file.size(); at += piece.size()) {
            piece.resize(std::min(kPiece, file.size() - at));
            RESIDUA_TRY(file.read(at, piece));
            actual = crc32c(piece, actual);
            RESIDUA_TRY(stillWanted(watch, 1));
        }
        RESIDUA_TRY(compareChecksum(path, actual, checksum));
        return files;
    }
};

template <class How>
Result<typename How::Checkpoint> checkpointIn(const fs::path& directory, std::int64_t step,
                                              const fs::path& runDirectory, const PreparationWatch& watch = {})
{
    auto state = RESIDUA_TRY(readState(directory, step));
    const std::string run = runIdentity(runDirectory);
    if (!state.run.empty() && !run.empty() && state.run != run) {
        return Error{(directory / kStateFile).string() + " · run",
                     "is " + state.run + ", expected " + run +
                         ": this is a checkpoint of another run; import --onto takes the weights of a file"};
    }
    auto model = RESIDUA_TRY(How::open(directory / kModelTensors, state.modelChecksum, watch));
    auto optimiser = RESIDUA_TRY(How::open(directory / kOptimiserTensors, state.optimiserChecksum, watch));
    return typename How::Checkpoint{std::move(state.state), std::move(model), std::move(optimiser)};
}

template <class How>
Result<typename How::Checkpoint> checkpointOf(const fs::path& runDirectory, std::int64_t step)
{
    return checkpointIn<How>(checkpointDirectory(runDirectory, step), step, runDirectory);
}

template <class How>
Result<typename How::Checkpoint> newestIntact(const fs::path& runDirectory, std::optional<std::int64_t> step,
                                              std::vector<std::string>* skipped)
{
    if (step) {
        RESIDUA_TRY(checkStep(runDirectory, *step));
        return checkpointOf<How>(runDirectory, *step);
    }
    const auto steps = checkpointSteps(runDirectory);
    for (const std::int64_t candidate : steps | std::views::reverse) {
        const fs::path directory = checkpointDirectory(runDirectory, candidate);
        auto loaded = checkpointOf<How>(runDirectory, candidate);
        if (loaded) {
            return loaded;
        }
        if (skipped != nullptr) {
            skipped->push_back("checkpoint " + directory.filename().string() + " skipped: " + loaded.error().text());
        }
    }
    return Error{checkpointsFolder(runDirectory).string(),
                 steps.empty() ? "there is no checkpoint" + whyNone(runDirectory)
                               : "none of the " + std::to_string(steps.size()) + " checkpoints is intact"};
}

/// Returns <run>/checkpoints/.step-N.tmp.
fs::path temporaryOf(const fs::path& runDirectory, std::int64_t step)
{
    const fs::path directory = checkpointDirectory(runDirectory, step);
    return directory.parent_path() / ("." + directory.filename().string() + ".tmp");
}

Status removeCheckpoint(const fs::path& runDirectory, std::int64_t step)
{
    // Renames first, so that a partially removed checkpoint does not look like one.
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

/// Writes the last file of a checkpoint and flushes its folder to the disk.
Status writeStateFile(const fs::path& folder, const std::string& text)
{
    auto file = RESIDUA_TRY(OutputFile::create(folder / kStateFile));
    RESIDUA_TRY(file.write(asBytes(text)));
    RESIDUA_TRY(file.sync());
    return syncDirectory(folder);
}

/// Removes the optimiser's tensors whose names begin with `prefix` from a checkpoint, which is complete at any moment.
/// A damaged one stays as it is, so that its damage is still found.
Status removeTensors(const fs::path& runDirectory, std::int64_t step, const std::string& prefix)
{
    const fs::path directory = checkpointDirectory(runDirectory, step);
    const Result<StateFile> state = readState(directory, step);
    Result<TensorFiles> files = TensorFiles::openFile(directory / kOptimiserTensors);
    const auto isDropped = [&](const auto& tensor) { return tensor.first.starts_with(prefix); };
    if (!state || !files || std::ranges::none_of(files->tensors(), isDropped) ||
        !InPieces::open(directory / kOptimiserTensors, state->optimiserChecksum, {})) {
        return Done{};
    }
    files->rename([&](const std::string& name) { return name.starts_with(prefix) ? std::string() : name; });
    std::map<std::string, TensorForm> forms;
    for (const auto& [name, tensor] : files->tensors()) {
        forms[name] = {tensor.place.type, tensor.place.shape};
    }
    ScratchFolder scratch = RESIDUA_TRY(ScratchFolder::beside(directory));
    Result<SafetensorsWriter> writer = SafetensorsWriter::begin(
        scratch.path() / kOptimiserTensors, forms, {{"format", "residua"}, {"step", std::to_string(step)}});
    Status status = writer ? Status(Done{}) : writer.error();
    for (std::vector<std::byte> bytes; status && writer->next() != nullptr;) {
        const TensorFiles::Tensor& tensor = files->tensors().at(*writer->next());
        bytes.resize(tensor.place.bytes);
        status = files->read(tensor, bytes);
        status = status ? writer->write(bytes) : status;
    }
    const std::uint32_t checksum = RESIDUA_TRY(status ? writer->end() : Result<std::uint32_t>(status.error()));
    std::error_code code;
    fs::create_hard_link(directory / kModelTensors, scratch.path() / kModelTensors, code);
    if (code) {
        return Done{}; // a file system without hard links keeps the tensors
    }
    const std::string& text = state->modelChecksum;
    std::uint32_t model = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), model, 16);
    status = writeStateFile(scratch.path(), stateText(state->state, state->run, model, checksum));
    return status ? replaceFolder(scratch.path(), directory) : status;
}

/// Returns the steps of the checkpoints that record a value of validation, the best first; of equals, the earlier
/// first.
std::vector<std::int64_t> byValue(const fs::path& runDirectory, const std::vector<std::int64_t>& steps,
                                  const projects::Judge& judge)
{
    std::vector<std::pair<double, std::int64_t>> values;
    for (const std::int64_t step : steps) {
        const auto state = readState(checkpointDirectory(runDirectory, step), step);
        if (state && state->state.judged) {
            values.emplace_back(*state->state.judged, step);
        }
    }
    std::ranges::stable_sort(values, [&](const auto& a, const auto& b) { return judge.prefers(a.first, b.first); });
    return mapped(values, [](const auto& value) { return value.second; });
}

/// Returns the members of `steps` that the rule keeps.
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
        const std::vector<std::int64_t> best = byValue(runDirectory, steps, rule.judge);
        kept.insert(best.begin(), best.begin() + std::min(std::ssize(best), static_cast<std::ptrdiff_t>(rule.best)));
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
        // Accepts only the exact name of this step's checkpoint, not other spellings of the number.
        if (parsed.ec == std::errc{} && parsed.ptr == last && step >= 0 &&
            checkpointDirectory(runDirectory, step).filename() == name) {
            steps.push_back(step);
        }
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::optional<std::int64_t> bestCheckpoint(const fs::path& runDirectory, const projects::Judge& judge)
{
    const std::vector<std::int64_t> best = byValue(runDirectory, checkpointSteps(runDirectory), judge);
    return best.empty() ? std::nullopt : std::optional(best.front());
}

Status removeCheckpointsAfter(const fs::path& runDirectory, std::int64_t step)
{
    RESIDUA_TRY(checkCheckpointsFolder(runDirectory));
    for (const std::int64_t later : checkpointSteps(runDirectory)) {
        if (later > step) {
            RESIDUA_TRY(removeCheckpoint(runDirectory, later));
        }
    }
    return Done{};
}

CheckpointWriter::CheckpointWriter(fs::path runDirectory, CheckpointState state, const Tensors& model,
                                   const Tensors& optimiser)
    : m_run(std::move(runDirectory)),
      m_temporary(temporaryOf(m_run, state.step)),
      m_state(std::move(state)),
      m_model(&model),
      m_optimiser(&optimiser)
{
}

CheckpointWriter::CheckpointWriter(CheckpointWriter&& other) noexcept
    : m_run(std::move(other.m_run)),
      m_temporary(std::exchange(other.m_temporary, {})),
      m_state(std::move(other.m_state)),
      m_model(other.m_model),
      m_optimiser(other.m_optimiser),
      m_modelFile(std::move(other.m_modelFile)),
      m_optimiserFile(std::move(other.m_optimiserFile))
{
}

CheckpointWriter::~CheckpointWriter()
{
    if (!m_temporary.empty()) {
        discard(m_temporary);
    }
}

Result<CheckpointWriter> CheckpointWriter::begin(const fs::path& runDirectory, const CheckpointState& state,
                                                 const Tensors& model, const Tensors& optimiser)
{
    RESIDUA_TRY(checkCheckpointsFolder(runDirectory));
    CheckpointWriter writer(runDirectory, state, model, optimiser);
    RESIDUA_TRY(writer.makeFiles());
    return writer;
}

Status CheckpointWriter::makeFiles()
{
    std::error_code code;
    fs::remove_all(m_temporary, code);
    fs::create_directories(m_temporary, code);
    if (code) {
        return systemError(m_temporary, "cannot create the checkpoint's directory", code.value());
    }
    const std::map<std::string, std::string> metadata{{"format", "residua"}, {"step", std::to_string(m_state.step)}};
    auto model = RESIDUA_TRY(SafetensorsWriter::begin(m_temporary / kModelTensors, formsOf(*m_model), metadata));
    auto optimiser =
        RESIDUA_TRY(SafetensorsWriter::begin(m_temporary / kOptimiserTensors, formsOf(*m_optimiser), metadata));
    m_modelFile.emplace(std::move(model));
    m_optimiserFile.emplace(std::move(optimiser));
    return Done{};
}

bool CheckpointWriter::atEnd() const
{
    return m_modelFile->next() == nullptr && m_optimiserFile->next() == nullptr;
}

Status CheckpointWriter::writeNext()
{
    for (auto [file, tensors] : {std::pair(&*m_modelFile, m_model), std::pair(&*m_optimiserFile, m_optimiser)}) {
        if (const std::string* const name = file->next()) {
            return file->write(tensors->at(*name).bytes);
        }
    }
    return Done{};
}

Status CheckpointWriter::endFiles()
{
    const auto modelChecksum = RESIDUA_TRY(m_modelFile->end());
    const auto optimiserChecksum = RESIDUA_TRY(m_optimiserFile->end());
    return writeStateFile(m_temporary, stateText(m_state, runIdentity(m_run), modelChecksum, optimiserChecksum));
}

Status CheckpointWriter::end(const CheckpointRule& rule)
{
    Status status = endFiles();
    if (status) {
        status = replaceFolder(m_temporary, checkpointDirectory(m_run, m_state.step));
    }
    discard(m_temporary); // the remains of a failure, or the checkpoint that was exchanged
    m_temporary.clear();
    RESIDUA_TRY(status);
    for (const fs::path& changed : {checkpointsFolder(m_run), m_run}) {
        RESIDUA_TRY(syncDirectory(changed));
    }
    const auto steps = checkpointSteps(m_run);
    const std::set<std::int64_t> kept = keptBy(rule, m_run, steps);
    for (const std::int64_t step : steps) {
        if (!kept.contains(step)) {
            RESIDUA_TRY(removeCheckpoint(m_run, step));
        } else if (step != m_state.step && !rule.onlyNewest.empty()) {
            RESIDUA_TRY(removeTensors(m_run, step, rule.onlyNewest));
        }
    }
    return Done{};
}

Status writeCheckpoint(const fs::path& runDirectory, const CheckpointState& state,
                       const std::map<std::string, StoredTensor>& model,
                       const std::map<std::string, StoredTensor>& optimiser, const CheckpointRule& rule)
{
    CheckpointWriter writer = RESIDUA_TRY(CheckpointWriter::begin(runDirectory, state, model, optimiser));
    while (!writer.atEnd()) {
        RESIDUA_TRY(writer.writeNext());
    }
    return writer.end(rule);
}

Result<LoadedCheckpoint> loadCheckpoint(const fs::path& runDirectory, std::optional<std::int64_t> step,
                                        std::vector<std::string>* skipped)
{
    return newestIntact<Whole>(runDirectory, step, skipped);
}

Result<CheckpointFiles> findCheckpoint(const fs::path& runDirectory, std::optional<std::int64_t> step,
                                       std::vector<std::string>* skipped)
{
    return newestIntact<InPieces>(runDirectory, step, skipped);
}

Status checkCheckpoint(const fs::path& folder, std::int64_t step, const fs::path& runDirectory,
                       const PreparationWatch& watch)
{
    const auto checkpoint = checkpointIn<InPieces>(folder, step, runDirectory, watch);
    return checkpoint ? Status(Done{}) : Status(checkpoint.error());
}

} // namespace residua::engine
