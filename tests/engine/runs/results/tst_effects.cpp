// SPDX-License-Identifier: GPL-3.0-or-later
// The results of knock-outs that a run keeps: written, read, copied to a fork, and removed with their steps.
#include "engine/runs/results/effects.h"

#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/results/visit_results.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/engine/runs/store/stored_tensors.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
using projects::KnockoutBy;
namespace fs = std::filesystem;

namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

/// A result of two shortcuts at a step.
KeptEffects effectsAt(std::int64_t step, double rise = 0.125, const std::string& checkpoint = {})
{
    KeptEffects effects{{step, KnockoutBy::Term, false, 4}, {}};
    KnockoutReady& measured = effects.measured;
    measured.step = step;
    measured.loss = 2.5;
    measured.batches = 4;
    measured.checkpoint = checkpoint;
    measured.rows = {{"0:1", 0, 1, 1.0, rise, 0.01, 0.5}, {"0:2", 0, 2, kUnmeasured, -0.25, kUnmeasured, kUnmeasured}};
    return effects;
}

} // namespace

class TestEffects : public RunFilesHarness {
    Q_OBJECT

private slots:
    /// Makes a run of 20 steps with checkpoints at 10 and 20.
    void init()
    {
        newFolder();
        auto writer = create();
        QVERIFY(writer.ok());
        for (std::int64_t step = 1; step <= 20; ++step) {
            writer->step({step, 1, 1e-3, 1, step * 8, 1});
            if (step % 10 == 0) {
                put(step, 1);
            }
        }
        QVERIFY(writer->flush().ok());
    }

    void aResultIsRead()
    {
        QVERIFY(readEffects(m_run)->empty());
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok());
        QVERIFY(keepEffects(m_run, effectsAt(10)).ok());
        QVERIFY(keepEffects(m_run, effectsAt(20, 0.75)).ok()); // replaces the first
        KeptEffects all = effectsAt(20);
        all.key = {20, KnockoutBy::Stream, true, 0};
        QVERIFY(keepEffects(m_run, all).ok());
        std::vector<std::string> notes;
        const auto kept = readEffects(m_run, &notes);
        QVERIFY(kept.ok() && notes.empty());
        QCOMPARE(kept->size(), std::size_t{3});
        QCOMPARE(kept->front().key, effectsAt(10).key);
        const auto one = keptEffects(m_run, effectsAt(20).key);
        QVERIFY(one && keptEffects(m_run, all.key));
        QVERIFY(!keptEffects(m_run, {20, KnockoutBy::Layer, false, 4}));
        const std::vector<KnockoutRow>& rows = one->measured.rows;
        QCOMPARE(rows.size(), std::size_t{2});
        QCOMPARE(rows[0].name, std::string("0:1"));
        QCOMPARE(rows[0].rise, 0.75);
        QVERIFY(std::isnan(rows[1].weight) && std::isnan(rows[1].error) && std::isnan(rows[1].divergence));
        QCOMPARE(rows[1].reader, std::int64_t{2});
        QCOMPARE(one->measured.loss, 2.5);
        QCOMPARE(one->measured.step, std::int64_t{20});
    }

    void damagedResultsAreLeftOut_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::newRow("cut off") << "]}"
                                 << "";
        QTest::newRow("another format") << "\"format\":1"
                                        << "\"format\":9";
        QTest::newRow("another step than its name") << "\"step\":20"
                                                    << "\"step\":30";
        QTest::newRow("a negative step") << "\"step\":20"
                                         << "\"step\":-1";
        QTest::newRow("a step beyond all") << "\"step\":20"
                                           << "\"step\":1e300";
        QTest::newRow("an unknown part") << "\"term\""
                                         << "\"wire\"";
        QTest::newRow("a number that is a text") << "0.125"
                                                 << "\"much\"";
        QTest::newRow("an infinite number") << "0.125"
                                            << "1e999";
        QTest::newRow("a name with an escape") << "0:1"
                                               << "\\u001b[2J";
        QTest::newRow("a long name") << "0:1" << QString(65, 'a');
        QTest::newRow("no rows") << "\"rows\""
                                 << "\"others\"";
        QTest::newRow("a row that is a list") << "{\"part\""
                                              << "[],{\"part\"";
    }
    void damagedResultsAreLeftOut()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok());
        const fs::path file = fs::directory_iterator(m_run / "effects")->path();
        QString text = QString::fromStdString(contentOf(file));
        QVERIFY(text.contains(from));
        text.replace(text.indexOf(from), from.size(), to);
        write(file, text.toStdString());
        QVERIFY(keepEffects(m_run, effectsAt(10)).ok());
        std::vector<std::string> notes;
        const auto kept = readEffects(m_run, &notes);
        QVERIFY(kept.ok());
        QCOMPARE(kept->size(), std::size_t{1}); // the other one
        QCOMPARE(notes.size(), std::size_t{1});
        QVERIFY2(isIn(notes.front(), file.string()), notes.front().c_str());
        QVERIFY(!keptEffects(m_run, effectsAt(20).key));
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok()); // measured again
        QVERIFY(keptEffects(m_run, effectsAt(20).key));
    }

    void nothingGoesThroughALink()
    {
        const fs::path other = m_folder.parent_path() / "other";
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok());
        fs::rename(m_run / "effects", other);
        fs::create_directory_symlink(other, m_run / "effects");
        const std::string before = contentOf(fs::directory_iterator(other)->path());
        QVERIFY(!readEffects(m_run).ok());
        QVERIFY(!keptEffects(m_run, effectsAt(20).key));
        QVERIFY(!keepEffects(m_run, effectsAt(20, 9)).ok());
        QVERIFY(RunWriter::reopen(m_run, 10).ok());
        QCOMPARE(contentOf(fs::directory_iterator(other)->path()), before);

        fs::remove(m_run / "effects"); // now a link in a folder of the run's own
        const fs::path target = fs::directory_iterator(other)->path();
        fs::create_directory(m_run / "effects");
        fs::create_symlink(target, m_run / "effects" / target.filename());
        QVERIFY(readEffects(m_run)->empty());
        QVERIFY(keepEffects(m_run, effectsAt(20, 9)).ok()); // replaces the link
        QCOMPARE(contentOf(target), before);
        QCOMPARE(keptEffects(m_run, effectsAt(20).key)->measured.rows[0].rise, 9.0);
    }

    void aResultThatCannotBeKeptIsAnError()
    {
        write(m_run / "effects", "a file in its place");
        const Status kept = keepEffects(m_run, effectsAt(20));
        QVERIFY(!kept.ok());
        QVERIFY2(isIn(kept.error().text(), "effects"), kept.error().text().c_str());
        KeptEffects large = effectsAt(20);
        fs::remove(m_run / "effects");
        large.measured.rows.assign(300'000, large.measured.rows.front());
        QVERIFY(!keepEffects(m_run, large).ok());
        QVERIFY(readEffects(m_run)->empty());
    }

    /// A step that was trained again has other weights: its old result is not shown.
    void anotherCheckpointHasNoResults()
    {
        const std::string first = readState(checkpointDirectory(m_run, 20), 20)->modelChecksum;
        QVERIFY(keepEffects(m_run, effectsAt(20, 1, first)).ok());
        QVERIFY(keptEffects(m_run, effectsAt(20).key));
        put(20, 2);
        std::vector<std::string> notes;
        QVERIFY(!keptEffects(m_run, effectsAt(20).key, &notes));
        QVERIFY(notes.size() == 1 && isIn(notes.front(), "trained again"));
        QVERIFY(readEffects(m_run)->empty());
    }

    void resultsGoWithTheStepsThatAreTrainedAgain()
    {
        QVERIFY(keepEffects(m_run, effectsAt(10)).ok());
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok());
        QVERIFY(RunWriter::reopen(m_run, 10).ok());
        const auto kept = readEffects(m_run);
        QVERIFY(kept.ok());
        QCOMPARE(kept->size(), std::size_t{1});
        QCOMPARE(kept->front().key.step, std::int64_t{10});
    }

    void aForkHasThoseUpToItsStep()
    {
        const std::string first = readState(checkpointDirectory(m_run, 10), 10)->modelChecksum;
        QVERIFY(keepEffects(m_run, effectsAt(10, 1, first)).ok());
        QVERIFY(keepEffects(m_run, effectsAt(20)).ok());
        const fs::path fork = m_folder / "fork";
        QVERIFY(forkRun(m_run, 10, fork).ok());
        const auto kept = readEffects(fork);
        QVERIFY(kept.ok());
        QCOMPARE(kept->size(), std::size_t{1});
        QCOMPARE(kept->front().measured.rows[0].rise, 1.0);
    }

    /// Losses that follow L∞ + Z·e^(−zT/R) give these numbers, for each loop with four or more of them.
    void lossesOverVisitsAreFitted()
    {
        const auto lossAfter = [](double visits) { return 2 + 0.75 * std::exp(-1.5 * visits / 3); };
        KnockoutReady measured;
        measured.loss = lossAfter(3);
        for (const std::int64_t visits : {1, 2, 4, 5, 6}) {
            measured.rows.push_back({"", visits, 0, 0, lossAfter(static_cast<double>(visits)) - measured.loss, 0, 0});
        }
        measured.rows.push_back({"", 1, 0, 0, 0.25, 0, 0}); // another loop of two visits
        const std::vector<VisitFit> fits = visitFitsOf(measured);
        QCOMPARE(fits.size(), std::size_t{1});
        QCOMPARE(fits[0].visits, 3.0);
        QVERIFY(std::abs(fits[0].least - 2) < 1e-6 && std::abs(fits[0].height - 0.75) < 1e-6);
        QVERIFY(std::abs(fits[0].rate - 1.5) < 1e-6 && fits[0].error < 1e-8);
        QVERIFY(fits[0].text().starts_with("loss after T visits: 2 + 0.75 e^(-1.5 T/R), R = 3"));
        measured.rows.resize(5);
        measured.rows[2].rise += 0.06; // nothing of the form passes through all points
        QVERIFY(visitFitsOf(measured)[0].error > 1e-3 && visitFitsOf(measured)[0].error < 0.06);
        measured.rows.resize(2);
        QVERIFY(visitFitsOf(measured).empty());
    }

    void aRequestHasItsKey()
    {
        const KnockoutRequest request{.of = {m_run}, .by = KnockoutBy::Layer};
        const std::int64_t batches = RunReader::open(m_run)->project()->training.validationBatches;
        QCOMPARE(*effectsKeyOf(request), (EffectsKey{20, KnockoutBy::Layer, false, batches}));
        KnockoutRequest other = request;
        other.of.step = 10;
        other.batches = 3;
        QCOMPARE(*effectsKeyOf(other), (EffectsKey{10, KnockoutBy::Layer, false, 3}));
        other.tower = RunReader::open(m_run)->project()->network.name; // the first, which the key does not name
        QVERIFY(!other.tower.empty());
        QCOMPARE(*effectsKeyOf(other), (EffectsKey{10, KnockoutBy::Layer, false, 3}));
        other.tower = "none";
        QVERIFY(!effectsKeyOf(other));
        other = request;
        other.only = {"layer 1"};
        QVERIFY(!effectsKeyOf(other));
        other = request;
        other.of.otherData = OtherData::Accept;
        QVERIFY(!effectsKeyOf(other));
        other = request;
        other.of.runDirectory = m_folder / "none";
        QVERIFY(!effectsKeyOf(other));
    }

private:
    /// Writes a checkpoint with one weight.
    void put(std::int64_t step, float weight)
    {
        const std::vector<float> values{weight};
        QVERIFY(
            writeCheckpoint(m_run, {step, step * 8, 1, {}, {}}, {{"w", stored(StoredType::F32, {1}, values)}}, {}, {})
                .ok());
    }
};

RESIDUA_TEST(TestEffects)
#include "tst_effects.moc"
