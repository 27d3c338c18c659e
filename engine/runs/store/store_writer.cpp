// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/store_writer.h"

#include "projects/base/files.h"
#include "projects/base/text.h"

#include <array>
#include <chrono>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// The maximum time that a flush delays the training; if it cannot write by then, the rows wait for the next flush.
constexpr std::chrono::milliseconds kPatience{500};

/// Renames the store and SQLite's files beside it, to make room for a new one.
Result<fs::path> putAside(const fs::path& store)
{
    std::error_code code;
    const fs::path aside = freePath(store.string() + ".damaged");
    fs::rename(store, aside, code); // renames a link itself
    if (code) {
        return systemError(store, "cannot be put aside as " + aside.filename().string(), code.value());
    }
    for (const char* beside : {"-wal", "-shm"}) {
        std::error_code ignored;
        fs::rename(store.string() + beside, aside.string() + beside, ignored);
    }
    return aside;
}

/// Deletes the records after the step. Also deletes the beginning of a stage at that step: the checkpoint was written
/// before the border, so the resumed run records it again.
Status dropBeyond(Database& database, std::int64_t step)
{
    const std::string at = std::to_string(step);
    const std::string beyond = " WHERE step > " + at;
    const std::string stages = " OR (step = " + at + " AND kind = '" + textOf(RunEventKind::Stage) + "')";
    return database.execute(("BEGIN IMMEDIATE; DELETE FROM metrics" + beyond + "; DELETE FROM matrices" + beyond +
                             "; DELETE FROM events" + beyond + stages + "; COMMIT;")
                                .c_str());
}

} // namespace

Result<StoreWriter> StoreWriter::open(const fs::path& runDirectory, std::optional<std::int64_t> goOnFrom,
                                      std::vector<std::string>& notes)
{
    StoreWriter writer(runDirectory / kStoreFile);
    std::error_code code;
    const fs::file_status status = fs::symlink_status(writer.m_path, code);
    StoreTrouble trouble = StoreTrouble::None;
    Status connected = Done{};
    if (fs::exists(status) && !fs::is_regular_file(status)) { // never through a link, which may lead out of the run
        connected = writer.connectAnew("it is no plain file", notes);
    } else {
        connected = writer.connect(goOnFrom, trouble);
    }
    if (!connected && trouble == StoreTrouble::Damaged) {
        connected = writer.connectAnew(connected.error().message, notes);
    }
    if (!connected) {
        return connected.error();
    }
    if (goOnFrom.value_or(0) > 0 && notes.empty() && !writer.hasNumbers()) {
        notes.push_back("the run's store has none of its numbers up to step " + std::to_string(*goOnFrom) +
                        ": it was lost, and a fresh one takes its place");
    }
    return writer;
}

Status StoreWriter::connect(std::optional<std::int64_t> goOnFrom, StoreTrouble& trouble)
{
    m_connection.reset();
    m_ids.clear();
    auto database = RESIDUA_TRY(Database::openForWriting(m_path, &trouble));
    const auto failed = [&](const Error& error) {
        trouble = database.trouble();
        return Status(error);
    };
    if (goOnFrom) {
        if (auto status = dropBeyond(database, *goOnFrom); !status) {
            return failed(status.error());
        }
    }
    constexpr std::array<const char*, 5> kSql{
        "INSERT OR IGNORE INTO names(name) VALUES(?1)", "SELECT id FROM names WHERE name = ?1",
        "INSERT OR REPLACE INTO metrics(name, step, value) VALUES(?1, ?2, ?3)",
        "INSERT OR REPLACE INTO matrices(name, step, rows, columns, data) VALUES(?1, ?2, ?3, ?4, ?5)",
        "INSERT INTO events(step, kind, text) VALUES(?1, ?2, ?3)"};
    std::vector<SqlStatement> prepared;
    for (const char* sql : kSql) {
        auto statement = database.prepare(sql);
        if (!statement) {
            return failed(statement.error());
        }
        prepared.push_back(std::move(*statement));
    }
    database.setPatience(kPatience);
    m_connection.emplace(Connection{std::move(database), std::move(prepared[0]), std::move(prepared[1]),
                                    std::move(prepared[2]), std::move(prepared[3]), std::move(prepared[4])});
    return Done{};
}

Status StoreWriter::connectAnew(const std::string& reason, std::vector<std::string>& notes)
{
    m_connection.reset(); // closed before its file is renamed
    const auto aside = RESIDUA_TRY(putAside(m_path));
    StoreTrouble trouble = StoreTrouble::None;
    const Status connected = connect(std::nullopt, trouble);
    if (connected) {
        notes.push_back("the run's store could not be used (" + reason + ") and is kept as " +
                        aside.filename().string() + "; a fresh one takes its place: earlier numbers are missing");
    }
    return connected;
}

bool StoreWriter::hasNumbers() const
{
    auto statement = m_connection->database.prepare("SELECT 1 FROM metrics LIMIT 1");
    return statement && statement->next();
}

Result<Stored> StoreWriter::write(const StoreRows& rows, std::vector<std::string>& notes)
{
    if (rows.empty()) {
        return Stored::Yes;
    }
    StoreTrouble trouble = StoreTrouble::None;
    auto written = tryWrite(rows, trouble);
    if (!written && trouble == StoreTrouble::Damaged) {
        RESIDUA_TRY(connectAnew(written.error().message, notes));
        written = tryWrite(rows, trouble);
    }
    return !written && trouble == StoreTrouble::Busy ? Result<Stored>(Stored::NotNow) : written;
}

Result<Stored> StoreWriter::tryWrite(const StoreRows& rows, StoreTrouble& trouble)
{
    Database& database = m_connection->database;
    const auto failed = [&](const Error& error) {
        trouble = database.trouble();
        m_ids.clear(); // ids assigned in this transaction are void
        return Result<Stored>(error);
    };
    if (auto status = database.execute("BEGIN IMMEDIATE"); !status) {
        return failed(status.error());
    }
    if (!insertAll(rows)) {
        const auto result = failed(database.failure("cannot record the run"));
        static_cast<void>(database.execute("ROLLBACK"));
        return result;
    }
    if (auto status = database.execute("COMMIT"); !status) {
        return failed(status.error());
    }
    return Stored::Yes;
}

bool StoreWriter::idOf(const std::string& name, std::int64_t& id)
{
    if (const auto known = m_ids.find(name); known != m_ids.end()) {
        id = known->second;
        return true;
    }
    Connection& to = *m_connection;
    if (!to.addName.bind(1, name).run() || !to.findName.bind(1, name).next()) {
        return false;
    }
    id = to.findName.integer(0);
    to.findName.reset();
    m_ids[name] = id;
    return true;
}

bool StoreWriter::insertAll(const StoreRows& rows)
{
    Connection& to = *m_connection;
    std::int64_t id = 0;
    for (const MetricRow& row : rows.metrics) {
        if (!idOf(row.name, id) || !to.metric.bind(1, id).bind(2, row.step).bind(3, row.value).run()) {
            return false;
        }
    }
    for (const Matrix& matrix : rows.matrices) {
        if (!idOf(matrix.name.text(), id) || !to.matrix.bind(1, id)
                                                  .bind(2, matrix.step)
                                                  .bind(3, matrix.rows)
                                                  .bind(4, matrix.columns)
                                                  .bind(5, std::as_bytes(std::span(matrix.values)))
                                                  .run()) {
            return false;
        }
    }
    for (const RunEvent& event : rows.events) {
        if (!to.event.bind(1, event.step).bind(2, textOf(event.kind)).bind(3, event.text).run()) {
            return false;
        }
    }
    return true;
}

} // namespace residua::engine
