// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenisers of every kind that the library `tokenizers` trains here and now: the ids of awkward text are the same, and
// so is the text of the ids. Skipped, and said so, where there is no Python with that library.
#include "engine/data/tokeniser/json_tokeniser.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <map>

using namespace residua;
using namespace residua::engine;
using nlohmann::json;

namespace {

constexpr int kMilliseconds = 100'000;

json readJson(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? json::parse(file.readAll().toStdString(), nullptr, false) : json();
}

QByteArray readBytes(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestTokenizersPackage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QProcess python;
        python.start(tests::pythonProgram(), {"-B", RESIDUA_TOKENIZER_SCRIPT, m_folder.path()});
        if (!python.waitForStarted()) {
            QSKIP("there is no Python: the ids of `tokenizers` are not compared");
        }
        QVERIFY(python.waitForFinished(kMilliseconds));
        if (python.exitCode() == 77) {
            QSKIP(
                "this Python has no `tokenizers`: its ids are not compared; RESIDUA_PYTHON names a Python that has it");
        }
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
    }

    void idsAndTextsAreTheSame_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"gpt2", "roberta", "llama3", "qwen", "cl100k", "digits", "punctuation", "llama2", "mistral", "gemma",
              "unknown", "bert", "bert-cased", "accents", "t5", "whole", "clip"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void idsAndTextsAreTheSame()
    {
        QFETCH(QString, name);
        const auto tokeniser =
            JsonTokeniser::parse(readBytes(m_folder.filePath(name + ".json")).toStdString(), name.toStdString());
        QVERIFY2(tokeniser, tokeniser ? "" : tokeniser.error().text().c_str());
        const json cases = readJson(m_folder.filePath(name + ".cases"));
        QVERIFY(cases.size() > 100);
        for (const json& each : cases) {
            const auto text = each[0].get<std::string>();
            std::vector<std::uint32_t> ids;
            QVERIFY((*tokeniser)->encode(text, TextStart::Begins, ids));
            QVERIFY2(
                json(ids) == each[1],
                ("of " + each[0].dump() + "\ngot      " + json(ids).dump() + "\nexpected " + each[1].dump()).c_str());
            const std::vector<std::int64_t> wide(ids.begin(), ids.end());
            QCOMPARE(QByteArray::fromStdString((*tokeniser)->decode(wide)),
                     QByteArray::fromStdString(each[2].get<std::string>()));
        }
    }

private:
    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestTokenizersPackage)
#include "tst_tokenizers_package.moc"
