// SPDX-License-Identifier: GPL-3.0-or-later
// A session of a program that opens its engine, where there is none. With one: tests/cli and tests/app.
#include "engine/api/session.h"
#include "engine/opened/engine_library.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr QueryTag kLastTag{1000};

/// What a session has told.
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

    /// All until the answer to kLastTag, which is none of them; less where it does not come.
    std::vector<Event> untilLast()
    {
        std::unique_lock lock(m_mutex);
        const auto last = [this] {
            const auto* const failed = m_events.empty() ? nullptr : std::get_if<QueryFailed>(&m_events.back());
            return failed != nullptr && failed->tag == kLastTag;
        };
        if (m_came.wait_for(lock, kPatience, last)) {
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

class TestOpenedSession : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { qputenv("RESIDUA_ENGINE", "/nowhere/at/all.so"); }

    void whatIsMissingIsSaid()
    {
        const Result<const SessionTable*>& table = openEngine();
        QVERIFY(!table);
        QCOMPARE(table.error().place, std::string("libresidua_engine.so"));
        QVERIFY(table.error().message.find("install it again") != std::string::npos);
        QCOMPARE(&openEngine(), &table); // once for the process
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
                       query->error.place == "libresidua_engine.so";
            };
            const auto ended = [&](const Event& event) {
                const auto* const run = std::get_if<RunEnded>(&event);
                return run != nullptr && run->run == static_cast<RunId>(number) && run->status == RunStatus::Failed &&
                       run->step == 0 && run->noEngine && run->error.place == "libresidua_engine.so";
            };
            if (isAnyOf(static_cast<std::variant<StartRun, ResumeRun>*>(nullptr))) {
                QVERIFY2(isNext(ended), qPrintable(QString::number(number)));
            } else if (!isAnyOf(
                           static_cast<std::variant<Pause, Continue, Step, Stop, WriteCheckpoint, GiveUp>*>(nullptr))) {
                QVERIFY2(isNext(failed), qPrintable(QString::number(number)));
            }
        }
        QCOMPARE(next, events.size());
    }
};

} // namespace

RESIDUA_TEST(TestOpenedSession)
#include "tst_opened_session.moc"
