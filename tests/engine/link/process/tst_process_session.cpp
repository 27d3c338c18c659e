// SPDX-License-Identifier: GPL-3.0-or-later
// A session whose engine is a process: no engine, an engine of another build, and an engine that ends by itself.
#include "engine/base/api/session.h"
#include "engine/link/process/engine_process.h"
#include "engine/link/process/preparations.h"
#include "engine/link/wire/messages.h"
#include "tests/support/address_space_limit.h"
#include "tests/support/child_processes.h"
#include "tests/support/frame_header.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {
std::atomic<int> g_threadsUntilFailure = 0; ///< the thread that cannot be made: 1 is the next one; 0: none
}

/// In the place of the system's function, for the whole test program.
extern "C" __attribute__((visibility("default"))) int
pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*), void* argument) noexcept
{
    if (g_threadsUntilFailure > 0 && --g_threadsUntilFailure == 0) {
        return EAGAIN;
    }
    static const auto system = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return system(thread, attributes, begin, argument);
}

namespace {

constexpr std::chrono::milliseconds kAnswerPatience{tests::kPatience};
constexpr QueryTag kLastTag{1000};

/// Collects the events of a session.
class Told {
public:
    void take(Event event)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_events.push_back(std::move(event));
        }
        m_came.notify_one();
    }

    /// Waits for an event.
    bool waitForOne()
    {
        std::unique_lock lock(m_mutex);
        return m_came.wait_for(lock, kAnswerPatience, [this] { return !m_events.empty(); });
    }

    /// Returns the events before the answer to kLastTag. Returns those that came if the answer does not come.
    std::vector<Event> untilLast()
    {
        std::unique_lock lock(m_mutex);
        const auto last = [this] {
            const auto* const failed = m_events.empty() ? nullptr : std::get_if<QueryFailed>(&m_events.back());
            return failed != nullptr && failed->tag == kLastTag;
        };
        if (m_came.wait_for(lock, kAnswerPatience, last)) {
            m_events.pop_back();
        }
        return std::exchange(m_events, {});
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_came;
    std::vector<Event> m_events;
};

/// One of each kind, by its place among the commands; its run or tag is that place and one.
template <std::size_t... place>
std::vector<Command> allCommands(std::index_sequence<place...>)
{
    const auto numbered = []<class Asked>(Asked asked, int number) {
        if constexpr (requires { asked.run; }) {
            asked.run = static_cast<RunId>(number);
        } else {
            asked.tag = static_cast<QueryTag>(number);
        }
        return Command(std::move(asked));
    };
    return {numbered(std::variant_alternative_t<place, Command>{}, static_cast<int>(place) + 1)...};
}

StartRun runWith(RunId run)
{
    StartRun start;
    start.run = run;
    return start;
}

/// The session of a preparation that lasts until it is cancelled.
class WaitingOwner : public PreparationOwner {
public:
    Result<std::optional<Command>> translate(const Command& /*command*/, const RemoteLink& link) override
    {
        while (link.watch(0)) {
            std::this_thread::yield();
        }
        return preparationGivenUp();
    }
    void postTranslated(const Command& /*command*/, const Command& /*there*/) override { told.take(Notice{}); }
    bool settle(const Command& /*command*/) override { return true; }
    void refuse(const Command& /*command*/, const Error& why) override { told.take(QueryFailed{QueryTag{1}, why}); }
    void answerGivenUp(const Command& /*command*/) override { told.take(RunEnded{}); }
    void notice(const Command& /*command*/, const std::string& /*text*/) override {}
    void take(Event event) override { told.take(std::move(event)); }

    Told told;
};

class TestProcessSession : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        qputenv("RESIDUA_ENGINE", "/nowhere/at/all");
        qunsetenv("RESIDUA_GREETING_SECONDS");
        QFile::remove(m_folder.filePath("closed"));
    }

    void aSessionThatIsAskedNothingEnds()
    {
        Told told;
        {
            const Session session([&](Event event) { told.take(std::move(event)); });
        }
        told.take(QueryFailed{kLastTag, {}});
        QVERIFY(told.untilLast().empty());
    }

    void oneThatIsAskedAndEndedAtOnceEnds()
    {
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(ListDevices{QueryTag{1}});
    }

    void everyCommandThatHasAnAnswerFailsInOrder()
    {
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        const std::vector<Command> commands = allCommands(std::make_index_sequence<std::variant_size_v<Command>>());
        for (const Command& command : commands) {
            session.post(command);
        }
        session.post(ListDevices{kLastTag});
        const std::vector<Event> events = told.untilLast();

        std::size_t next = 0;
        const auto isNext = [&](const auto& matches) { return next < events.size() && matches(events[next++]); };
        for (std::size_t place = 0; place < commands.size(); ++place) {
            const int number = static_cast<int>(place) + 1;
            const Command& command = commands[place];
            const auto isAnyOf = [&]<class... Kinds>(std::variant<Kinds...>*) {
                return (std::holds_alternative<Kinds>(command) || ...);
            };
            const auto failed = [&](const Event& event) {
                const auto* const query = std::get_if<QueryFailed>(&event);
                return query != nullptr && query->tag == static_cast<QueryTag>(number) &&
                       query->error.place == "residua-engine";
            };
            const auto ended = [&](const Event& event) {
                const auto* const run = std::get_if<RunEnded>(&event);
                return run != nullptr && run->run == static_cast<RunId>(number) && run->status == RunStatus::Failed &&
                       run->step == 0 && run->noEngine && run->error.place == "residua-engine";
            };
            if (isAnyOf(static_cast<std::variant<StartRun, ResumeRun, FollowRun, RefuseRanks>*>(nullptr))) {
                QVERIFY2(isNext(ended), qPrintable(QString::number(number)));
            } else if (!isAnyOf(
                           static_cast<std::variant<Pause, Continue, Step, Stop, WriteCheckpoint, GiveUp>*>(nullptr))) {
                QVERIFY2(isNext(failed), qPrintable(QString::number(number)));
            }
        }
        QCOMPARE(next, events.size());
    }

    // ---- with something else in its place

    void refusesAProgramThatIsNotAnEngine_data()
    {
        QTest::addColumn<QString>("script");
        QTest::addColumn<QString>("says");
        const QString other = hello("another.frame", {"of another day", 0, {}});
        QTest::newRow("another build") << "cat " + other + "; cat"
                                       << "it is of the build of another day, expected ";
        QTest::newRow("another program") << "echo Usage: something"
                                         << "is not the engine of this version";
        QTest::newRow("without LibTorch") << "echo libtorch_cpu.so: cannot open >&2; exit 127"
                                          << "does not start (it ended with code 127; its last lines: "
                                             "libtorch_cpu.so: cannot open): residua-setup";
    }
    void refusesAProgramThatIsNotAnEngine()
    {
        QFETCH(QString, script);
        QFETCH(QString, says);
        useScript(script);
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(runWith(RunId{1}));
        session.post(ListDevices{kLastTag});
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        const auto& ended = std::get<RunEnded>(events[0]);
        QVERIFY(ended.noEngine);
        QCOMPARE(ended.error.place, m_folder.filePath("engine").toStdString());
        QVERIFY2(ended.error.message.find(says.toStdString()) != std::string::npos, ended.error.message.c_str());
    }

    void anEngineThatEndsAnswersEverything()
    {
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        useScript("echo x >> starts; cat " + own + "; head -c 300 >/dev/null; echo out of memory >&2; kill -9 $$");
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(runWith(RunId{7}));
        session.post(ListDevices{kLastTag});
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        const auto& ended = std::get<RunEnded>(events[0]);
        QCOMPARE(ended.run, RunId{7});
        QCOMPARE(ended.status, RunStatus::Interrupted);
        QVERIFY(!ended.noEngine);
        const std::string& message = ended.error.message;
        QVERIFY2(message.find("was ended by signal 9") != std::string::npos &&
                     message.find("its last lines: out of memory") != std::string::npos &&
                     message.find("resume it") != std::string::npos,
                 message.c_str());
        session.post(runWith(RunId{8})); // another process
        session.post(ListDevices{kLastTag});
        QCOMPARE(told.untilLast().size(), std::size_t{1});
        QFile starts(m_folder.filePath("starts"));
        QVERIFY(starts.open(QIODevice::ReadOnly));
        QCOMPARE(starts.readAll(), QByteArray("x\nx\n"));
    }

    // ---- a place that does not answer

    void aPlaceThatNeverAnswers_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("end");
        for (const char* const end : {"stop", "give up", "close", "limit"}) {
            QTest::addRow("a pipe that is held, %s", end) << "sed s/x/y/ | true" << end;
            QTest::addRow("processes that wait, %s", end) << "sleep 1000 2>&1 | cat; true" << end;
            QTest::addRow("errors alone, %s", end) << "echo asks for something >&2; exec sleep 1000" << end;
            QTest::addRow("half a greeting, %s", end) << "printf RSD; exec sleep 1000" << end;
        }
    }
    void aPlaceThatNeverAnswers()
    {
        QFETCH(QString, command);
        QFETCH(QString, end);
        qputenv("RESIDUA_GREETING_SECONDS", end == "limit" ? "1" : "0");
        Told told;
        std::optional<Session> session(
            std::in_place, [&](Event event) { told.take(std::move(event)); }, 0,
            EngineRemote{"other", EngineRemote::Kind::CommandLine, command.toStdString(), {}});
        if (end == "give up") {
            session->post(ListDevices{QueryTag{1}});
        } else {
            session->post(runWith(RunId{1}));
        }
        QTRY_VERIFY(!tests::childProcesses().empty());
        if (end == "stop") {
            session->post(Stop{RunId{1}});
        } else if (end == "give up") {
            session->post(GiveUp{QueryTag{1}});
        }
        if (end != "close") {
            QVERIFY(told.waitForOne());
        }
        session.reset();
        QVERIFY(tests::childProcesses().empty());
        told.take(QueryFailed{kLastTag, {}});
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        if (end == "give up") {
            QCOMPARE(std::get<QueryFailed>(events[0]).error.text(), std::string("[query] was given up"));
            return;
        }
        const auto& ended = std::get<RunEnded>(events[0]);
        QCOMPARE(ended.status, end == "stop" ? RunStatus::Stopped : RunStatus::Failed);
        const bool saysLimit = ended.error.message.find("has not answered within 1 s") != std::string::npos;
        QVERIFY2(saysLimit == (end == "limit" && !command.startsWith("printf")), ended.error.message.c_str());
    }

    /// Cancelling it does not end the process that another command starts.
    void aCommandThatWaitsIsGivenUpAlone_data()
    {
        QTest::addColumn<bool>("run");
        QTest::newRow("a query") << false;
        QTest::newRow("a run") << true;
    }
    void aCommandThatWaitsIsGivenUpAlone()
    {
        QFETCH(bool, run);
        qputenv("RESIDUA_GREETING_SECONDS", "0");
        Told told;
        std::optional<Session> session(
            std::in_place, [&](Event event) { told.take(std::move(event)); }, 0,
            EngineRemote{"other", EngineRemote::Kind::CommandLine, "exec sleep 1000", {}});
        session->post(ListDevices{QueryTag{1}});
        QTRY_VERIFY(!tests::childProcesses().empty());
        const auto process = tests::childProcesses();
        session->post(run ? Command(runWith(RunId{2})) : Command(ListDevices{kLastTag}));
        session->post(run ? Command(Stop{RunId{2}}) : Command(GiveUp{kLastTag}));
        if (run) {
            QVERIFY(told.waitForOne());
            told.take(QueryFailed{kLastTag, {}});
        }
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{run ? 1U : 0U});
        QVERIFY(!run || std::get<RunEnded>(events[0]).status == RunStatus::Stopped);
        QCOMPARE(tests::childProcesses(), process);
    }

    /// The stop request is posted before the preparation begins, and read after that.
    void aStopBeforeThePreparationIsHeeded()
    {
        WaitingOwner owner;
        Preparations preparations(owner);
        preparations.start(runWith(RunId{1}), {});
        QVERIFY(preparations.takes(Stop{RunId{1}}));
        const bool came = owner.told.waitForOne();
        preparations.join();
        QVERIFY(came);
        owner.told.take(QueryFailed{kLastTag, {}});
        const std::vector<Event> events = owner.told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        QVERIFY(std::holds_alternative<RunEnded>(events[0]));
    }

    /// The remote reports the end of a run while its files are still being sent, and then ends itself.
    void aPlaceThatEndsWhileFilesAreSent()
    {
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        const QString ended = framed("ended.frame", frameOf(Event(RunEnded{RunId{7}, RunStatus::Finished, 5, {}})));
        QCOMPARE(mkfifo(qPrintable(m_folder.filePath("second")), 0600), 0);
        const QString script = "cd " + m_folder.path() + "; if mkdir first 2>/dev/null; then cat " + own +
                               "; read x < second; cat " + ended + "; exit 3; fi; echo > second; exec cat >/dev/null";
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); }, 0,
                        EngineRemote{"other", EngineRemote::Kind::CommandLine, script.toStdString(), "place"});
        session.post(runWith(RunId{7}));
        QVERIFY(told.waitForOne());
        QTRY_VERIFY(tests::childProcesses().empty()); // the preparation too has ended
        told.take(QueryFailed{kLastTag, {}});
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        QCOMPARE(std::get<RunEnded>(events[0]).run, RunId{7});
        QCOMPARE(std::get<RunEnded>(events[0]).status, RunStatus::Interrupted);
    }

    void aThreadThatCannotBeMadeIsAnError_data()
    {
        QTest::addColumn<int>("thread");
        QTest::newRow("of a process's errors") << 1;
        QTest::newRow("of events") << 2;
        QTest::newRow("of a preparation") << 3;
    }
    /// The command fails, no process remains, and the next command works.
    void aThreadThatCannotBeMadeIsAnError()
    {
        QFETCH(int, thread);
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        const QString script = "cat " + own + "; exec cat >/dev/null";
        Told told;
        Session session(
            [&](Event event) { told.take(std::move(event)); }, 0,
            EngineRemote{"other", EngineRemote::Kind::CommandLine, script.toStdString(), thread == 3 ? "place" : ""});
        g_threadsUntilFailure = thread;
        session.post(runWith(RunId{1}));
        QVERIFY(told.waitForOne());
        QCOMPARE(g_threadsUntilFailure.load(), 0);
        QTRY_COMPARE(tests::childProcesses().size(), std::size_t{thread == 3 ? 1U : 0U});
        told.take(QueryFailed{kLastTag, {}});
        std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        const RunEnded ended = std::get<RunEnded>(events[0]);
        QCOMPARE(ended.status, RunStatus::Failed);
        QVERIFY2(ended.error.message.find("temporarily unavailable") != std::string::npos, ended.error.message.c_str());
        session.post(ListDevices{kLastTag});
        QTRY_COMPARE(tests::childProcesses().size(), std::size_t{1});
        kill(*tests::childProcesses().begin(), SIGKILL);
        QVERIFY(told.untilLast().empty());
    }

    void outputBeforeTheGreetingIsAnError_data()
    {
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("says");
        QTest::newRow("a banner") << "echo 'Welcome to gpu1'; exec cat"
                                  << "\"Welcome to gpu1\"";
        QTest::newRow("two lines") << "echo one; echo two; exec cat"
                                   << "\"one\"";
        QTest::newRow("escapes") << "printf '\\033[31mred\\n'; exec cat"
                                 << "\"\\x1b[31mred\"";
        QTest::newRow("no line end") << "printf 'login: '; exec cat"
                                     << "\"login: \"";
        QTest::newRow("a short one, then the end") << "printf hi"
                                                   << "\"hi\"";
        QTest::newRow("endless") << "yes | tr -d '\\n'"
                                 << "\"yyyyyyyyyy";
    }
    void outputBeforeTheGreetingIsAnError()
    {
        QFETCH(QString, command);
        QFETCH(QString, says);
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); }, 0,
                        EngineRemote{"other", EngineRemote::Kind::CommandLine, command.toStdString(), {}});
        session.post(runWith(RunId{1}));
        session.post(ListDevices{kLastTag});
        const std::vector<Event> events = told.untilLast();
        QCOMPARE(events.size(), std::size_t{1});
        const std::string& message = std::get<RunEnded>(events[0]).error.message;
        QVERIFY2(message.find(says.toStdString()) != std::string::npos &&
                     message.find("must print nothing") != std::string::npos && message.size() < 600,
                 message.c_str());
    }

    /// The remote closes its output but does not end.
    void aPlaceThatSendsNoMore()
    {
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        const QString script = "cat " + own + "; exec >&-; cat >/dev/null; sleep 1000";
        EngineProcess process;
        QVERIFY(process.start(0, {"other", EngineRemote::Kind::CommandLine, script.toStdString(), {}}).ok());
        const auto event = process.next();
        QVERIFY(event.ok() && !event->has_value());
        process.close();
        const std::string end = process.wait(std::chrono::seconds(0));
        QVERIFY2(end.find("did not end and was killed") != std::string::npos, end.c_str());
        QVERIFY(tests::childProcesses().empty());
    }

    /// The remote stops reading but does not end. The session ends it at the next command.
    void aPlaceThatTakesNoMore()
    {
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        useScript("cat " + own + "; head -c 20 >/dev/null; exec 0<&-; touch closed; exec sleep 1000");
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(runWith(RunId{7}));
        QTRY_VERIFY(QFile::exists(m_folder.filePath("closed")));
        session.post(WriteCheckpoint{RunId{7}});
        QVERIFY(told.waitForOne());
        told.take(QueryFailed{kLastTag, {}});
        QCOMPARE(std::get<RunEnded>(told.untilLast()[0]).status, RunStatus::Interrupted);
    }

    /// A message that the protocol allows does not fit in memory.
    void aMessageWithoutRoomEndsTheProcess()
    {
        if (tests::kSanitized) {
            QSKIP(tests::kSanitizedMemory);
        }
        const QString own = hello("own.frame", {buildIdentity(), 0, {}});
        QFile header(m_folder.filePath("header"));
        QVERIFY(header.open(QIODevice::WriteOnly));
        header.write(QByteArray::fromStdString(tests::headerOf(2, kMostNumberBytes)));
        header.close();
        useScript("cat " + own + " header; exec cat /dev/zero");
        const tests::AddressSpaceLimit limit(tests::kRoomForHalfAMessage);
        QVERIFY(limit.isSet());
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(runWith(RunId{7}));
        QVERIFY(told.waitForOne());
        told.take(QueryFailed{kLastTag, {}});
        const RunEnded ended = std::get<RunEnded>(told.untilLast()[0]);
        QCOMPARE(ended.status, RunStatus::Interrupted);
        QVERIFY2(ended.error.message.find("sent what cannot be taken: ") != std::string::npos,
                 ended.error.message.c_str());
    }

    void anEngineThatPrintsALineWithoutEnd()
    {
        useScript("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 3");
        Told told;
        Session session([&](Event event) { told.take(std::move(event)); });
        session.post(runWith(RunId{1}));
        session.post(ListDevices{kLastTag});
        const std::string& message = std::get<RunEnded>(told.untilLast()[0]).error.message;
        QVERIFY(message.find("code 3; its last lines: xxx") != std::string::npos);
        QVERIFY(message.size() < 10'000);
    }

private:
    /// Returns a file with the first message of an engine.
    QString hello(const QString& name, const Hello& hello) const { return framed(name, frameOf(hello)); }

    QString framed(const QString& name, const Frame& frame) const
    {
        const QString path = m_folder.filePath(name);
        const int file = open(qPrintable(path), O_CREAT | O_WRONLY | O_TRUNC, 0600);
        [[maybe_unused]] const Status written = writeFrame(file, frame);
        close(file);
        return path;
    }

    void useScript(const QString& script) const
    {
        const QString path = m_folder.filePath("engine");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\ncd " + m_folder.path().toUtf8() + "\n" + script.toUtf8() + "\n");
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        qputenv("RESIDUA_ENGINE", path.toUtf8());
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestProcessSession)
#include "tst_process_session.moc"
