// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/run_writer.h"

#include "engine/api/run_reader.h"
#include "engine/record/checkpoint.h"
#include "engine/record/database.h"
#include "engine/record/run_files.h"
#include "engine/record/tensorboard.h"
#include "projects/json.h"
#include "projects/store.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <map>
#include <optional>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

std::string utcNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    ::gmtime_r(&now, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

struct NamedPoint {
    std::string name;
    MetricPoint point;
};

/// The statements of flush(), prepared once.
struct Statements {
    Statement addName;
    Statement findName;
    Statement metric;
    Statement matrix;
    Statement event;

    static Result<Statements> prepare(const Database& database)
    {
        constexpr std::array<const char*, 5> kSql{
            "INSERT OR IGNORE INTO names(name) VALUES(?1)", "SELECT id FROM names WHERE name = ?1",
            "INSERT OR REPLACE INTO metrics(name, step, value) VALUES(?1, ?2, ?3)",
            "INSERT OR REPLACE INTO matrices(name, step, rows, columns, data) VALUES(?1, ?2, ?3, ?4, ?5)",
            "INSERT INTO events(step, kind, text) VALUES(?1, ?2, ?3)"};
        std::vector<Statement> prepared;
        for (const char* sql : kSql) {
            auto statement = database.prepare(sql);
            if (!statement) {
                return statement.error();
            }
            prepared.push_back(std::move(*statement));
        }
        return Statements{std::move(prepared[0]), std::move(prepared[1]), std::move(prepared[2]),
                          std::move(prepared[3]), std::move(prepared[4])};
    }
};

} // namespace

class RunWriter::Impl {
public:
    static Result<std::unique_ptr<Impl>> open(const fs::path& directory, RunFile file, FileDescriptor lock,
                                              std::optional<std::int64_t> goOnFrom);

    Status flush();
    Status update(const RunInfo& info);

    fs::path directory;
    RunFile file;
    std::vector<NamedPoint> metrics;
    std::vector<Matrix> matrices;
    std::vector<RunEvent> events;

private:
    Impl(FileDescriptor lock, Database database, Statements statements, TensorBoardWriter board)
        : m_lock(std::move(lock)),
          m_database(std::move(database)),
          m_statements(std::move(statements)),
          m_board(std::move(board))
    {
    }

    static Status dropBeyond(Database& database, std::int64_t step);
    bool insertAll();
    bool idOf(const std::string& name, std::int64_t& id);

    FileDescriptor m_lock;
    Database m_database;
    Statements m_statements; // after the database: finalised before it closes
    TensorBoardWriter m_board;
    std::map<std::string, std::int64_t> m_ids;
};

Status RunWriter::Impl::dropBeyond(Database& database, std::int64_t step)
{
    const std::string beyond = " WHERE step > " + std::to_string(step) + ";";
    return database.execute(("BEGIN IMMEDIATE; DELETE FROM metrics" + beyond + "DELETE FROM matrices" + beyond +
                             "DELETE FROM events" + beyond + "COMMIT;")
                                .c_str());
}

Result<std::unique_ptr<RunWriter::Impl>> RunWriter::Impl::open(const fs::path& directory, RunFile file,
                                                               FileDescriptor lock,
                                                               std::optional<std::int64_t> goOnFrom)
{
    auto database = Database::openForWriting(directory / kStoreFile);
    if (!database) {
        return database.error();
    }
    if (goOnFrom) {
        if (auto status = dropBeyond(*database, *goOnFrom); !status) {
            return status.error();
        }
        if (auto status = removeCheckpointsAfter(directory, *goOnFrom); !status) {
            return status.error();
        }
    }
    auto statements = Statements::prepare(*database);
    if (!statements) {
        return statements.error();
    }
    const auto purgeFrom = goOnFrom ? std::optional(*goOnFrom + 1) : std::nullopt;
    auto board = TensorBoardWriter::create(directory, purgeFrom);
    if (!board) {
        return board.error();
    }
    std::unique_ptr<Impl> impl(
        new Impl(std::move(lock), std::move(*database), std::move(*statements), std::move(*board)));
    impl->directory = directory;
    impl->file = std::move(file);
    return impl;
}

bool RunWriter::Impl::idOf(const std::string& name, std::int64_t& id)
{
    if (const auto known = m_ids.find(name); known != m_ids.end()) {
        id = known->second;
        return true;
    }
    if (!m_statements.addName.bind(1, name).run() || !m_statements.findName.bind(1, name).next()) {
        return false;
    }
    id = m_statements.findName.integer(0);
    m_statements.findName.reset();
    m_ids[name] = id;
    return true;
}

bool RunWriter::Impl::insertAll()
{
    std::int64_t id = 0;
    for (const NamedPoint& entry : metrics) {
        if (!idOf(entry.name, id) ||
            !m_statements.metric.bind(1, id).bind(2, entry.point.step).bind(3, entry.point.value).run()) {
            return false;
        }
    }
    for (const Matrix& matrix : matrices) {
        if (!idOf(matrix.name, id) || !m_statements.matrix.bind(1, id)
                                           .bind(2, matrix.step)
                                           .bind(3, matrix.rows)
                                           .bind(4, matrix.columns)
                                           .bind(5, std::as_bytes(std::span(matrix.values)))
                                           .run()) {
            return false;
        }
    }
    for (const RunEvent& event : events) {
        if (!m_statements.event.bind(1, event.step).bind(2, event.kind).bind(3, event.text).run()) {
            return false;
        }
    }
    return true;
}

Status RunWriter::Impl::flush()
{
    if (metrics.empty() && matrices.empty() && events.empty()) {
        return Done{};
    }
    if (auto status = m_database.execute("BEGIN IMMEDIATE"); !status) {
        return status;
    }
    if (!insertAll()) {
        const Error error = m_database.failure("cannot record the run");
        m_ids.clear(); // ids given in this transaction are void
        static_cast<void>(m_database.execute("ROLLBACK"));
        return error;
    }
    if (auto status = m_database.execute("COMMIT"); !status) {
        m_ids.clear();
        return status;
    }
    for (const NamedPoint& entry : metrics) {
        m_board.scalar(entry.name, entry.point.step, entry.point.value);
    }
    metrics.clear();
    matrices.clear();
    events.clear();
    return m_board.flush();
}

Status RunWriter::Impl::update(const RunInfo& info)
{
    const auto guard = guardRunFile(directory);
    if (!guard) {
        return guard.error();
    }
    RunFile next = file;
    next.info = info;
    next.info.directory = directory.string();
    if (const auto onDisk = readRunFile(directory)) {
        next.info.tags = onDisk->info.tags;
        next.info.notes = onDisk->info.notes;
    }
    if (auto status = writeRunFile(directory, next); !status) {
        return status;
    }
    file = std::move(next);
    return Done{};
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

Result<RunWriter> RunWriter::create(const fs::path& runDirectory, RunInfo info, const projects::Project& project,
                                    const fs::path& projectDirectory)
{
    std::error_code code;
    const fs::path directory = fs::absolute(runDirectory, code);
    fs::create_directories(directory.parent_path(), code);
    const bool created = !code && fs::create_directory(directory, code);
    if (code) {
        return systemError(directory, "cannot create the run's directory", code.value());
    }
    if (!created) {
        return Error{directory.string(), "exists already; a new run needs a new directory"};
    }
    info.directory = directory.string();
    info.name = info.name.empty() ? directory.filename().string() : info.name;
    info.created = info.created.empty() ? utcNow() : info.created;
    const RunFile file{info, fs::absolute(projectDirectory, code)};

    const auto fill = [&]() -> Result<RunWriter> {
        auto lock = lockRun(directory);
        if (!lock) {
            return lock.error();
        }
        fs::create_directory(directory / kFrozenProject, code);
        const fs::path frozen = directory / kFrozenProject / projects::kProjectFile;
        if (auto status = projects::writeFileAtomically(frozen, projects::toJson(project)); !status) {
            return status.error();
        }
        auto impl = Impl::open(directory, file, std::move(*lock), std::nullopt);
        if (!impl) {
            return impl.error();
        }
        // Last, for what has a run.json is a run.
        if (auto status = writeRunFile(directory, file); !status) {
            return status.error();
        }
        return RunWriter(std::move(*impl));
    };
    auto writer = fill();
    if (!writer) {
        fs::remove_all(directory, code);
    }
    return writer;
}

Result<RunWriter> RunWriter::reopen(const fs::path& runDirectory, std::int64_t step)
{
    std::error_code code;
    const fs::path directory = fs::absolute(runDirectory, code);
    auto file = readRunFile(directory);
    if (!file) {
        return file.error();
    }
    auto lock = lockRun(directory);
    if (!lock) {
        return lock.error();
    }
    auto impl = Impl::open(directory, std::move(*file), std::move(*lock), step);
    if (!impl) {
        return impl.error();
    }
    return RunWriter(std::move(*impl));
}

void RunWriter::step(const StepRecord& record)
{
    metric(metric::kLoss, record.step, record.loss);
    metric(metric::kLearningRate, record.step, record.learningRate);
    metric(metric::kGradientNorm, record.step, record.gradientNorm);
    metric(metric::kUnits, record.step, static_cast<double>(record.tokens));
    metric(metric::kSeconds, record.step, record.seconds);
}

void RunWriter::metric(const std::string& name, std::int64_t step, double value)
{
    m_impl->metrics.push_back({name, {step, value}});
}

void RunWriter::matrix(const Matrix& matrix)
{
    m_impl->matrices.push_back(matrix);
}

void RunWriter::event(const RunEvent& event)
{
    m_impl->events.push_back(event);
}

Status RunWriter::flush()
{
    return m_impl->flush();
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

Result<fs::path> projectDirectoryOf(const fs::path& runDirectory)
{
    const auto file = readRunFile(runDirectory);
    if (!file) {
        return file.error();
    }
    return file->projectDirectory;
}

} // namespace residua::engine
