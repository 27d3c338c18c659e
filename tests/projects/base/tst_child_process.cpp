// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/child_process.h"
#include "projects/base/files.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

using namespace residua;

namespace {

ChildCommand shell(const std::string& script, ChildKind kind = ChildKind::Other)
{
    return {.words = {"sh", "-c", script}, .kind = kind};
}

/// A pipe whose end to write to goes to a process.
struct Pipe {
    Pipe()
    {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
            reads = FileDescriptor(ends[0]);
            writes = FileDescriptor(ends[1]);
        }
    }
    /// All that is written until the last writer has closed the pipe.
    std::string text()
    {
        writes.close();
        std::string all;
        std::array<char, 256> bytes{};
        for (ssize_t got = 0; (got = ::read(reads.get(), bytes.data(), bytes.size())) > 0;) {
            all.append(bytes.data(), static_cast<std::size_t>(got));
        }
        return all;
    }
    FileDescriptor reads;
    FileDescriptor writes;
};

std::string saidBy(ChildCommand command)
{
    Pipe pipe;
    command.output = pipe.writes.get();
    auto child = ChildProcess::start(command);
    return child && child->wait() == 0 ? pipe.text() : "it failed";
}

} // namespace

class TestChildProcess : public QObject {
    Q_OBJECT

private slots:
    void itsEndIsReported()
    {
        QCOMPARE(ChildProcess::start(shell("exit 3"))->wait(), 3);
        QCOMPARE(ChildProcess::start(shell("kill -KILL $$"))->wait(), 128 + SIGKILL);
        QCOMPARE(ChildProcess::start(shell("cat"))->wait(), 0); // which has nothing to read
        const auto none = ChildProcess::start({.words = {"/nowhere/program"}});
        QVERIFY(!none);
        QCOMPARE(QString::fromStdString(none.error().place), QString("/nowhere/program"));
    }

    void whileItWorksThereIsNoEnd()
    {
        Pipe pipe;
        ChildCommand command = shell("cat");
        command.input = pipe.reads.get();
        auto child = ChildProcess::start(command);
        QVERIFY(child);
        QVERIFY(!child->ended().has_value());
        pipe.writes.close();
        QCOMPARE(child->wait(), 0);
        QCOMPARE(child->ended(), std::optional(0)); // and it stays so
    }

    /// With all that it has started: the last of them lets go of the pipe.
    void itEndsWithItsValue()
    {
        Pipe pipe;
        ChildCommand command = shell("sleep 1000 & echo begun; wait");
        command.output = pipe.writes.get();
        {
            auto child = ChildProcess::start(command);
            QVERIFY(child);
            char first = 0;
            QCOMPARE(::read(pipe.reads.get(), &first, 1), ssize_t{1});
            ChildProcess moved = *std::move(child);
            QVERIFY(!moved.ended().has_value());
        }
        QCOMPARE(QString::fromStdString(pipe.text()), QString("egun\n"));
    }

    void signalsThatAreBlockedHereReachIt()
    {
        sigset_t blocked{};
        sigset_t before{};
        ::sigemptyset(&blocked);
        ::sigaddset(&blocked, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
        const int status = ChildProcess::start(shell("kill -TERM $$; exit 0"))->wait();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        QCOMPARE(status, 128 + SIGTERM);
    }

    /// A launcher has put a folder in front of the user's own, which is for our programs alone.
    void othersHaveTheirOwnLibraries()
    {
        const QByteArray before = qgetenv("LD_LIBRARY_PATH");
        const std::string asked = "echo \"$LD_LIBRARY_PATH,${RESIDUA_FOREIGN_LIBRARY_PATH-none}\"";
        qputenv("LD_LIBRARY_PATH", "/nowhere/ours:/nowhere/theirs");
        QCOMPARE(saidBy(shell(asked)), std::string("/nowhere/ours:/nowhere/theirs,none\n")); // there was no launcher
        qputenv("RESIDUA_FOREIGN_LIBRARY_PATH", "/nowhere/theirs");
        QCOMPARE(saidBy(shell(asked)), std::string("/nowhere/theirs,none\n"));
        QCOMPARE(saidBy(shell(asked, ChildKind::Ours)), std::string("/nowhere/ours:/nowhere/theirs,/nowhere/theirs\n"));
        qputenv("RESIDUA_FOREIGN_LIBRARY_PATH", "");
        QCOMPARE(saidBy(shell(asked)), std::string(",none\n"));
        qunsetenv("RESIDUA_FOREIGN_LIBRARY_PATH");
        if (before.isNull()) {
            qunsetenv("LD_LIBRARY_PATH");
        } else {
            qputenv("LD_LIBRARY_PATH", before);
        }
    }
};

RESIDUA_TEST(TestChildProcess)
#include "tst_child_process.moc"
