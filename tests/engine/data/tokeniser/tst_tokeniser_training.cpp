// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece models that are learned from text.
#include "engine/base/api/tokeniser_training.h"
#include "engine/base/machine/machine.h"
#include "engine/base/machine/preparation.h"
#include "tests/engine/data/sets/dataset_harness.h"
#include "tests/support/test_program.h"

#include <QDeadlineTimer>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <functional>
#include <vector>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
using projects::TokeniserKind;

class TestTokeniserTraining : public DatasetHarness {
    Q_OBJECT

private slots:
    void init()
    {
        newFolder();
        for (int i = 0; i < 300; ++i) {
            m_text += "the cat sat on the mat, number " + std::to_string(i) + "\n";
        }
        writeAll(m_folder / "text.txt", m_text);
    }
    void cleanup() { m_text.clear(); }

    void theModelKeepsText_data()
    {
        QTest::addColumn<bool>("unigram");
        QTest::newRow("bpe") << false;
        QTest::newRow("unigram") << true;
    }
    void theModelKeepsText()
    {
        QFETCH(bool, unigram);
        TokeniserTraining training = trainingOn("text.txt");
        training.model = unigram ? PieceModel::Unigram : PieceModel::Bpe;
        std::vector<double> learned;
        double read = -1;
        const auto trained = trainTokeniser(training, [&](const TokeniserProgress& progress) {
            read = progress.read;
            learned.push_back(progress.learned);
            return true;
        });
        QVERIFY2(trained, trained ? "" : trained.error().text().c_str());
        QCOMPARE(trained->pieces, std::int64_t{300});
        QCOMPARE(read, 1.0);
        QVERIFY(std::ranges::is_sorted(learned));
        QCOMPARE(learned.front(), 0.0);
        QCOMPARE(learned.back(), 1.0);
        const auto size = static_cast<std::int64_t>(m_text.size());
        QCOMPARE(trained->triedBytes, size);
        QCOMPARE(trained->triedCharacters, size);
        QVERIFY(trained->triedAll);
        QVERIFY(trained->triedTokens < size); // pieces of more than a character were learned
        QVERIFY2(trained->example.starts_with("▁"), trained->example.c_str());
        QString line = QString::fromStdString(trained->example).remove(u' ').replace(u'▁', u' ');
        QVERIFY2(QString(" the cat sat on the mat, number 0").startsWith(line), qPrintable(line));
        QCOMPARE(filesIn(m_folder), (QStringList{"m.model", "text.txt"}));
        const auto dataset = openText(m_text, {TokeniserKind::SentencePiece, "m.model", 300});
        QVERIFY(dataset);
        const std::string odd = "the  cat\n\tsat \U0001f431 on";
        const auto ids = dataset->encode(odd);
        QVERIFY(ids);
        QCOMPARE(QByteArray::fromStdString(dataset->decode(*ids)), QByteArray::fromStdString(odd));
        QVERIFY(dataset->encode("the cat sat on the mat")->size() <
                22); // its characters, the space before them too, are 23
    }

    void jsonLinesAreReadByTheirField()
    {
        std::string lines;
        for (int i = 0; i < 200; ++i) {
            lines += "{\"body\": \"a small cat and mat " + std::to_string(i) + "\"}\n";
        }
        writeAll(m_folder / "d.jsonl", lines);
        TokeniserTraining training = trainingOn("d.jsonl");
        const auto other = trainTokeniser(training);
        QVERIFY(!other);
        QVERIFY(other.error().text().find("its fields are: body") != std::string::npos);
        training.field = "body";
        training.pieces = 290;
        QVERIFY(trainTokeniser(training));
    }

    void impossibleVocabulariesAreErrors()
    {
        TokeniserTraining training = trainingOn("text.txt");
        training.model = PieceModel::Unigram;
        training.pieces = 50'000;
        const QString large = refusalOf(training);
        const QRegularExpression most(
            "text\\.txt\\] is too small for so many pieces: got 50000 pieces, expected at most "
            "(\\d+): ask for fewer, or learn from more text$");
        QVERIFY2(large.contains(most), qPrintable(large));
        training.pieces = most.match(large).captured(1).toInt(); // what is said to be possible is
        QVERIFY(trainTokeniser(training));
        std::filesystem::remove(training.output);
        training.pieces = kFewestPieces;
        const QString small = refusalOf(training);
        QVERIFY2(small.contains("got 260 pieces, expected at least "), qPrintable(small));
        writeAll(m_folder / "blank.txt", "\n\n");
        QVERIFY2(refusalOf(trainingOn("blank.txt")).contains("has no line of text"),
                 qPrintable(refusalOf(trainingOn("blank.txt"))));
        QVERIFY(!trainTokeniser(trainingOn("none.txt")));
        QCOMPARE(filesIn(m_folder), (QStringList{"blank.txt", "text.txt"}));
    }

    /// The output is checked before the text is read.
    void aPlaceThatCannotBeWrittenIsSaidFirst()
    {
        std::filesystem::create_directories(m_folder / "there");
        for (const auto& [output, said] : {std::pair("none/m.model", "none/m.model] cannot create the file: No such"),
                                           std::pair("there", "there] is a folder; expected the name of")}) {
            TokeniserTraining training = trainingOn("text.txt");
            training.output = m_folder / output;
            bool asked = false;
            const auto refused = trainTokeniser(training, [&asked](const TokeniserProgress&) { return asked = true; });
            QVERIFY(!refused);
            QVERIFY2(refused.error().text().find(said) != std::string::npos, refused.error().text().c_str());
            QVERIFY(!asked);
            QCOMPARE(filesIn(m_folder), (QStringList{"text.txt", "there"}));
        }
    }

    void theTrainerSaysWhatItCannotWrite()
    {
        const auto program = findOwnLibrary("residua-train-tokeniser", "RESIDUA_TOKENISER_TRAINER", "bin");
        const QString output = QString::fromStdString((m_folder / "none/m.model").string());
        QProcess trainer;
        trainer.start(QString::fromStdString(program.string()), {output, "bpe", "300", "1"});
        trainer.write(QByteArray::fromStdString(m_text));
        trainer.closeWriteChannel();
        QVERIFY(trainer.waitForFinished(120'000));
        QCOMPARE(trainer.exitCode(), 1);
        const QString said = QString::fromUtf8(trainer.readAllStandardError());
        QVERIFY2(said.endsWith("cannot write " + output + ": No such file or directory\n"), qPrintable(said));
    }

    void cancelledTrainingLeavesNoFiles()
    {
        const std::function<bool(const TokeniserProgress&)> watches[] = {
            [](const TokeniserProgress& progress) { return progress.read < 0.1; },
            [](const TokeniserProgress& progress) { return progress.read < 1; },
            [](const TokeniserProgress& progress) { return progress.learned < 1; }};
        for (const auto& watch : watches) {
            const auto stopped = trainTokeniser(trainingOn("text.txt"), watch);
            QVERIFY(!stopped);
            QVERIFY(stopped.error() == preparationGivenUp());
            QCOMPARE(filesIn(m_folder), QStringList{"text.txt"});
        }
    }

    /// The trainer prints a message for each line with its reserved character, more than an unread socket can hold.
    void aTrainerThatSaysMuchIsListenedTo()
    {
        std::string reserved;
        for (int i = 0; i < 5000; ++i) {
            reserved += std::string(197, 'a') + "\u2585\n";
        }
        writeAll(m_folder / "reserved.txt", reserved + m_text + reserved);
        const auto trained = trainTokeniser(trainingOn("reserved.txt"));
        QVERIFY2(trained, trained ? "" : trained.error().text().c_str());
    }

    void aTrainerThatSpeaksBeforeItReadsIsListenedTo()
    {
        writeAll(m_folder / "large.txt", std::string(4'000'000, 'a'));
        const OtherTrainer trainer(m_folder / "trainer", "yes | head -c 1000000 >&2; cat > /dev/null\n"
                                                         "echo 'it makes nothing' >&2; exit 1\n");
        QVERIFY2(refusalOf(trainingOn("large.txt")).endsWith("it makes nothing"),
                 qPrintable(refusalOf(trainingOn("large.txt"))));
    }

    void aTrainerThatReadsNothingCanBeGivenUp()
    {
        writeAll(m_folder / "large.txt", std::string(4'000'000, 'a'));
        const OtherTrainer trainer(m_folder / "trainer", "exec sleep 600\n");
        const QDeadlineTimer patience(1000);
        const auto stopped =
            trainTokeniser(trainingOn("large.txt"), [&](const TokeniserProgress&) { return !patience.hasExpired(); });
        QVERIFY(!stopped);
        QVERIFY(patience.hasExpired());
        QVERIFY(stopped.error() == preparationGivenUp());
    }

private:
    /// A shell's script in the trainer's place.
    class OtherTrainer {
    public:
        OtherTrainer(const std::filesystem::path& path, const std::string& script) : m_before(qgetenv(kVariable))
        {
            writeAll(path, "#!/bin/sh\n" + script);
            std::filesystem::permissions(path, std::filesystem::perms::owner_all);
            qputenv(kVariable, QByteArray::fromStdString(path.string()));
        }
        ~OtherTrainer() { m_before.isNull() ? qunsetenv(kVariable) : qputenv(kVariable, m_before); }
        OtherTrainer(const OtherTrainer&) = delete;
        OtherTrainer& operator=(const OtherTrainer&) = delete;

    private:
        static constexpr const char* kVariable = "RESIDUA_TOKENISER_TRAINER";
        QByteArray m_before;
    };

    static QString refusalOf(const TokeniserTraining& training)
    {
        const auto trained = trainTokeniser(training);
        return trained ? QString("was learned") : QString::fromStdString(trained.error().text());
    }
    [[nodiscard]] TokeniserTraining trainingOn(const char* name) const
    {
        return {.text = m_folder / name, .output = m_folder / "m.model", .pieces = 300};
    }
    static QStringList filesIn(const std::filesystem::path& folder)
    {
        QStringList names;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            names << QString::fromStdString(entry.path().filename().string());
        }
        names.sort();
        return names;
    }

    std::string m_text;
};

RESIDUA_TEST(TestTokeniserTraining)
#include "tst_tokeniser_training.moc"
