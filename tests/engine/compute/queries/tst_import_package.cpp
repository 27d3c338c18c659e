// SPDX-License-Identifier: GPL-3.0-or-later
// Models of transformers in and out against the package itself, where Python has it.
#include "import_harness.h"
#include "model_folder.h"

#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonDocument>
#include <QMap>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <string_view>

using namespace residua;
namespace fs = std::filesystem;
using tests::exported;
using tests::faultOf;
using tests::imported;
using tests::rewired;
using tests::tensorsIn;

class TestImportPackage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_cases = tests::modelCases();
    }

    void agreesWithThePackage_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString& name : m_cases.keys()) {
            QTest::newRow(qPrintable(name)) << name;
        }
        m_made = fs::path(m_folder.path().toStdString()) / "made";
        fs::create_directories(m_made);
        m_missing = python("make");
        for (const QString& name : m_missing.isEmpty() ? m_cases.keys() : QStringList()) {
            importAndExport(name);
        }
        if (m_missing.isEmpty()) {
            // One process of Python reads all exports. Their folders have the same last name.
            for (const auto& [name, topology] :
                 {std::pair("rewired", "grn-v3"), std::pair("rewired otherwise", "denseformer")}) {
                exportRewired(name, topology);
                QTest::newRow(name) << name;
            }
            for (const char* const name : {"tokeniser", "tokeniser, rewired"}) {
                exportWithTokeniser(name, std::string_view(name).ends_with("rewired"));
                QTest::newRow(name) << name;
            }
            exportBytes();
            QTest::newRow("bytes") << "bytes";
        }
        if (m_missing.isEmpty()) {
            m_stopped = python("compare");
        }
    }
    /// Random models that the package has saved: what is computed here, and what it computes of the export.
    void agreesWithThePackage()
    {
        QFETCH(const QString, name);
        if (!m_missing.isEmpty()) {
            QSKIP(qPrintable("recorded outputs alone are compared: " + m_missing));
        }
        QCOMPARE(m_faults[name], QString());
        QVERIFY2(m_compared.contains(name), qPrintable("Python did not come to it: " + m_stopped));
        QCOMPARE(m_compared[name], QString());
    }

private:
    void importAndExport(const QString& name)
    {
        const fs::path folder = m_made / name.toStdString();
        QFile file(QString::fromStdString((folder / "expected.json").string()));
        if (!file.open(QIODevice::ReadOnly)) {
            m_faults[name] = "Python has not made it";
            return;
        }
        const auto data = tests::dataOf(m_cases[name].toObject(), folder / "data");
        const auto ready = imported(folder / "model", folder / "project", data);
        if (!ready) {
            m_faults[name] = QString::fromStdString(ready.error().text());
            return;
        }
        m_faults[name] = faultOf(ready->runDirectory, QJsonDocument::fromJson(file.readAll()).object());
        const auto out = exported(ready->runDirectory, folder / "exported");
        m_faults[name] += out ? QString() : QString::fromStdString(out.error().text());
        if (out && tensorsIn(folder / "exported") != tensorsIn(folder / "model")) {
            m_faults[name] += "the export has other bytes";
        }
    }

    /// Under a topology that computes the same, and that no architecture of the package has.
    void exportRewired(const QString& name, const std::string& topology)
    {
        const fs::path folder = m_made / name.toStdString();
        fs::create_directories(folder);
        fs::copy_file(m_made / "llama" / "expected.json", folder / "expected.json");
        const auto grown = rewired(m_made / "llama" / "project" / "runs" / "imported", folder / "run", topology);
        const auto out =
            grown ? exported(grown->runDirectory, folder / "exported") : Result<engine::ExportReady>(grown.error());
        m_faults[name] = out ? QString() : QString::fromStdString(out.error().text());
    }

    /// A folder whose tokeniser is tokenizer.json alone, as one of the package's architectures, or with its own code.
    void exportWithTokeniser(const QString& name, bool rewires)
    {
        const fs::path folder = m_made / name.toStdString();
        tests::ModelFolder(m_cases["llama"].toObject()).write(folder / "model");
        std::ofstream(folder / "model" / "tokenizer.json")
            << R"({"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,)"
               R"("added_tokens":[{"id":3,"content":"<|endoftext|>","single_word":false,"lstrip":false,)"
               R"("rstrip":false,"normalized":false,"special":true}],"pre_tokenizer":{"type":"WhitespaceSplit"},)"
               R"("decoder":null,"model":{"type":"WordLevel","unk_token":"[UNK]",)"
               R"("vocab":{"[UNK]":0,"one":1,"two":2,"<|endoftext|>":3}}})";
        std::ofstream(folder / "tokenised.json") << R"({"text":"one two .","ids":[1,2,0],"eos":3,"tokens":4})";
        const auto ready = imported(folder / "model", folder / "project");
        const auto grown =
            ready && rewires ? rewired(ready->runDirectory, folder / "run") : Result<engine::RetrofitReady>(Error{});
        const auto out = !ready     ? Result<engine::ExportReady>(ready.error())
                         : !rewires ? exported(ready->runDirectory, folder / "exported")
                         : grown    ? exported(grown->runDirectory, folder / "exported")
                                    : Result<engine::ExportReady>(grown.error());
        m_faults[name] = out ? QString() : QString::fromStdString(out.error().text());
    }

    /// A model whose tokens are bytes, for which no file of the project stands.
    void exportBytes()
    {
        const fs::path folder = m_made / "bytes";
        tests::ModelFolder model(m_cases["llama"].toObject());
        const int before = model.config["vocab_size"].toInt();
        model.config["vocab_size"] = 256;
        for (auto& [name, shape] : model.shapes) {
            std::ranges::replace(shape, before, 256);
        }
        model.write(folder / "model");
        std::ofstream(folder / "text.txt") << std::string(20'000, 'a');
        std::ofstream(folder / "tokenised.json")
            << R"({"text":"a\u00f1 \ud834\udd1e\n  b","ids":[97,195,177,32,240,157,132,158,10,32,32,98],)"
               R"("eos":null,"tokens":256})";
        engine::ImportRequest request;
        request.folder = folder / "model";
        request.projectDirectory = folder / "project";
        request.data = projects::TextData{(folder / "text.txt").string(), {}};
        const auto ready = tests::answerTo<engine::ImportReady>(request);
        const auto out =
            ready ? exported(ready->runDirectory, folder / "exported") : Result<engine::ExportReady>(ready.error());
        m_faults["bytes"] = out ? QString() : QString::fromStdString(out.error().text());
    }

    /// Runs the script with Python. Returns the reason if it cannot run; else an empty text.
    QString python(const QString& what)
    {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("HF_HUB_OFFLINE", "1");
        environment.insert("HF_HOME", QString::fromStdString((m_made.parent_path() / "home").string()));
        process.setProcessEnvironment(environment);
        process.start(tests::pythonProgram(),
                      {"-B", RESIDUA_MODEL_SCRIPT, what, QString::fromStdString(m_made.string())});
        if (!process.waitForStarted()) {
            return "there is no " + tests::pythonProgram();
        }
        const bool ended = process.waitForFinished(240'000);
        for (const QByteArray& line : process.readAllStandardOutput().split('\n')) {
            if (const qsizetype tab = line.indexOf('\t'); tab > 0) {
                m_compared[QString::fromUtf8(line.first(tab))] = QString::fromUtf8(line.sliced(tab + 1));
            }
        }
        const QString errors = QString::fromUtf8(process.readAllStandardError()).trimmed();
        return ended && process.exitCode() == 0 ? QString()
                                                : errors.section('\n', -1) + "; packaging/python.sh installs what it "
                                                                             "needs, or RESIDUA_PYTHON names a Python";
    }

    QTemporaryDir m_folder;
    QJsonObject m_cases;
    fs::path m_made;
    QString m_missing; ///< why Python makes no models
    QString m_stopped; ///< why it did not compare all
    QMap<QString, QString> m_faults;
    QMap<QString, QString> m_compared;
};

RESIDUA_TEST_IN(QCoreApplication, TestImportPackage)
#include "tst_import_package.moc"
