// SPDX-License-Identifier: GPL-3.0-or-later
// Messages between a program and an engine's process: what is written is read again, and what is damaged is an error.
#include "engine/base/api/queries.h"
#include "engine/link/wire/file_messages.h"
#include "engine/link/wire/messages.h"
#include "tests/support/frame_header.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
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
    retrofit.of.step = 0;
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
    gap.gap.weights = {{"a", GapFactors{4, 3, 2, "relu"}}, {"b", GapFeatures{2, 5, 8}}};
    gap.gap.fits = {{.spectralGapBound = 0.5, .note = "n"}};
    gap.gap.outputs = {std::nullopt, 2.0};
    all.push_back(gap);
    return all;
}

/// True if Fields has a line for each member of each query, and only queries among the commands have fields.
template <class... Asked>
consteval bool describesQueries(const std::variant<Asked...>*)
{
    const auto isDescribed = []<class T>(const T*) {
        if constexpr (kIsQuery<T> && projects::Described<T>) {
            return projects::describesAll<T>();
        } else {
            return !kIsQuery<T> && !projects::Described<T>;
        }
    };
    return (isDescribed(static_cast<const Asked*>(nullptr)) && ...);
}
static_assert(describesQueries(static_cast<const Command*>(nullptr)));

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

    /// A member keeps its meaning if the order of members changes.
    void queriesHaveKeys()
    {
        SampleRequest sample;
        sample.of.step = 7;
        sample.topK = 3;
        const std::string json = frameOf(Command(sample)).json;
        for (const char* const part : {R"("tag":)", R"("prompt":"")", R"("top-k":3)", R"("from":[7])", R"("run":"")"}) {
            QVERIFY2(json.find(part) != std::string::npos, (part + (" in " + json)).c_str());
        }
        Frame other = frameOf(Command(sample));
        other.json.replace(other.json.find("top-k"), 5, "top-K");
        QVERIFY(!commandFrom(other));
    }

    /// The document of a run arrives complete, whatever its content.
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

    void invalidFramesAreErrors_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const QByteArray magic = "RSD2";
        QTest::newRow("text") << QByteArray("usage: something else\nand more") << "\"usage: something else\"";
        QTest::newRow("a short text") << QByteArray("hi") << "\"hi\"";
        QTest::newRow("an escape") << QByteArray("\x1b[2Jno\n") << "\"\\x1b[2Jno\"";
        QTest::newRow("a long text") << QByteArray(100'000, 'x') << QString("\"") + QString(200, 'x') + "\"";
        QTest::newRow("as the magic begins") << QByteArray("RSVP now\n") << "\"RSVP now\"";
        QTest::newRow("another version") << QByteArray("RSD1") + QByteArray(8, 0) << "another version of the protocol";
        QTest::newRow("part of the magic") << magic.left(3) << "within a message";
        QTest::newRow("part of a header") << magic + QByteArray(8, 0) << "within a message";
        QTest::newRow("a header's checksum") << magic + QByteArray(16, 0) << "changed the bytes of a message's header";
        QTest::newRow("ends early") << header(5, 0) + "abc"
                                    << "within a message";
        QTest::newRow("much JSON") << header((64 << 20) + 1, 0) << "of JSON (67108865 bytes); expected at most 64 MiB";
        QTest::newRow("many numbers") << header(2, (1U << 30) + 1) << "1073741825 bytes";
        QTest::newRow("most of all") << header(0xffffffff, 0xffffffff) << "4294967295 bytes";
    }
    void invalidFramesAreErrors()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        const auto got = readBytes(bytes);
        QVERIFY(!got);
        QVERIFY2(got.error().message.find(says.toStdString()) != std::string::npos, got.error().message.c_str());
    }

    /// One flipped bit is detected anywhere: in a part of the frame, its lengths or its checksums.
    void oneFlippedBitIsFound()
    {
        const QByteArray sent = bytesOf({"{\"step\":[1,2.5]}", "12345678"});
        QVERIFY(readBytes(sent));
        for (int bit = 0; bit < 8 * sent.size(); ++bit) {
            QByteArray damaged = sent;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
            QVERIFY2(!readBytes(damaged), qPrintable(QString::number(bit)));
        }
    }

    void aLongMessageIsNotWritten()
    {
        const Status written = writeFrame(-1, {std::string(kMostJsonBytes + 1, '['), {}});
        QVERIFY(!written && written.error().message.find("67108865 bytes") != std::string::npos);
    }

    /// Each text or list would be too long as JSON.
    void longTextsAndListsAreBesideTheJson()
    {
        const SampleReady sample{QueryTag{1}, std::string(kMostJsonBytes / 2, '\n') + "\xff end", 3, {}, {}, {}};
        const Frame ofSample = frameOf(Event(sample));
        QVERIFY(checkSize(ofSample).ok() && ofSample.json.size() < 1000);
        const Result<Event> readSample = eventFrom(ofSample);
        QVERIFY(readSample && std::get<SampleReady>(*readSample).text == sample.text);
        QVERIFY(!eventFrom({ofSample.json, ofSample.numbers.substr(1)}).ok());

        OfferFiles offer;
        FilesLacking lacking{{}, "the project"};
        const std::string deep(200, 'd');
        for (int i = 0; i < 300'000; ++i) {
            offer.files.push_back({deep + "/\xff\n" + std::to_string(i), i, std::string(64, 'a')});
            lacking.hashes.push_back(deep + deep + std::to_string(i));
        }
        const Frame ofOffer = frameOf(FileRequest(offer));
        QVERIFY(checkSize(ofOffer).ok());
        const auto readOffer = fileRequestFrom(ofOffer);
        QVERIFY(readOffer && std::get<OfferFiles>(readOffer->message).files == offer.files);
        const Frame ofLacking = frameOf(FileAnswer(lacking));
        QVERIFY(checkSize(ofLacking).ok());
        const auto readLacking = fileAnswerFrom(ofLacking);
        QVERIFY(readLacking && std::get<FilesLacking>(readLacking->message).hashes == lacking.hashes);
        QCOMPARE(std::get<FilesLacking>(readLacking->message).project, lacking.project);
    }

    void damagedListsAreRefused_data()
    {
        QTest::addColumn<QByteArray>("offer");
        QTest::addColumn<bool>("fits");
        const auto bytes = [](const char* text) { return QByteArray(text).replace('|', '\0'); };
        QTest::newRow("none") << bytes("") << true;
        QTest::newRow("one") << bytes("hash|5|path|") << true;
        QTest::newRow("no end") << bytes("hash|5|path") << false;
        QTest::newRow("a part less") << bytes("hash|5|") << false;
        QTest::newRow("a part more") << bytes("hash|5|path|more|") << false;
        QTest::newRow("no number") << bytes("hash|five|path|") << false;
        QTest::newRow("a number too large") << bytes("hash|99999999999999999999|path|") << false;
        QTest::newRow("the most files") << bytes("|0||").repeated(kMostStoredFiles) << true;
        QTest::newRow("a file more") << bytes("|0||").repeated(kMostStoredFiles + 1) << false;
    }
    void damagedListsAreRefused()
    {
        QFETCH(QByteArray, offer);
        QFETCH(bool, fits);
        Frame frame = frameOf(FileRequest(OfferFiles{}));
        frame.numbers = offer.toStdString();
        QCOMPARE(fileRequestFrom(std::move(frame)).ok(), fits);
    }

    void aDeepMessageIsRefused()
    {
        const Result<Command> read = commandFrom({std::string(kMostJsonBytes, '['), {}});
        QVERIFY(!read && read.error().message.find("nested deeper") != std::string::npos);
    }

    void aWaitEnds_data()
    {
        QTest::addColumn<QString>("by");
        QTest::addColumn<QString>("says");
        QTest::newRow("cancelled") << "cancel"
                                   << "was given up";
        QTest::newRow("no byte in time") << "until"
                                         << "is silent";
        QTest::newRow("the other direction is closed") << "reverse"
                                                       << "is closed in one direction";
    }
    /// The other side is silent but does not end.
    void aWaitEnds()
    {
        QFETCH(QString, by);
        QFETCH(QString, says);
        int silent[2];
        int other[2];
        QVERIFY(pipe(silent) == 0 && pipe(other) == 0);
        close(other[0]);
        const int ready = eventfd(1, EFD_CLOEXEC);
        FrameWait wait;
        wait.cancel = by == "cancel" ? ready : -1;
        wait.reverse = by == "reverse" ? other[1] : -1;
        if (by == "until") {
            wait.until = std::chrono::steady_clock::now();
        }
        const auto got = readFrame(silent[0], wait);
        QVERIFY2(!got && got.error().message == says.toStdString(), got ? "" : got.error().message.c_str());
        for (const int descriptor : {silent[0], silent[1], other[1], ready}) {
            close(descriptor);
        }
    }

    /// A damaged message gives an error, or another message that can be written again.
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

    static QByteArray header(std::uint32_t json, std::uint32_t numbers)
    {
        return QByteArray::fromStdString(tests::headerOf(json, numbers));
    }

    static QByteArray bytesOf(const Frame& frame)
    {
        const int file = memfd_create("frame", 0);
        QByteArray bytes;
        if (writeFrame(file, frame)) {
            bytes.resize(static_cast<int>(lseek(file, 0, SEEK_CUR)));
            [[maybe_unused]] const ssize_t got = pread(file, bytes.data(), static_cast<std::size_t>(bytes.size()), 0);
        }
        close(file);
        return bytes;
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
