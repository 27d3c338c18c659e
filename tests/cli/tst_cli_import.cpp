// SPDX-License-Identifier: GPL-3.0-or-later
// residua-cli with a model of transformers: all commands on it, its way to another machine, and the memory it takes.
#include "engine/base/files/safetensors_writer.h"
#include "engine/runs/results/run_upkeep.h"
#include "tests/cli/ran_program.h"
#include "tests/engine/compute/queries/model_folder.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <filesystem>
#include <utility>

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::cli;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

/// The most memory that the program has held, in bytes; −1 where it failed.
std::int64_t peakOf(const QStringList& words)
{
    std::vector<QByteArray> bytes{RESIDUA_CLI};
    for (const QString& word : words) {
        bytes.push_back(word.toUtf8());
    }
    std::vector<char*> arguments;
    for (QByteArray& word : bytes) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t child = -1;
    if (::posix_spawn(&child, RESIDUA_CLI, nullptr, nullptr, arguments.data(), environ) != 0) {
        return -1;
    }
    int status = 0;
    rusage usage{};
    const bool ended = ::wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ended ? std::int64_t{usage.ru_maxrss} * 1024 : -1;
}

/// Makes a model of zeros, for which the file needs no room on the disk. The value is the size of its weights.
std::int64_t writeZeros(tests::ModelFolder model, const fs::path& folder)
{
    const auto shapes = std::exchange(model.shapes, {{"model.norm.weight", {1}}});
    model.write(folder); // whose weights are replaced
    std::map<std::string, engine::TensorForm> forms;
    std::int64_t bytes = 0;
    for (const auto& [name, shape] : shapes) {
        forms[name] = {engine::StoredType::F32, shape};
        std::int64_t size = 4;
        for (const std::int64_t length : shape) {
            size *= length;
        }
        bytes += size;
    }
    const fs::path file = folder / "model.safetensors";
    if (!engine::SafetensorsWriter::begin(file, forms, {{"format", "pt"}})) {
        return -1;
    }
    fs::resize_file(file, fs::file_size(file) + static_cast<std::uintmax_t>(bytes));
    return bytes;
}

/// A model so wide and deep that no tensor is a large part of the whole.
tests::ModelFolder wideModel()
{
    constexpr int kLayers = 12;
    constexpr int kWidth = 512;
    tests::ModelFolder model(tests::modelCases()["llama"].toObject());
    const int width = model.config["hidden_size"].toInt();
    const int hidden = model.config["intermediate_size"].toInt();
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (auto [name, shape] : model.shapes) {
        for (std::int64_t& size : shape) {
            size = size == width ? kWidth : size == hidden ? 4 * kWidth : size;
        }
        const std::string prefix = "model.layers.0.";
        const bool first = name.starts_with(prefix);
        for (int layer = 0; first && layer < kLayers; ++layer) {
            shapes["model.layers." + std::to_string(layer) + "." + name.substr(prefix.size())] = shape;
        }
        if (!name.starts_with("model.layers.")) {
            shapes[name] = shape;
        }
    }
    model.shapes = shapes;
    model.config["hidden_size"] = kWidth;
    model.config["intermediate_size"] = 4 * kWidth;
    model.config["num_hidden_layers"] = kLayers;
    model.config["head_dim"] = kWidth / model.config["num_attention_heads"].toInt();
    return model;
}

} // namespace

class TestCliImport : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        tests::ModelFolder(tests::modelCases()["llama"].toObject()).write(path("model").toStdString());
        const Ran ran = runProcess({"import", path("model"), "-o", path("project"), "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        m_run = path("project/runs/imported");
    }

    /// All commands on runs accept this one, at once.
    void allCommandsTakeIt()
    {
        const double loss = lossOf(m_run);
        QVERIFY(loss > 0);
        const QString retrofitted = path("project/runs/grn");
        for (const QStringList& words :
             {QStringList{"info", path("project")}, QStringList{"sample", m_run, "--prompt", "1 2 3", "--tokens", "2"},
              QStringList{"analyze", "stability", m_run}, QStringList{"runs", path("project")},
              QStringList{"retrofit", m_run, "--topology", "grn-v3", "-o", retrofitted},
              QStringList{"resume", retrofitted, "--steps", "2"}}) {
            const Ran ran = runProcess(words);
            QVERIFY2(ran.code == 0, qPrintable(words.join(' ') + ": " + ran.errors));
            QVERIFY2(!ran.output.isEmpty(), qPrintable(words.join(' ')));
        }
        const auto forked = engine::forkRun(m_run.toStdString(), 0);
        QVERIFY2(forked.ok(), forked ? "" : forked.error().text().c_str());
        const QString fork = QString::fromStdString(forked->string());
        QCOMPARE(lossOf(fork), loss);
        const Ran resumed = runProcess({"resume", fork, "--steps", "2"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QVERIFY(lossOf(fork) != loss);
        QCOMPARE(lossOf(m_run), loss);
        const Ran out = runProcess({"export", fork, "--to", "huggingface", "-o", path("trained")});
        QVERIFY2(out.code == 0, qPrintable(out.errors));
    }

    /// A model of masked tokens fills a text; it, and a vision transformer, train and leave again.
    void encodersAreTaken()
    {
        for (const QString name : {"bert", "vit"}) {
            tests::ModelFolder(tests::modelCases()[name].toObject()).write(path(name).toStdString());
            const QString project = path(name + "-project");
            const Ran taken = runProcess({"import", path(name), "-o", project});
            QVERIFY2(taken.code == 0, qPrintable(taken.errors));
            QVERIFY2(taken.output.contains("residua-cli sample"), qPrintable(taken.output));
            QCOMPARE(taken.output.contains("[MASK]"), name == "bert");
            const QString run = project + "/runs/imported";
            QVERIFY(lossOf(run) > 0);
            const Ran resumed = runProcess({"resume", run, "--steps", "2"});
            QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
            const Ran out = runProcess({"export", run, "--to", "huggingface", "-o", path(name + "-out"), "--json"});
            QVERIFY2(out.code == 0, qPrintable(out.errors));
            QCOMPARE(out.json().object()["architecture"].toString(), name);
        }
        const QString run = path("bert-project/runs/imported");
        const Ran filled = runProcess({"sample", run, "--prompt", "3 [MASK] 5 [MASK]", "--top-k", "2", "--json"});
        QVERIFY2(filled.code == 0, qPrintable(filled.errors));
        const QJsonArray masked = filled.json().object()["masked"].toArray();
        QCOMPARE(masked.size(), 2);
        QCOMPARE(masked[1].toObject()["position"].toInt(), 3);
        QCOMPARE(masked[1].toObject()["candidates"].toArray().size(), 2);
        const Ran shown = runProcess({"sample", run, "--prompt", "3 [MASK] 5"});
        QVERIFY2(shown.output.contains("probability"), qPrintable(shown.output));
        const Ran nothing = runProcess({"sample", run, "--prompt", "3 4 5"});
        QVERIFY2(nothing.code != 0 && nothing.errors.contains("expected a text with [MASK] in it"),
                 qPrintable(nothing.errors));
    }

    /// A bundle of the run alone, where the data are not: the weights go on from there.
    void weightsLeaveWithoutTheData()
    {
        QVERIFY(runProcess({"import", path("model"), "-o", path("leaves")}).code == 0);
        const Ran packed =
            runProcess({"pack", path("leaves/runs/imported"), "-o", path("run.residua"), "--data", "fingerprint"});
        QVERIFY2(packed.code == 0, qPrintable(packed.errors));
        QVERIFY(QDir(path("leaves")).removeRecursively());
        const Ran unpacked = runProcess({"unpack", path("run.residua"), "-o", path("elsewhere")});
        QVERIFY2(unpacked.code == 0, qPrintable(unpacked.errors));
        QVERIFY(!QFile::exists(path("elsewhere/tokens.bin")));
        for (const QString format : {"huggingface", "pytorch"}) {
            const Ran out =
                runProcess({"export", path("elsewhere/runs/imported"), "--to", format, "-o", path("from-" + format)});
            QVERIFY2(out.code == 0, qPrintable(out.errors));
            QCOMPARE(out.errors.contains("drawn tokens"), format == "pytorch");
        }
        const Ran refused = runProcess({"eval", path("elsewhere/runs/imported")});
        QVERIFY2(refused.code != 0 && refused.errors.contains("tokens.bin"), qPrintable(refused.errors));
    }

    void allThatDoesNotFitIsListed()
    {
        tests::ModelFolder model(tests::modelCases()["llama"].toObject());
        model.config["num_hidden_layers"] = 3;
        model.write(path("short").toStdString());
        const Ran ran = runProcess({"import", path("short"), "-o", path("none"), "--json"});
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("--json lists all"), qPrintable(ran.errors));
        QCOMPARE(ran.events().front()["unfit"].toArray().size(), 9);
        QVERIFY(!QFile::exists(path("none")));
    }

    /// An import holds the weights once, and an export not at all; files of them are never whole in memory.
    void weightsAreNeverTwiceInMemory()
    {
        if (tests::kSanitized) {
            QSKIP(tests::kSanitizedMemory);
        }
        const std::int64_t bytes = writeZeros(wideModel(), path("wide").toStdString());
        QVERIFY(bytes > 150 * kMegabyte);
        const std::int64_t smallImport = peakOf({"import", path("model"), "-o", path("small-project")});
        const std::int64_t smallExport =
            peakOf({"export", path("small-project/runs/imported"), "--to", "huggingface", "-o", path("small-export")});
        const std::int64_t wideImport = peakOf({"import", path("wide"), "-o", path("wide-project")});
        const std::int64_t wideExport =
            peakOf({"export", path("wide-project/runs/imported"), "--to", "huggingface", "-o", path("wide-export")});
        QVERIFY(smallImport > 0 && smallExport > 0 && wideImport > 0 && wideExport > 0);
        QVERIFY2(wideImport - smallImport < bytes * 8 / 5, qPrintable(megabytes(wideImport - smallImport)));
        QVERIFY2(wideExport - smallExport < bytes / 2, qPrintable(megabytes(wideExport - smallExport)));
        QCOMPARE(QFile(path("wide-export/model.safetensors")).size(), QFile(path("wide/model.safetensors")).size());
    }

private:
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    static QString megabytes(std::int64_t bytes) { return QString::number(bytes / kMegabyte) + " MiB"; }

    /// Returns the loss that eval prints; NaN if it fails.
    static double lossOf(const QString& run)
    {
        const Ran ran = runProcess({"eval", run, "--batches", "1", "--json"});
        return ran.code == 0 ? ran.json().object()["loss"].toDouble() : std::nan("");
    }

    QTemporaryDir m_folder;
    QString m_run;
};

RESIDUA_TEST(TestCliImport)
#include "tst_cli_import.moc"
