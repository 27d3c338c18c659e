// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"

#include "engine/record/checkpoint.h"
#include "engine/record/database.h"
#include "engine/record/run_files.h"
#include "projects/json.h"
#include "projects/store.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace residua::engine {

namespace fs = std::filesystem;

class RunReader::Impl {
public:
    Impl(fs::path folder, Result<Database> store) : directory(std::move(folder))
    {
        if (store) {
            m_database.emplace(std::move(*store));
        } else {
            storeError = store.error();
        }
    }

    [[nodiscard]] Result<Statement> prepare(std::string_view sql) const
    {
        return m_database ? m_database->prepare(sql) : Result<Statement>(*storeError);
    }

    /// The last point of a series.
    [[nodiscard]] std::optional<MetricPoint> last(const char* name) const
    {
        auto statement = prepare("SELECT step, value FROM metrics WHERE name = (SELECT id FROM names WHERE "
                                 "name = ?1) ORDER BY step DESC LIMIT 1");
        if (!statement || !statement->bind(1, std::string_view(name)).next()) {
            return std::nullopt;
        }
        return MetricPoint{statement->integer(0), statement->real(1)};
    }

    [[nodiscard]] std::vector<std::string> namesIn(const char* table) const
    {
        std::vector<std::string> names;
        auto statement = prepare("SELECT name FROM names WHERE EXISTS (SELECT 1 FROM " + std::string(table) +
                                 " AS t WHERE t.name = names.id) ORDER BY name");
        while (statement && statement->next()) {
            names.push_back(statement->text(0));
        }
        return names;
    }

    fs::path directory;
    std::optional<Error> storeError;

private:
    std::optional<Database> m_database;
};

RunReader::RunReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

Result<RunReader> RunReader::open(const fs::path& runDirectory)
{
    if (auto file = readRunFile(runDirectory); !file) {
        return file.error();
    }
    const fs::path store = runDirectory / kStoreFile;
    std::error_code code;
    const fs::file_status status = fs::status(store, code);
    const bool readable = !fs::exists(status) || fs::is_regular_file(status); // a FIFO would hang SQLite
    return RunReader(std::make_unique<Impl>(runDirectory, readable ? Database::openForReading(store)
                                                                   : Error{store.string(), "is no plain file"}));
}

const std::optional<Error>& RunReader::storeError() const
{
    return m_impl->storeError;
}

Result<RunInfo> RunReader::info() const
{
    // Asked before run.json is read: a run that ends in between has then written how it ended.
    const bool locked = isRunLocked(m_impl->directory);
    auto file = readRunFile(m_impl->directory);
    if (!file) {
        return file.error();
    }
    RunInfo info = std::move(file->info);
    if (const auto loss = m_impl->last(metric::kLoss)) {
        info.step = loss->step;
        info.loss = loss->value;
    }
    if (const auto validation = m_impl->last(metric::kValidationLoss)) {
        info.validationLoss = validation->value;
    }
    const bool going = info.status == RunStatus::Running || info.status == RunStatus::Paused;
    if (going && !locked) {
        info.status = RunStatus::Interrupted;
    }
    return info;
}

Result<projects::Project> RunReader::project() const
{
    const fs::path path = m_impl->directory / kFrozenProject / projects::kProjectFile;
    const auto text = projects::readFile(path);
    if (!text) {
        return text.error();
    }
    auto project = projects::projectFromJson(*text);
    if (!project) {
        return Error{path.string() + " · " + project.error().place, project.error().message};
    }
    return project;
}

std::vector<std::string> RunReader::metricNames() const
{
    return m_impl->namesIn("metrics");
}

std::vector<MetricPoint> RunReader::metric(const std::string& name, std::int64_t after) const
{
    std::vector<MetricPoint> points;
    auto statement = m_impl->prepare("SELECT step, value FROM metrics WHERE name = (SELECT id FROM names "
                                     "WHERE name = ?1) AND step > ?2 ORDER BY step");
    if (statement) {
        statement->bind(1, std::string_view(name)).bind(2, after);
    }
    while (statement && statement->next()) {
        points.push_back({statement->integer(0), statement->real(1)});
    }
    return points;
}

std::vector<std::string> RunReader::matrixNames() const
{
    return m_impl->namesIn("matrices");
}

std::vector<std::int64_t> RunReader::matrixSteps(const std::string& name) const
{
    std::vector<std::int64_t> steps;
    auto statement = m_impl->prepare("SELECT step FROM matrices WHERE name = (SELECT id FROM names WHERE "
                                     "name = ?1) ORDER BY step");
    if (statement) {
        statement->bind(1, std::string_view(name));
    }
    while (statement && statement->next()) {
        steps.push_back(statement->integer(0));
    }
    return steps;
}

Result<Matrix> RunReader::matrix(const std::string& name, std::int64_t step) const
{
    const std::string place = (m_impl->directory / kStoreFile).string() + " · " + name;
    auto statement = m_impl->prepare("SELECT rows, columns, data FROM matrices WHERE name = (SELECT id FROM "
                                     "names WHERE name = ?1) AND step = ?2");
    if (!statement) {
        return statement.error();
    }
    if (!statement->bind(1, std::string_view(name)).bind(2, step).next()) {
        return Error{place, "there is no matrix of step " + std::to_string(step)};
    }
    Matrix matrix{name, step, statement->integer(0), statement->integer(1), {}};
    const std::span<const std::byte> bytes = statement->bytes(2);
    matrix.values.resize(bytes.size() / sizeof(float));
    if (matrix.rows < 0 || matrix.columns < 0 ||
        static_cast<std::int64_t>(matrix.values.size()) != matrix.rows * matrix.columns) {
        return Error{place, std::to_string(bytes.size()) + " bytes do not hold " + std::to_string(matrix.rows) + " × " +
                                std::to_string(matrix.columns) + " numbers"};
    }
    if (!bytes.empty()) {
        std::memcpy(matrix.values.data(), bytes.data(), matrix.values.size() * sizeof(float));
    }
    return matrix;
}

std::vector<RunEvent> RunReader::events() const
{
    std::vector<RunEvent> events;
    auto statement = m_impl->prepare("SELECT step, kind, text FROM events ORDER BY id");
    while (statement && statement->next()) {
        events.push_back({statement->integer(0), statement->text(1), statement->text(2)});
    }
    return events;
}

std::vector<std::int64_t> RunReader::checkpoints() const
{
    return checkpointSteps(m_impl->directory);
}

namespace {

/// Of the folder, or of the folders in it too: a sweep keeps its runs in one of its own.
enum class Depth { Alone, AndFolders };

RunInfo listed(const fs::path& run)
{
    const auto reader = RunReader::open(run);
    const auto info = reader ? reader->info() : Result<RunInfo>(reader.error());
    if (info) {
        return *info;
    }
    RunInfo unreadable;
    unreadable.directory = run.string();
    unreadable.name = run.filename().string();
    unreadable.status = RunStatus::Failed;
    unreadable.message = info.error().text();
    return unreadable;
}

void addRuns(const fs::path& folder, Depth depth, std::vector<RunInfo>& runs)
{
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        std::error_code ignored;
        const bool hidden = entry->path().filename().string().starts_with('.'); // the trash
        if (fs::exists(entry->path() / kRunFile, ignored)) {
            runs.push_back(listed(entry->path()));
        } else if (depth == Depth::AndFolders && !hidden && entry->is_directory(ignored)) {
            addRuns(entry->path(), Depth::Alone, runs);
        }
    }
}

} // namespace

std::vector<RunInfo> listRuns(const fs::path& folder)
{
    std::vector<RunInfo> runs;
    addRuns(folder, Depth::AndFolders, runs);
    std::sort(runs.begin(), runs.end(), [](const RunInfo& a, const RunInfo& b) {
        return std::tie(b.created, b.directory) < std::tie(a.created, a.directory);
    });
    return runs;
}

double finalLoss(const RunInfo& info)
{
    if (info.status == RunStatus::Failed) {
        return std::nan(""); // what a run had before it diverged is no result
    }
    return std::isfinite(info.validationLoss) ? info.validationLoss : info.loss;
}

Status annotateRun(const fs::path& runDirectory, const std::vector<std::string>& tags, const std::string& notes)
{
    const auto guard = guardRunFile(runDirectory);
    if (!guard) {
        return guard.error();
    }
    auto file = readRunFile(runDirectory);
    if (!file) {
        return file.error();
    }
    file->info.tags = tags;
    file->info.notes = notes;
    return writeRunFile(runDirectory, *file);
}

} // namespace residua::engine
