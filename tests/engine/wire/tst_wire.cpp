// SPDX-License-Identifier: GPL-3.0-or-later
// Messages between a program and an engine's process: what is written is read again, and what is damaged is an error.
#include "engine/wire/messages.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <random>
#include <thread>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Of, std::size_t... index>
std::vector<Of> oneOfEach(std::index_sequence<index...>)
{
    return {Of(std::in_place_index<index>)...};
}

/// Every kind of command; some of them full.
std::vector<Command> commands()
{
    auto all = oneOfEach<Command>(std::make_index_sequence<std::variant_size_v<Command>>());
    StartRun start;
    start.run = RunId{std::numeric_limits<std::uint64_t>::max()};
    start.project = tests::RandomDocument(3, tests::Values::Any).document().project;
    start.runDirectory = "runs/\xff\xfe name"; // no text
    start.membership = projects::Membership{"study", "widths", {{"/network/width", "width", "8"}}};
    all.push_back(start);
    RetrofitRequest retrofit;
    retrofit.topology = tests::RandomDocument(4).document().project.stack().topology;
    retrofit.step = 0;
    all.push_back(retrofit);
    FactoriseRequest factorise;
    factorise.rank = projects::FixedRank{7};
    all.push_back(factorise);
    return all;
}

std::vector<Event> events()
{
    auto all = oneOfEach<Event>(std::make_index_sequence<std::variant_size_v<Event>>());
    Progress progress;
    progress.steps = {{1, kNaN, 0.1, std::numeric_limits<double>::infinity(), 64, 1.0 / 3}};
    progress.rows = {{"accuracy/validation", 1, -0.0}};
    progress.matrices = {{"mix/q", 1, 2, 2, {0.1F, std::numeric_limits<float>::quiet_NaN(), -1e30F, 4}},
                         {"active", 1, 1, 1, {1}}};
    all.push_back(progress);
    all.push_back(SampleReady{QueryTag{5},
                              "text \xc3",
                              3,
                              {"a note"},
                              {{2, {{"##ing", 0.25}}}},
                              {{{"a text", "its class"}}, "\x89PNG\xff", 1}});
    EvaluationReady evaluation;
    evaluation.means = {{"loss", 1.5}, {"accuracy", 0.25}};
    all.push_back(evaluation);
    GapReady gap;
    gap.gap.weights.resize(1);
    gap.gap.fits = {{.spectralGapBound = 0.5, .note = "n"}};
    gap.gap.outputs = {std::nullopt, 2.0};
    all.push_back(gap);
    return all;
}

class TestWire : public QObject {
    Q_OBJECT

private slots:
    void everyMessageIsReadAsItWasWritten()
    {
        for (const Command& command : commands()) {
            const Frame frame = frameOf(command);
            const Result<Command> read = commandFrom(frame);
            QVERIFY2(read.ok(), read ? "" : qPrintable(QString::fromStdString(read.error().text() + frame.json)));
            QCOMPARE(read->index(), command.index());
            QVERIFY(frameOf(*read) == frame);
        }
        for (const Event& event : events()) {
            const Frame frame = frameOf(event);
            const Result<Event> read = eventFrom(frame);
            QVERIFY2(read.ok(), read ? "" : qPrintable(QString::fromStdString(read.error().text() + frame.json)));
            QCOMPARE(read->index(), event.index());
            QVERIFY(frameOf(*read) == frame);
        }
        const Hello hello{buildIdentity(), 3, "/a folder"};
        QVERIFY(helloFrom(frameOf(hello)) && *helloFrom(frameOf(hello)) == hello);
    }

    /// The document of a run arrives whole, whatever it holds.
    void projectsArriveUnchanged()
    {
        for (std::uint32_t seed = 0; seed < 30; ++seed) {
            StartRun start;
            start.project = tests::RandomDocument(seed, tests::Values::Any).document().project;
            const Result<Command> read = commandFrom(frameOf(Command(start)));
            QVERIFY(read.ok());
            QVERIFY(std::get<StartRun>(*read).project == start.project);
        }
    }

    void numbersKeepTheirBits()
    {
        const auto all = events();
        const auto& sent = std::get<Progress>(all[std::variant_size_v<Event>]);
        const Result<Event> read = eventFrom(frameOf(Event(sent)));
        QVERIFY(read.ok());
        const auto& got = std::get<Progress>(*read);
        QVERIFY(std::isnan(got.steps[0].loss) && std::isinf(got.steps[0].gradientNorm));
        QCOMPARE(got.steps[0].seconds, 1.0 / 3);
        QVERIFY(std::signbit(got.rows[0].value));
        QCOMPARE(got.matrices[0].values[2], -1e30F);
        QVERIFY(std::isnan(got.matrices[0].values[1]));
        QCOMPARE(got.matrices[1].values, std::vector<float>{1});
        QCOMPARE(got.matrices[0].name.text(), std::string("mix/q"));
    }

    void framesCrossAPipe()
    {
        int ends[2];
        QCOMPARE(pipe(ends), 0);
        const Frame large{std::string(3'000'000, 'x'), std::string(200'000, 'y')};
        std::thread writing([&] {
            for (const Frame& frame : {Frame{}, large, Frame{"{}", ""}}) {
                QVERIFY(writeFrame(ends[1], frame).ok());
            }
            close(ends[1]);
        });
        for (const Frame& expected : {Frame{}, large, Frame{"{}", ""}}) {
            const auto got = readFrame(ends[0]);
            QVERIFY(got && *got && **got == expected);
        }
        const auto end = readFrame(ends[0]);
        QVERIFY(end && !*end);
        writing.join();
        close(ends[0]);
    }

    void whatIsNoFrameIsAnError_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const QByteArray magic = QByteArray::fromHex("52534431");
        QTest::newRow("text") << QByteArray("usage: something else") << "something else than messages";
        QTest::newRow("part of a header") << magic << "something else than messages";
        QTest::newRow("ends early") << magic + QByteArray::fromHex("0500000000000000") + "abc"
                                    << "within a message";
        QTest::newRow("too long") << magic + QByteArray::fromHex("ffffff7f00000000") << "expected at most 1073741824";
    }
    void whatIsNoFrameIsAnError()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        const auto got = readBytes(bytes);
        QVERIFY(!got);
        QVERIFY2(got.error().message.find(says.toStdString()) != std::string::npos, got.error().message.c_str());
    }

    /// Damaged messages are errors or other messages, which can be written again.
    void damagedMessagesDoNoHarm()
    {
        std::vector<Frame> frames;
        for (const Command& command : commands()) {
            frames.push_back(frameOf(command));
        }
        for (const Event& event : events()) {
            frames.push_back(frameOf(event));
        }
        std::mt19937 draws(tests::randomSeed());
        int read = 0;
        const auto rounds = tests::numberOf<int>("RESIDUA_FUZZ_ROUNDS", 4'000);
        for (int round = 0; round < rounds; ++round) {
            Frame frame = frames[draws() % frames.size()];
            damage(frame.json, draws);
            if (draws() % 4 == 0) {
                damage(frame.numbers, draws);
            }
            const Result<Command> command = commandFrom(frame);
            const Result<Event> event = eventFrom(frame);
            read += (command ? 1 : 0) + (event ? 1 : 0);
            QVERIFY(!command || commandFrom(frameOf(*command)).ok());
            QVERIFY(!event || eventFrom(frameOf(*event)).ok());
            QVERIFY(command.ok() || !command.error().message.empty());
        }
        QVERIFY(read > 0); // some are still messages
    }

private:
    static void damage(std::string& text, std::mt19937& draws)
    {
        static constexpr std::string_view kBits = "0123456789-.eE\"{}[]:,\\ntrufals\xff";
        for (std::uint32_t count = 1 + draws() % 3; count > 0 && !text.empty(); --count) {
            const std::size_t at = draws() % text.size();
            switch (draws() % 4) {
            case 0:
                text[at] = kBits[draws() % kBits.size()];
                break;
            case 1:
                text.insert(at, 1 + draws() % 3, kBits[draws() % kBits.size()]);
                break;
            case 2:
                text.erase(at, 1 + draws() % 8);
                break;
            default:
                text.replace(at, std::min<std::size_t>(text.size() - at, 1 + draws() % 12),
                             std::string(text, draws() % text.size(), 1 + draws() % 12));
            }
        }
    }

    static Result<std::optional<Frame>> readBytes(const QByteArray& bytes)
    {
        const int file = memfd_create("frames", 0);
        if (write(file, bytes.data(), static_cast<std::size_t>(bytes.size())) != bytes.size()) {
            return Error{"test", "cannot write"};
        }
        lseek(file, 0, SEEK_SET);
        auto got = readFrame(file);
        close(file);
        return got;
    }
};

} // namespace

RESIDUA_TEST(TestWire)
#include "tst_wire.moc"
