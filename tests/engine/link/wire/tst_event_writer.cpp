// SPDX-License-Identifier: GPL-3.0-or-later
// The queue for a reader that stands still is bounded, and the events that it needs arrive when it reads again.
#include "engine/link/wire/event_writer.h"
#include "engine/link/wire/messages.h"
#include "engine/link/wire/values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr int kMany = 3000;

Event gapProgress(QueryTag tag, std::size_t fits)
{
    GapProgress progress;
    progress.tag = tag;
    progress.gap.fits.resize(fits);
    return progress;
}

class TestEventWriter : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        std::array<int, 2> ends{};
        QCOMPARE(pipe(ends.data()), 0);
        m_read = ends[0];
        m_write = ends[1];
    }

    void cleanup()
    {
        close(m_read);
        close(m_write);
    }

    /// Each progress of a query tells all that has been done: the newest one alone waits.
    void progressOfAQueryTakesThePlaceOfEarlier()
    {
        std::optional<EventWriter> writer(std::in_place, m_write);
        writer->take(Notice{RunId{1}, std::string(1 << 20, 'x')}); // more than the pipe holds
        for (std::size_t i = 1; i <= kMany; ++i) {
            writer->take(gapProgress(QueryTag{1}, i % 100 + 1));
            writer->take(gapProgress(QueryTag{2}, 1));
        }
        writer->take(gapProgress(QueryTag{1}, 77));
        writer->take(GapReady{QueryTag{1}, {}});
        const std::vector<Event> events = readUntil<GapReady>();
        QVERIFY(events.size() <= 6); // the notice, what was being written, one of each query, and the answer
        const auto last = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
            const auto* const progress = std::get_if<GapProgress>(&event);
            return progress != nullptr && progress->tag == QueryTag{1};
        });
        QVERIFY(last != events.rend());
        QCOMPARE(std::get<GapProgress>(*last).gap.fits.size(), std::size_t{77});
    }

    void textsOfAQueryAreAllWritten()
    {
        EventWriter writer(m_write);
        writer.take(Notice{RunId{1}, std::string(1 << 20, 'x')}); // more than the pipe holds
        const QueryTag tag{1};
        for (const char* const text : {"first", "second"}) {
            writer.take(QueryProgress{tag, -1, text});
        }
        for (int share = 0; share <= 100; ++share) {
            writer.take(QueryProgress{tag, share / 100.0, {}});
        }
        writer.take(GapReady{tag, {}});
        QStringList texts;
        double share = 0;
        for (const Event& event : readUntil<GapReady>()) {
            if (const auto* const progress = std::get_if<QueryProgress>(&event)) {
                texts << QString::fromStdString(progress->text);
                share = progress->share;
            }
        }
        QCOMPARE(texts, (QStringList{"first", "second", ""})); // and the newest share
        QCOMPARE(share, 1.0);
    }

    /// An answer that does not fit into a message is told with its size.
    void anAnswerThatIsTooLongIsAnError()
    {
        EventWriter writer(m_write);
        SampleReady ready;
        ready.tag = QueryTag{5};
        const std::string longest(kLongestJsonText, 'x'); // longer ones are beside the JSON
        ready.notes.assign(kMostJsonBytes / longest.size() + 1, longest);
        writer.take(std::move(ready));
        writer.take(Notice{RunId{3}, "the run goes on"});
        writer.take(RunEnded{RunId{3}, RunStatus::Stopped, 1, {}});
        const std::vector<Event> events = readUntil<RunEnded>();
        QCOMPARE(events.size(), std::size_t{3});
        const auto& failed = std::get<QueryFailed>(events[0]);
        QCOMPARE(failed.tag, QueryTag{5});
        QVERIFY2(failed.error.message.find("of JSON") != std::string::npos, failed.error.message.c_str());
        QCOMPARE(std::get<Notice>(events[1]).run, RunId{3});
    }

private:
    template <class Last>
    std::vector<Event> readUntil() const
    {
        std::vector<Event> events;
        while (events.empty() || !std::holds_alternative<Last>(events.back())) {
            const auto frame = readFrame(m_read);
            const Result<Event> event = frame && *frame ? eventFrom(**frame) : Error{"test", "ended"};
            if (!event) {
                break;
            }
            events.push_back(*event);
        }
        return events;
    }

    int m_read = -1;
    int m_write = -1;
};

} // namespace

RESIDUA_TEST(TestEventWriter)
#include "tst_event_writer.moc"
