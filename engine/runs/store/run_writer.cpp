// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_writer.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/tensorboard.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/store_writer.h"
#include "projects/base/scratch_folder.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// Writes the applied weight of each shortcut as a scalar "mix/source:target", or "mix/q/source:target" for a port.
/// Weights of larger matrices are not written, because a viewer makes a plot of each.
void writeWeights(const Matrix& matrix, TensorBoardWriter& board)
{
    constexpr std::size_t kMostWeights = 1000;
    if (matrix.name.kind != matrix::kMix || matrix.values.size() > kMostWeights) {
        return;
    }
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const float weight = matrix.at(row, column);
            if (!std::isnan(weight)) {
                board.scalar(matrix.name.text() + "/" + std::to_string(column) + ":" + std::to_string(row + 1),
                             matrix.step, static_cast<double>(weight));
            }
        }
    }
}

std::string utcNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

/// The time that writing run.json waits for a process that has locked the folder; annotating a run takes less.
constexpr std::chrono::milliseconds kTurnOfRunFile{500};

} // namespace

class RunWriter::Impl {
public:
    static Result<std::unique_ptr<Impl>> open(const fs::path& directory, RunFile file, FileDescriptor lock,
                                              std::optional<std::int64_t> goOnFrom);

    Status flush();
    Status update(const RunInfo& info);

    fs::path directory;
    RunFile file;
    StoreRows rows;
    std::vector<std::string> notes;

private:
    Impl(FileDescriptor lock, StoreWriter store, TensorBoardWriter board)
        : m_lock(std::move(lock)), m_store(std::move(store)), m_board(std::move(board))
    {
    }

    FileDescriptor m_lock;
    StoreWriter m_store;
    TensorBoardWriter m_board;
    bool m_waits = false; ///< for another process that holds the store
};

Result<std::unique_ptr<RunWriter::Impl>> RunWriter::Impl::open(const fs::path& directory, RunFile file,
                                                               FileDescriptor lock,
                                                               std::optional<std::int64_t> goOnFrom)
{
    if (goOnFrom) {
        // Checked before anything is dropped: if checkpoints cannot be written, nothing changes.
        RESIDUA_TRY(checkCheckpointsFolder(directory));
    }
    std::vector<std::string> notes;
    auto store = RESIDUA_TRY(StoreWriter::open(directory, goOnFrom, notes));
    if (goOnFrom) {
        RESIDUA_TRY(removeCheckpointsAfter(directory, *goOnFrom));
        removeEffectsAfter(directory, *goOnFrom);
    }
    const auto purgeFrom = goOnFrom ? std::optional(*goOnFrom + 1) : std::nullopt;
    auto board = RESIDUA_TRY(TensorBoardWriter::create(directory, purgeFrom));
    std::unique_ptr<Impl> impl(new Impl(std::move(lock), std::move(store), std::move(board)));
    impl->directory = directory;
    impl->file = std::move(file);
    impl->notes = std::move(notes);
    return impl;
}

Status RunWriter::Impl::flush()
{
    const auto stored = RESIDUA_TRY(m_store.write(rows, notes));
    if (stored == Stored::NotNow) {
        if (!std::exchange(m_waits, true)) {
            notes.push_back("another process holds the run's store: what is recorded waits in memory meanwhile");
        }
        return Done{};
    }
    m_waits = false;
    for (const MetricRow& row : rows.metrics) {
        m_board.scalar(row.name, row.step, row.value);
    }
    for (const Matrix& matrix : rows.matrices) {
        writeWeights(matrix, m_board);
    }
    rows = {};
    return m_board.flush();
}

Status RunWriter::Impl::update(const RunInfo& info)
{
    // Without the guard, the worst case is the loss of a note written in the same milliseconds; the run continues. A
    // run in a scratch folder has no other writer, and the folder's own lock would keep the guard waiting in vain.
    std::optional<Result<FileDescriptor>> guard;
    if (!ScratchFolder::isBeside(directory)) {
        guard.emplace(guardRunFile(directory, kTurnOfRunFile));
    }
    RunFile next = file;
    next.info = info;
    next.info.directory = directory.string();
    if (const auto onDisk = readRunFile(directory)) {
        next.info.name = onDisk->info.name;
        next.info.tags = onDisk->info.tags;
        next.info.notes = onDisk->info.notes;
        next.info.membership = onDisk->info.membership;
    }
    RESIDUA_TRY(writeRunFile(directory, next));
    file = std::move(next);
    return Done{};
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

Result<RunWriter> RunWriter::create(const fs::path& runDirectory, RunInfo info, const projects::Project& project,
                                    const fs::path& projectDirectory, std::optional<DataFingerprint> data)
{
    auto held = RESIDUA_TRY(claimRunDirectory(runDirectory));
    const fs::path kept = keptProjectDirectory(runDirectory, projectDirectory);
    return begin(std::move(held), {std::move(info), kept, std::move(data)}, project);
}

Result<RunWriter> RunWriter::createIn(const fs::path& folder, RunInfo info, const projects::Project& project,
                                      const fs::path& projectDirectory, std::optional<DataFingerprint> data)
{
    sweepRuns(folder);
    auto held = RESIDUA_TRY(claimRunDirectoryIn(folder, project.name));
    const fs::path kept = keptProjectDirectory(folder / held.path.filename(), projectDirectory);
    return begin(std::move(held), {std::move(info), kept, std::move(data)}, project);
}

Result<RunWriter> RunWriter::begin(HeldDirectory held, RunFile file, const projects::Project& project)
{
    const fs::path directory = held.path;
    RunInfo& info = file.info;
    info.directory = directory.string();
    info.name = info.name.empty() ? directory.filename().string() : info.name;
    info.created = info.created.empty() ? utcNow() : info.created;
    info.objective = projects::judgingObjective(project);
    file.identity = newIdentity();

    std::error_code code;
    const auto fill = [&]() -> Result<RunWriter> {
        fs::create_directory(directory / kFrozenProject, code);
        const fs::path frozen = directory / kFrozenProject / projects::kProjectFile;
        RESIDUA_TRY(writeOwnFile(frozen, projects::toJson(project)));
        auto impl = RESIDUA_TRY(Impl::open(directory, file, std::move(held.lock), std::nullopt));
        // Last, because run.json makes the folder a run.
        RESIDUA_TRY(writeRunFile(directory, file));
        return RunWriter(std::move(impl));
    };
    auto writer = fill();
    if (!writer) {
        fs::remove_all(directory, code);
    }
    return writer;
}

Result<FileDescriptor> RunWriter::hold(const fs::path& runDirectory)
{
    if (auto file = readRunFile(runDirectory); !file) {
        return file.error(); // puts no lock into a folder that is not a run
    }
    auto held = lockRun(runDirectory);
    if (held) {
        clearStopRequest(runDirectory); // it was meant for a process that has ended
    }
    return held;
}

Result<RunWriter> RunWriter::reopen(const fs::path& runDirectory, std::int64_t step)
{
    auto lock = hold(runDirectory);
    return lock ? reopen(runDirectory, step, std::move(*lock)) : Result<RunWriter>(lock.error());
}

Result<RunWriter> RunWriter::append(const fs::path& runDirectory)
{
    auto lock = hold(runDirectory);
    return lock ? reopen(runDirectory, std::nullopt, std::move(*lock)) : Result<RunWriter>(lock.error());
}

Result<RunWriter> RunWriter::reopen(const fs::path& runDirectory, std::optional<std::int64_t> step, FileDescriptor lock)
{
    std::error_code code;
    const fs::path directory = fs::absolute(runDirectory, code);
    auto file = RESIDUA_TRY(readRunFile(directory));
    file.identity = file.identity.empty() ? newIdentity() : file.identity;
    sweepRun(directory);
    auto impl = RESIDUA_TRY(Impl::open(directory, std::move(file), std::move(lock), step));
    return RunWriter(std::move(impl));
}

void RunWriter::step(const StepRecord& record)
{
    for (const auto& [name, field] : kStepMetrics) {
        metric(name, record.step, record.*field);
    }
    metric(metric::kUnits, record.step, static_cast<double>(record.tokens));
}

void RunWriter::metric(const std::string& name, std::int64_t step, double value)
{
    m_impl->rows.metrics.push_back({name, step, value});
}

void RunWriter::matrix(const Matrix& matrix)
{
    m_impl->rows.matrices.push_back(matrix);
}

void RunWriter::event(const RunEvent& event)
{
    m_impl->rows.events.push_back(event);
}

Status RunWriter::flush()
{
    return m_impl->flush();
}

bool RunWriter::isBuffered() const
{
    return !m_impl->rows.empty();
}

std::vector<std::string> RunWriter::takeNotes()
{
    return std::exchange(m_impl->notes, {});
}

void RunWriter::setSource(const fs::path& projectDirectory, DataFingerprint data)
{
    RunFile& file = m_impl->file;
    if (resolvedProjectDirectory(m_impl->directory, file.projectDirectory) != projectDirectory) {
        file.projectDirectory = keptProjectDirectory(m_impl->directory, projectDirectory);
    }
    m_impl->file.data = std::move(data);
}

void RunWriter::setRemote(RemoteRun remote, std::string identity)
{
    m_impl->file.remote = std::move(remote);
    m_impl->file.identity = std::move(identity);
}

const RunInfo& RunWriter::info() const
{
    return m_impl->file.info;
}

Status RunWriter::update(const RunInfo& info)
{
    return m_impl->update(info);
}

const fs::path& RunWriter::directory() const
{
    return m_impl->directory;
}

} // namespace residua::engine
