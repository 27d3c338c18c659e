// SPDX-License-Identifier: GPL-3.0-or-later
// Interventions on parallel streams in the terminal: the table, JSON and CSV, the cost, and what is asked for in vain.
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::cli;

namespace {

constexpr int kStreamsOfRun = 2;

class TestCliInterventions : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        train("streams", projects::MultiStream{.streams = kStreamsOfRun, .sites = projects::MixSites::Mhsa});
        train("mix", projects::DepthMix());
        train("dense", projects::Concatenation());
    }

    void bothRoutingsAreMeasured()
    {
        const Ran ran = interventions({"streams", "--json"});
        QVERIFY2(ran.errors.contains("passes of a batch at most: on ") &&
                     ran.errors.contains(QString("batches, of %1 interventions and twice").arg(4 * depth())) &&
                     ran.errors.contains("start from kept values"),
                 qPrintable(ran.errors));
        const QJsonArray zero = ran.json()["interventions"].toArray();
        QCOMPARE(zero.size(), 2 * kStreamsOfRun * depth());
        QCOMPARE(zero[1]["intervention"].toString(), QString("stream 1 zero after layer 1"));
        QCOMPARE(zero[1]["routing"].toString(), QString("frozen"));
        QCOMPARE(zero[1]["lossRise"].toDouble(), zero[0]["lossRise"].toDouble()); // static weights
        QVERIFY(zero[0]["lossRise"].toDouble() != 0);
    }

    void aRestoredStreamRescuesAll()
    {
        const QJsonArray rescued =
            interventions({"streams", "--what", "rescue", "--streams", "1", "--restored", "1", "--at", "1", "--json"})
                .json()["interventions"]
                .toArray();
        QCOMPARE(rescued.size(), 4);
        QVERIFY(std::abs(rescued[2]["lossRise"].toDouble()) < 1e-6);
        QCOMPARE(rescued[2]["at"].toInt(), 1);
    }

    void aFileHasEveryColumn()
    {
        const Ran csv = interventions({"streams", "--what", "transitions", "--by", "top-scaled", "-o", "-"});
        QCOMPARE(csv.output.section('\n', 0, 0),
                 QString("intervention,streams,first,last,restored,at,routing,loss_rise,standard_error,divergence,"
                         "perplexity_percent,derived"));
        QVERIFY2(csv.output.contains("top 1 scaled"), qPrintable(csv.output));
    }

    void theColumnsAreExplained()
    {
        const Ran pairs = interventions({"streams", "--what", "pairs", "--after", "0"});
        for (const char* const explained : {"redundancy: ", "+- is its standard error", "\"noise\": at most ",
                                            "zero after the entry", "started from kept values"}) {
            QVERIFY2(pairs.output.contains(explained), qPrintable(pairs.output));
        }
    }

    void badWordsAreToldInOneMessage_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("code");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* name, const QStringList& words, int code, const char* said) {
            QTest::newRow(name) << words << code << QString(said);
        };
        row("a stream too many", {"streams", "--streams", "3"}, 3,
            "[streams] got \"3\", expected different streams of 1");
        row("a stream twice", {"streams", "--streams", "1+1"}, 3, "[streams] got \"1+1\", expected different streams");
        row("no stream", {"streams", "--streams", "1,"}, 3, "[streams] got \"\", expected different streams");
        row("a layer too many", {"streams", "--after", "99"}, 3, "[after] got \"99\", expected a module of 0 to");
        row("a descending range", {"streams", "--after", "2-1"}, 3, "[after] got \"2-1\", expected a module");
        row("half of a range", {"streams", "--after", "1-"}, 3, "[after] got \"1-\", expected a module");
        row("a restored one before", {"streams", "--what", "rescue", "--after", "2", "--at", "1"}, 3,
            "[at] got \"1\", expected a module of 2 to");
        row("restored without rescue", {"streams", "--restored", "1"}, 3, "expected what rescue");
        row("a copy of none", {"streams", "--fill", "stream"}, 3, "[copied] got 0, expected a stream of 1 to 2");
        row("weights too many", {"streams", "--what", "transitions", "--by", "top", "--top", "3"}, 3,
            "[top] got 3, expected 1 to 2");
        row("streams of transitions", {"streams", "--what", "transitions", "--streams", "1"}, 3, "expected no streams");
        row("another kind", {"streams", "--what", "nothing"}, 1, "streams, pairs, rescue");
        row("a mix", {"mix"}, 3, "no parallel streams; expected a run with");
        row("a concatenation", {"dense"}, 3, "no parallel streams; expected a run with");
        row("no run", {"nowhere"}, 3, "nowhere");
    }
    void badWordsAreToldInOneMessage()
    {
        QFETCH(QStringList, words);
        QFETCH(int, code);
        QFETCH(QString, said);
        const Ran ran = interventions(words);
        QVERIFY2(ran.code == code && ran.errors.contains(said), qPrintable(ran.errors));
        QCOMPARE(ran.errors.count("error: "), 1);
    }

private:
    static qsizetype depth() { return static_cast<qsizetype>(tinyProject().project.network.depth()); }
    [[nodiscard]] Ran interventions(const QStringList& words) const
    {
        return runProcess(QStringList{"analyze", "interventions"} + words, m_folder.path());
    }
    void train(const QString& name, const projects::Wiring& wiring)
    {
        projects::Document document = tinyProject();
        document.project.stack().topology.wiring = wiring;
        const QString folder = m_folder.filePath(name + "-project");
        QVERIFY(projects::saveProject(folder.toStdString(), document).ok());
        const Ran ran = runProcess({"train", folder, "--steps", "3", "--run", name}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliInterventions)
#include "tst_cli_interventions.moc"
