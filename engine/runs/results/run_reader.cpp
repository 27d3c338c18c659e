// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_reader.h"

#include "engine/base/api/environment.h"
#include "engine/base/machine/failure.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/real.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

namespace residua::engine {

namespace fs = std::filesystem;

namespace {

// What a run never reaches, and a damaged store may claim.
constexpr std::int64_t kLastStep = kMostExactWhole; ///< steps are told apart as doubles too
constexpr std::size_t kMostNames = 500;
constexpr std::size_t kMostNameBytes = 200;
constexpr std::int64_t kMostSide = 1 << 16; ///< rows or columns of a matrix
constexpr std::size_t kMostFaults = 30;

bool isName(const std::string& text)
{
    return !text.empty() && text.size() <= kMostNameBytes && isPrintable(text) && text.find('\t') == std::string::npos;
}

/// Whether so many bytes are rows · columns numbers; the product may not fit any integer.
bool holds(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns)
{
    const std::size_t count = bytes.size() / sizeof(float);
    return rows >= 0 && rows <= kMostSide && columns >= 0 && columns <= kMostSide &&
           bytes.size() % sizeof(float) == 0 && count == static_cast<std::size_t>(rows * columns);
}

} // namespace

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

    [[nodiscard]] Result<SqlStatement> prepare(std::string_view sql) const
    {
        return m_database ? m_database->prepare(sql) : Result<SqlStatement>(*storeError);
    }

    /// The error of the last statement. Precondition: it was prepared.
    [[nodiscard]] Error failure(const std::string& what) const { return m_database->failure(what); }

    /// Notes what is left out, once.
    void fault(const std::string& what, const std::string& why)
    {
        Error error{(directory / kStoreFile).string() + " · " + what, why};
        const auto same = [&](const Error& known) { return known.text() == error.text(); };
        if (faults.size() < kMostFaults && std::ranges::none_of(faults, same)) {
            faults.push_back(std::move(error));
        }
    }

    /// Gives each row of a query to `take`, up to the first that makes no sense: it says what is wrong with it. In a
    /// damaged store one row may lead to itself again.
    template <class Take>
    void forEach(const std::string& what, Result<SqlStatement>& statement, const Take& take)
    {
        if (!statement) {
            fault(what, statement.error().message);
            return;
        }
        std::string wrong;
        while (wrong.empty() && statement->next()) {
            wrong = take(*statement);
        }
        if (!wrong.empty()) {
            fault(what, wrong + "; the rest is left out");
        } else if (statement->failed()) {
            fault(what, m_database->failure("cannot be read to its end").message);
        }
    }

    /// Steps of a series, each once and ascending; what is wrong with one.
    [[nodiscard]] static std::string wrongStep(const SqlStatement& row, std::int64_t last)
    {
        if (!row.isInteger(0)) {
            return "a step is no number";
        }
        const std::int64_t step = row.integer(0);
        if (step < 0 || step > kLastStep) {
            return "step " + std::to_string(step) + " is none that a run reaches";
        }
        return step > last ? "" : "its steps are out of order, the store is damaged";
    }

    [[nodiscard]] std::optional<MetricPoint> last(const std::string& name, std::int64_t upTo)
    {
        auto statement = prepare("SELECT step, value FROM metrics WHERE name = (SELECT id FROM names WHERE "
                                 "name = ?1) AND step <= ?2 ORDER BY step DESC LIMIT 1");
        if (statement) {
            statement->bind(1, std::string_view(name)).bind(2, upTo);
        }
        std::optional<MetricPoint> found;
        forEach(name, statement, [&](const SqlStatement& row) {
            const std::string wrong = row.isNumberOrNull(1) ? wrongStep(row, -1) : "a value is no number";
            if (wrong.empty()) {
                found = {row.integer(0), row.real(1)};
            }
            return wrong;
        });
        return found;
    }

    [[nodiscard]] std::vector<std::string> namesIn(const char* table)
    {
        std::vector<std::string> names;
        auto statement = prepare("SELECT name FROM names WHERE EXISTS (SELECT 1 FROM " + std::string(table) +
                                 " AS t WHERE t.name = names.id) ORDER BY name");
        forEach(table, statement, [&](const SqlStatement& row) {
            if (names.size() >= kMostNames) {
                return "there are more than " + std::to_string(kMostNames) + " names";
            }
            std::string name = row.text(0);
            const bool known = !names.empty() && name <= names.back();
            if (!row.isText(0) || !isName(name) || known) {
                fault(table, "a name of " + std::to_string(name.size()) + " bytes is none that a person can read");
            } else {
                names.push_back(std::move(name));
            }
            return std::string();
        });
        return names;
    }

    fs::path directory;
    projects::Judge judge;
    std::vector<Error> faults;
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
    const auto file = RESIDUA_TRY(readRunFile(runDirectory));
    const fs::path store = runDirectory / kStoreFile;
    std::error_code code;
    const fs::file_status status = fs::status(store, code);
    const bool readable = !fs::exists(status) || fs::is_regular_file(status); // a FIFO would hang SQLite
    auto impl = std::make_unique<Impl>(runDirectory, readable ? Database::openForReading(store)
                                                              : Error{store.string(), "is no plain file"});
    impl->judge = file.info.judge();
    return RunReader(std::move(impl));
}

const std::optional<Error>& RunReader::storeError() const
{
    return m_impl->storeError;
}

namespace {

/// Sets the end of a run whose engine in the background could not write it into the run's own files. An entry that is
/// older than run.json is of an earlier training.
void takeLoggedFailure(RunInfo& info, const RunFile& file, const fs::path& directory)
{
    const std::optional<LoggedFailure> failure = loggedFailure(file.identity);
    struct stat found {};
    if (!failure || stat((directory / kRunFile).c_str(), &found) != 0) {
        return;
    }
    const double written =
        static_cast<double>(found.st_mtim.tv_sec) + 1e-9 * static_cast<double>(found.st_mtim.tv_nsec);
    if (failure->seconds >= written) {
        info.status = RunStatus::Failed;
        info.message = failure->error;
    }
}

} // namespace

Result<RunInfo> RunReader::info() const
{
    // Asked before run.json is read: a run that ends in between has then written how it ended.
    const bool locked = isRunLocked(m_impl->directory);
    auto file = RESIDUA_TRY(readRunFile(m_impl->directory));
    RunInfo info = std::move(file.info);
    readValues(info, kLastStep);
    if (const auto loss = m_impl->last(metric::kLoss, kLastStep)) {
        info.step = loss->step;
    }
    const bool going = info.status == RunStatus::Running || info.status == RunStatus::Paused;
    if (going && !locked) {
        info.status = RunStatus::Interrupted;
        takeLoggedFailure(info, file, m_impl->directory);
    }
    return info;
}

Result<projects::Project> RunReader::project() const
{
    const fs::path path = m_impl->directory / kFrozenProject / projects::kProjectFile;
    const auto text = RESIDUA_TRY(readFile(path));
    auto project = projects::projectFromJson(text);
    if (!project) {
        return Error{path.string() + " · " + project.error().place, project.error().message};
    }
    return project;
}

Result<std::optional<Gap>> RunReader::gap() const
{
    return readGap(m_impl->directory);
}

std::vector<std::string> RunReader::metricNames() const
{
    return m_impl->namesIn("metrics");
}

std::vector<MetricPoint> RunReader::metric(const std::string& name, std::int64_t after) const
{
    std::vector<MetricPoint> points;
    std::int64_t last = after;
    auto statement = m_impl->prepare("SELECT step, value FROM metrics WHERE name = (SELECT id FROM names "
                                     "WHERE name = ?1) AND step > ?2 ORDER BY step");
    if (statement) {
        statement->bind(1, std::string_view(name)).bind(2, after);
    }
    m_impl->forEach(name, statement, [&](const SqlStatement& row) {
        std::string wrong = Impl::wrongStep(row, last);
        if (wrong.empty() && row.isNumberOrNull(1)) {
            points.push_back({row.integer(0), row.real(1)});
        } else if (wrong.empty()) {
            m_impl->fault(name, "the value of step " + std::to_string(row.integer(0)) + " is no number");
        }
        last = row.integer(0);
        return wrong;
    });
    return points;
}

std::optional<MetricPoint> RunReader::lastPoint(const std::string& name, std::int64_t upTo) const
{
    return m_impl->last(name, upTo);
}

std::map<std::string, double> valuesUpTo(const fs::path& runDirectory, std::int64_t upTo)
{
    RunInfo info;
    if (const auto reader = RunReader::open(runDirectory)) {
        reader->readValues(info, upTo);
    }
    return info.values;
}

void RunReader::readValues(RunInfo& info, std::int64_t upTo) const
{
    for (const std::string& name : metricNames()) {
        if (const auto point = isRating(name) ? m_impl->last(name, upTo) : std::nullopt) {
            info.values[name] = point->value;
        }
    }
}

std::vector<MetricPoint> RunReader::judgedPoints() const
{
    const std::string quantity(m_impl->judge.quantity);
    std::vector<MetricPoint> validation = metric(quantity + "/validation");
    return validation.empty() ? metric(quantity + "/train") : validation;
}

std::vector<MatrixName> RunReader::matrixNames() const
{
    const std::vector<std::string> texts = m_impl->namesIn("matrices");
    std::vector<MatrixName> names(texts.size());
    std::ranges::transform(texts, names.begin(), &MatrixName::from);
    return names;
}

std::vector<std::int64_t> RunReader::matrixSteps(const MatrixName& of) const
{
    const std::string name = of.text();
    std::vector<std::int64_t> steps;
    auto statement = m_impl->prepare("SELECT step FROM matrices WHERE name = (SELECT id FROM names WHERE "
                                     "name = ?1) AND step >= 0 ORDER BY step");
    if (statement) {
        statement->bind(1, std::string_view(name));
    }
    m_impl->forEach(name, statement, [&](const SqlStatement& row) {
        std::string wrong = Impl::wrongStep(row, steps.empty() ? -1 : steps.back());
        if (wrong.empty()) {
            steps.push_back(row.integer(0));
        }
        return wrong;
    });
    return steps;
}

Result<Matrix> RunReader::matrix(const MatrixName& of, std::int64_t step) const
{
    const std::string name = of.text();
    const auto wrong = [&](const std::string& why) {
        m_impl->fault(name + ", step " + std::to_string(step), why);
        return Error{(m_impl->directory / kStoreFile).string() + " · " + name, why};
    };
    auto statement = m_impl->prepare("SELECT rows, columns, data FROM matrices WHERE name = (SELECT id FROM "
                                     "names WHERE name = ?1) AND step = ?2");
    if (!statement) {
        return wrong(statement.error().message);
    }
    if (!statement->bind(1, std::string_view(name)).bind(2, step).next()) {
        return statement->failed() ? wrong(m_impl->failure("cannot be read").message)
                                   : Error{(m_impl->directory / kStoreFile).string() + " · " + name,
                                           "there is no matrix of step " + std::to_string(step)};
    }
    if (!statement->isInteger(0) || !statement->isInteger(1) || !statement->isBytes(2)) {
        return wrong("its size or its numbers are something else");
    }
    Matrix matrix{of, step, statement->integer(0), statement->integer(1), {}};
    const std::span<const std::byte> bytes = statement->bytes(2);
    if (!holds(bytes, matrix.rows, matrix.columns)) {
        return wrong(std::to_string(bytes.size()) + " bytes do not hold " + std::to_string(matrix.rows) + " × " +
                     std::to_string(matrix.columns) + " numbers");
    }
    matrix.values.resize(bytes.size() / sizeof(float));
    if (!bytes.empty()) {
        std::memcpy(matrix.values.data(), bytes.data(), bytes.size());
    }
    return matrix;
}

std::vector<RunEvent> RunReader::events() const
{
    std::vector<RunEvent> events;
    auto statement = m_impl->prepare("SELECT step, kind, text, id FROM events ORDER BY id");
    std::optional<std::int64_t> last;
    m_impl->forEach("events", statement, [&](const SqlStatement& row) {
        if (last && row.integer(3) <= *last) {
            return std::string("they are out of order, the store is damaged");
        }
        last = row.integer(3);
        const std::string wrong = Impl::wrongStep(row, -1);
        if (wrong.empty() && row.isText(1) && row.isText(2)) {
            events.push_back(runEventFrom(row.integer(0), asUtf8(row.text(1)), asUtf8(row.text(2))));
        } else {
            m_impl->fault("events", wrong.empty() ? "one holds no words" : wrong);
        }
        return std::string();
    });
    return events;
}

std::vector<Error> RunReader::faults() const
{
    return m_impl->storeError ? std::vector{*m_impl->storeError} : m_impl->faults;
}

std::vector<std::int64_t> RunReader::checkpoints() const
{
    return checkpointSteps(m_impl->directory);
}

Result<RunInfo> readRunInfo(const fs::path& runDirectory)
{
    return RunReader::open(runDirectory).and_then([](const RunReader& run) { return run.info(); });
}

Result<projects::Project> readRunProject(const fs::path& runDirectory)
{
    return RunReader::open(runDirectory).and_then([](const RunReader& run) { return run.project(); });
}

namespace {

/// Whether the runs of the folder alone are listed, or those of the folders in it too: a sweep keeps its runs in one of
/// its own.
enum class Depth { Alone, AndFolders };

RunInfo listed(const fs::path& run)
{
    const auto info = readRunInfo(run);
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
        if (entry->path().filename().string().starts_with('.')) { // the trash, and what is being made
            continue;
        }
        if (fs::exists(entry->path() / kRunFile, ignored)) {
            runs.push_back(listed(entry->path()));
        } else if (depth == Depth::AndFolders && entry->is_directory(ignored)) {
            addRuns(entry->path(), Depth::Alone, runs);
        }
    }
}

/// Whoever else writes run.json waits meanwhile.
Status changeRunFile(const fs::path& runDirectory, const std::function<void(RunInfo&)>& change)
{
    const FileDescriptor guard = RESIDUA_TRY(guardRunFile(runDirectory));
    auto file = RESIDUA_TRY(readRunFile(runDirectory));
    change(file.info);
    return writeRunFile(runDirectory, file);
}

} // namespace

std::vector<RunInfo> listRuns(const fs::path& folder)
{
    return listRuns(folder, {});
}

std::vector<RunInfo> listRuns(const fs::path& folder, const std::vector<fs::path>& further)
{
    std::vector<RunInfo> runs;
    addRuns(folder, Depth::AndFolders, runs);
    for (const fs::path& run : further) {
        const bool known =
            std::ranges::any_of(runs, [&](const RunInfo& each) { return each.directory == run.string(); });
        if (!known && isThere(run / kRunFile)) {
            runs.push_back(listed(run));
        }
    }
    std::sort(runs.begin(), runs.end(), [](const RunInfo& a, const RunInfo& b) {
        return std::tie(b.created, b.directory) < std::tie(a.created, a.directory);
    });
    return runs;
}

Result<fs::path> projectDirectoryOf(const fs::path& runDirectory)
{
    const auto file = RESIDUA_TRY(readRunFile(runDirectory));
    return resolvedProjectDirectory(runDirectory, file.projectDirectory);
}

bool hasRunUnderWay(const fs::path& projectDirectory)
{
    std::error_code code; // the folder may change meanwhile
    for (fs::directory_iterator run(projectDirectory / projects::kRunsFolder, code), end; !code && run != end;
         run.increment(code)) {
        if (isRunLocked(run->path())) {
            return true;
        }
    }
    return false;
}

std::optional<double> finalValue(const RunInfo& info)
{
    const bool isResult = info.status == RunStatus::Finished && std::isfinite(info.judged());
    return isResult ? std::optional(info.judged()) : std::nullopt;
}

Status renameRun(const fs::path& runDirectory, const std::string& name)
{
    if (name.find_first_not_of(" \t\r\n") == std::string::npos) {
        return Error{runDirectory.string(), "a run's name is empty, expected something to know it by"};
    }
    return changeRunFile(runDirectory, [&](RunInfo& info) { info.name = name; });
}

Status annotateRun(const fs::path& runDirectory, const std::vector<std::string>& tags, const std::string& notes)
{
    return changeRunFile(runDirectory, [&](RunInfo& info) {
        info.tags = tags;
        info.notes = notes;
    });
}

} // namespace residua::engine
