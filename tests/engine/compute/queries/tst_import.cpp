// SPDX-License-Identifier: GPL-3.0-or-later
// Models of transformers as projects and runs, and back, against outputs recorded of them (model_cases.json).
#include "import_harness.h"
#include "model_folder.h"

#include "engine/base/files/safetensors.h"
#include "engine/compute/queries/base/query.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/base/text.h"
#include "projects/file/store.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <functional>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;
using tests::answerTo;
using tests::exported;
using tests::faultOf;
using tests::imported;
using tests::rewired;
using tests::tensorsIn;

namespace {

void replaceIn(const fs::path& file, const QByteArray& from, const QByteArray& to)
{
    QFile text(QString::fromStdString(file.string()));
    QVERIFY(text.open(QIODevice::ReadWrite));
    QByteArray bytes = text.readAll();
    QVERIFY2(bytes.contains(from), from.constData());
    text.seek(0);
    text.resize(0);
    text.write(bytes.replace(from, to));
}

using Damage = std::function<void(const fs::path& folder)>;

Damage configSays(const QString& key, const QJsonValue& value)
{
    return [=](const fs::path& folder) {
        const fs::path path = folder / "config.json";
        QFile file(QString::fromStdString(path.string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QJsonObject config = QJsonDocument::fromJson(file.readAll()).object();
        config[key] = value;
        file.seek(0);
        file.resize(0);
        file.write(QJsonDocument(config).toJson());
    };
}

} // namespace
Q_DECLARE_METATYPE(Damage)

class TestImport : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_cases = tests::modelCases();
        QVERIFY(m_cases.size() >= 10);
    }

    void computesWhatWasRecorded_data()
    {
        QTest::addColumn<QString>("name");
        for (const QString& name : m_cases.keys()) {
            QTest::newRow(qPrintable(name)) << name;
        }
    }
    /// … and gives the folder back, byte for byte in its weights, whose type and number of files change with the case.
    void computesWhatWasRecorded()
    {
        QFETCH(const QString, name);
        tests::ModelFolder(m_cases[name].toObject()).write(at("model"));
        const auto data = tests::dataOf(m_cases[name].toObject(), at("data"));
        const auto ready = imported(at("model"), at("project"), data);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(faultOf(ready->runDirectory, m_cases[name].toObject()), QString());

        const auto out = exported(ready->runDirectory, at("exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QVERIFY(tensorsIn(at("exported")) == tensorsIn(at("model")));
        const auto again = imported(at("exported"), at("again"), data);
        QVERIFY2(again.ok(), again ? "" : again.error().text().c_str());
        QCOMPARE(faultOf(again->runDirectory, m_cases[name].toObject()), QString());
        const auto first = projects::loadProject(at("project"));
        const auto second = projects::loadProject(at("again"));
        QVERIFY(first && second && first->project.network == second->project.network);
    }

    void keepsTheType_data()
    {
        QTest::addColumn<StoredType>("type");
        QTest::newRow("BF16") << StoredType::Bf16;
        QTest::newRow("F16") << StoredType::F16;
    }
    /// Weights of half precision, in several files, are read exactly, and written as the same bytes. After training
    /// they have more digits, which are kept.
    void keepsTheType()
    {
        QFETCH(const StoredType, type);
        tests::ModelFolder model(m_cases["gpt2"].toObject());
        model.type = type;
        model.shards = 3;
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(ready->type, std::string(QTest::currentDataTag()));
        const auto out = exported(ready->runDirectory, at("exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QVERIFY(tensorsIn(at("exported")) == tensorsIn(at("model")));

        tests::SessionProbe session;
        ResumeRun resume;
        resume.run = tests::kRun;
        resume.of.runDirectory = ready->runDirectory;
        resume.steps = 2;
        session.post(resume);
        QVERIFY(session.waitFor<RunEnded>());
        QCOMPARE(session.all<RunEnded>().front().status, RunStatus::Finished);
        const auto trained = exported(ready->runDirectory, at("trained"));
        QVERIFY2(trained.ok(), trained ? "" : trained.error().text().c_str());
        QCOMPARE(tensorsIn(at("trained")).begin()->second.first, StoredType::F32);
        QVERIFY(!trained->notes.empty());
    }

    void goesOnUnderAnotherTopology()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        const auto grown = rewired(ready->runDirectory, at("grn"));
        QVERIFY2(grown.ok(), grown ? "" : grown.error().text().c_str());
        const auto out = exported(grown->runDirectory, at("exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QCOMPARE(out->architecture, std::string("residua"));
        for (const char* const name : {"modeling_residua.py", "configuration_residua.py", "model.py"}) {
            QVERIFY(fs::exists(at("exported") / name));
        }
    }

    /// Labels get the numbers that the model's names have, and the names and other keys go out again.
    void namesTheModelsClasses()
    {
        tests::ModelFolder(m_cases["bert, classes"].toObject()).write(at("model"));
        configSays("id2label", QJsonObject{{"0", "pos"}, {"1", "neg"}, {"2", "mixed"}})(at("model"));
        configSays("pad_token_id", 7)(at("model"));
        const projects::LabelledTextData table{
            .path = at("texts.csv").string(), .validationPath = {}, .second = {}, .tokeniser = {}};
        std::ofstream(table.path) << "text,label\nw1,neg\nw2,pos\nw3,neg\nw4,neg\n";
        const auto ready = imported(at("model"), at("project"), table);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        const auto opened = openCheckpoint({ready->runDirectory}, {});
        QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
        QCOMPARE(opened->run.info.classes, (std::vector<std::string>{"pos", "neg", "mixed"}));
        Batch batch;
        QVERIFY(opened->dataset->fillSequential(batch, Split::Train, 0, 4).ok());
        QCOMPARE(batch.values<std::int64_t>(1), (std::vector<std::int64_t>{1, 0, 1, 1}));

        const auto out = exported(ready->runDirectory, at("exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QFile file(QString::fromStdString((at("exported") / "config.json").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject config = QJsonDocument::fromJson(file.readAll()).object();
        QCOMPARE(config["id2label"].toObject()["1"].toString(), QString("neg"));
        QCOMPARE(config["label2id"].toObject()["mixed"].toInt(), 2);
        QCOMPARE(config["pad_token_id"].toInt(), 7);

        std::ofstream(table.path) << "text,label\nw1,neg\nw2,bad\n";
        const auto other = imported(at("model"), at("refused"), table);
        QVERIFY(!other.ok());
        QVERIFY2(other.error().text().find("texts.csv:3] has the class \"bad\"") != std::string::npos,
                 other.error().text().c_str());
        const auto none = imported(at("model"), at("without"));
        QVERIFY2(none.ok(), none ? "" : none.error().text().c_str());
    }

    /// The outputs of a file that is loaded into a project stand for the classes of the config.json beside it, unless
    /// the data have others.
    void namesTheClassesOfAFile_data()
    {
        QTest::addColumn<QJsonObject>("names");
        QTest::addColumn<std::vector<std::string>>("expected");
        QTest::addColumn<QString>("note");
        const std::vector<std::string> own{"mixed", "neg", "pos"};
        QTest::newRow("named") << QJsonObject{{"0", "pos"}, {"1", "neg"}, {"2", "mixed"}}
                               << std::vector<std::string>{"pos", "neg", "mixed"} << QString();
        QTest::newRow("no names") << QJsonObject{{"0", "LABEL_0"}, {"1", "LABEL_1"}, {"2", "LABEL_2"}} << own
                                  << QString();
        QTest::newRow("others") << QJsonObject{{"0", "pos"}, {"1", "neg"}, {"2", "bad"}} << own
                                << QString("none of the 3 of the network");
        QTest::newRow("damaged") << QJsonObject{{"0", "pos"}, {"2", "neg"}} << own
                                 << QString("expected each number from 0 to 1 once");
    }
    void namesTheClassesOfAFile()
    {
        QFETCH(const QJsonObject, names);
        QFETCH(const std::vector<std::string>, expected);
        QFETCH(const QString, note);
        tests::ModelFolder(m_cases["bert, classes"].toObject()).write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        configSays("id2label", names)(at("model"));
        LoadWeightsRequest request;
        request.file = at("model") / "model.safetensors";
        request.project = projects::loadProject(at("project"))->project;
        request.projectDirectory = at("project");
        request.runDirectory = at("run");
        std::ofstream(at("project") / "texts.csv") << "text,label\nw1,neg\nw2,pos\nw3,neg\nw4,mixed\n";
        const auto onto = answerTo<LoadWeightsReady>(request);
        QVERIFY2(onto.ok(), onto ? "" : onto.error().text().c_str());
        const auto opened = openCheckpoint({onto->runDirectory}, {});
        QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
        QCOMPARE(opened->run.info.classes, expected);
        const std::string all = joinedText(onto->notes);
        QVERIFY2(note.isEmpty() ? onto->notes.empty() : QString::fromStdString(all).contains(note), all.c_str());
    }

    /// With what lies beside it, into the project and out again; one that cannot be read is left out.
    void bringsTheTokeniser()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        std::ofstream(at("model") / "tokenizer.json")
            << R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,)"
               R"("pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"decoder":null,)"
               R"("model":{"type":"WordLevel","vocab":{"[UNK]":0,"one":1,"two":2},"unk_token":"[UNK]"}})";
        std::ofstream(at("model") / "tokenizer_config.json") << "{}";
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        const auto project = projects::loadProject(at("project"));
        const auto* const text = std::get_if<projects::TextData>(&project->project.data.source);
        QVERIFY(text != nullptr && text->tokeniser.kind == projects::TokeniserKind::TokenizerJson);
        SampleRequest request;
        request.of.runDirectory = ready->runDirectory;
        request.prompt = "one two";
        request.tokens = 1;
        const auto sample = answerTo<SampleReady>(request);
        QVERIFY2(sample.ok(), sample ? "" : sample.error().text().c_str());
        QVERIFY2(sample->text.starts_with("one two"), sample->text.c_str());
        QVERIFY(exported(ready->runDirectory, at("exported")).ok());
        for (const char* const name : {"tokenizer.json", "tokenizer_config.json"}) {
            QVERIFY(fs::exists(at("exported") / name));
        }

        fs::remove(at("model") / "tokenizer_config.json");
        const auto alone = imported(at("model"), at("other"));
        QVERIFY2(alone.ok(), alone ? "" : alone.error().text().c_str());
        QVERIFY(exported(alone->runDirectory, at("alone")).ok());
        QFile settings(QString::fromStdString((at("alone") / "tokenizer_config.json").string()));
        QVERIFY(settings.open(QIODevice::ReadOnly));
        QCOMPARE(QJsonDocument::fromJson(settings.readAll()).object()["tokenizer_class"].toString(),
                 QString("PreTrainedTokenizerFast"));

        std::ofstream(at("model") / "tokenizer.json") << "{}";
        const auto without = imported(at("model"), at("without"));
        QVERIFY2(without.ok(), without ? "" : without.error().text().c_str());
        QVERIFY2(without->notes.front().starts_with("the tokeniser is left out"), without->notes.front().c_str());
    }

    /// A file without its folder, by the names that its architecture gives: all but the one that is misnamed.
    void putsTensorsOntoAProject()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        replaceIn(at("model") / "model.safetensors", "model.norm.weight", "model.morn.weight");
        LoadWeightsRequest request;
        request.file = at("model") / "model.safetensors";
        request.project = projects::loadProject(at("project"))->project;
        request.projectDirectory = at("project");
        request.runDirectory = at("run");
        const auto onto = answerTo<LoadWeightsReady>(request);
        QVERIFY2(onto.ok(), onto ? "" : onto.error().text().c_str());
        QCOMPARE(onto->unused, std::vector<std::string>{"model.morn.weight"});
        const auto expected = loadCheckpoint(ready->runDirectory, 0, nullptr);
        const auto got = loadCheckpoint(onto->runDirectory, 0, nullptr);
        QVERIFY(expected.ok() && got.ok());
        QCOMPARE(onto->rows.size(), expected->model.tensors().size());
        for (const LoadWeightsReady::Row& row : onto->rows) {
            const auto& before = expected->model.tensors().at(row.parameter).bytes;
            const auto& now = got->model.tensors().at(row.parameter).bytes;
            QCOMPARE(row.fits, row.parameter != "head.norm.weight");
            QCOMPARE(std::ranges::equal(before, now), row.fits);
        }

        tests::ModelFolder(m_cases["gpt2"].toObject()).write(at("other"));
        request.file = at("other") / "model.safetensors";
        request.runDirectory = at("none");
        const auto other = answerTo<LoadWeightsReady>(request);
        QVERIFY(!other.ok() && other.error().message.find("no tensor has the name") != std::string::npos);
        QVERIFY(!fs::exists(at("none")));
    }

    /// By the name that the file has, be it without the architecture's prefix; and what an import leaves out is not
    /// left over.
    void namesWhatTheFileHas()
    {
        tests::ModelFolder model(m_cases["gpt2"].toObject());
        std::map<std::string, std::vector<std::int64_t>> shapes;
        for (const auto& [name, shape] : model.shapes) {
            shapes[name.substr(std::string("transformer.").size())] = shape;
        }
        model.shapes = shapes;
        model.shapes["h.0.attn.bias"] = {1, 1, 4, 4};
        model.shapes["lm_head.weight"] = shapes.at("wte.weight");
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());

        model.shapes["ln_f.weight"] = {5};
        model.write(at("model"));
        LoadWeightsRequest request;
        request.file = at("model") / "model.safetensors";
        request.project = projects::loadProject(at("project"))->project;
        request.projectDirectory = at("project");
        request.runDirectory = at("run");
        const auto onto = answerTo<LoadWeightsReady>(request);
        QVERIFY2(onto.ok(), onto ? "" : onto.error().text().c_str());
        QCOMPARE(onto->unused, std::vector<std::string>());
        const auto row = std::ranges::find(onto->rows, "head.norm.weight", &LoadWeightsReady::Row::parameter);
        QVERIFY(row != onto->rows.end() && !row->fits);
        QCOMPARE(row->tensor, std::string("ln_f.weight"));
        fs::remove_all(at("project"));
        const auto refused = imported(at("model"), at("project"));
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("ln_f.weight got [5]") != std::string::npos,
                 refused.error().message.c_str());
    }

    /// In pieces, so that a run beside it goes on; and nothing before the last of them, so that it can be given up.
    void isThereAtTheEndAlone()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        ImportRequest import;
        import.folder = at("model");
        import.projectDirectory = at("new") / "project";
        const auto tensors = static_cast<int>(tensorsIn(at("model")).size());
        givesUp(import, at("new"), 2 * tensors + 4);
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());

        LoadWeightsRequest onto;
        onto.file = at("model") / "model.safetensors";
        onto.project = projects::loadProject(at("project"))->project;
        onto.projectDirectory = at("project");
        onto.runDirectory = at("run");
        givesUp(onto, at("run"), 2 * tensors + 4);

        ExportRequest out;
        out.of.runDirectory = ready->runDirectory;
        out.folder = at("out") / "folder";
        for (const ExportFormat format : {ExportFormat::HuggingFace, ExportFormat::PyTorch}) {
            out.format = format;
            givesUp(out, at("out"), tensors + 4);
        }
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<Damage>("damage");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* what, const Damage& damage, const char* message, const char* name = "llama") {
            QTest::newRow(what) << QString(name) << damage << QString::fromUtf8(message);
        };
        row("another architecture", configSays("model_type", "mixtral"), "model_type] \"mixtral\" is not supported");
        row("no architecture", configSays("model_type", QJsonValue()), "model_type] is missing");
        row("an activation", configSays("hidden_act", "gelu"), "hidden_act] \"gelu\" is not supported");
        row("a rotary scaling", configSays("rope_parameters", QJsonObject{{"rope_type", "yarn"}}),
            "rope_type] \"yarn\" is not supported");
        row("the older word for it", configSays("rope_scaling", QJsonObject{{"type", "dynamic"}}),
            "rope_type] \"dynamic\" is not supported");
        row("quantised", configSays("quantization_config", QJsonObject()), "quantised weights are not supported");
        row("code of its own", configSays("auto_map", QJsonObject()), "brings code of its own");
        row("inverse scaling", configSays("scale_attn_by_inverse_layer_idx", true), "which is not supported", "gpt2");
        row("a gate of another model", configSays("model_type", "ouro"), "model.early_exit_gate.weight");
        row(
            "a norm of another place",
            [](const fs::path& folder) {
                replaceIn(folder / "model.safetensors", "layers.1.input_layernorm_2", "layers.1.input_layernorm_3");
            },
            "input_layernorm_3.weight (the nearest that is missing: model.layers.1.input_layernorm_2.weight)", "ouro");
        row("fewer layers than are stored", configSays("num_hidden_layers", 1), "none of this architecture's", "ouro");
        row("endless visits", configSays("total_ut_steps", 100000), "expected at most 1024", "ouro");
        row("alternating layers", configSays("layer_types", QJsonArray{"sliding_attention", "full_attention"}),
            "layers that alternate", "qwen2");
        row("a bias that is not there", configSays("attention_bias", true), "8 tensors are missing");
        row("another width", configSays("hidden_size", 12), "got [23, 16], expected [23, 12]");
        row("a size that is none", configSays("num_hidden_layers", -3), "got -3, expected a size");
        row("more layers", configSays("num_hidden_layers", 3), "model.layers.2.");
        row("an absurd depth", configSays("num_hidden_layers", 1000000), "expected at most 4096");
        row("fewer layers", configSays("num_hidden_layers", 1), "tensors are none of this architecture's");
        row("heads that do not divide", configSays("num_attention_heads", 3), "expected a multiple of the 3 heads",
            "pythia");
        row(
            "no config", [](const fs::path& folder) { fs::remove(folder / "config.json"); }, "has no config.json");
        row(
            "no JSON", [](const fs::path& folder) { std::ofstream(folder / "config.json") << "{"; }, "config.json");
        row(
            "no weights", [](const fs::path& folder) { fs::remove(folder / "model.safetensors"); },
            "has no model.safetensors");
        row(
            "truncated",
            [](const fs::path& folder) {
                fs::resize_file(folder / "model.safetensors", fs::file_size(folder / "model.safetensors") - 5);
            },
            "truncated");
        row(
            "a pointer of Git LFS",
            [](const fs::path& folder) {
                std::ofstream(folder / "model.safetensors") << "version https://git-lfs.github.com/spec/v1\n"
                                                               "oid sha256:4d7a\nsize 123456789\n";
            },
            "fetch that with git lfs pull");
        row(
            "a link",
            [](const fs::path& folder) {
                fs::rename(folder / "model.safetensors", folder.parent_path() / "elsewhere.safetensors");
                fs::create_symlink(folder.parent_path() / "elsewhere.safetensors", folder / "model.safetensors");
            },
            "is a link");
        row(
            "another name",
            [](const fs::path& folder) {
                replaceIn(folder / "model.safetensors", "model.norm.weight", "model.morn.weight");
            },
            "model.morn.weight (the nearest that is missing: model.norm.weight)");
    }
    void refuses()
    {
        QFETCH(const QString, name);
        QFETCH(const Damage, damage);
        QFETCH(const QString, message);
        tests::ModelFolder(m_cases[name].toObject()).write(at("model"));
        damage(at("model"));
        fails(message);
    }

    void refusesShards_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QString>("message");
        QTest::newRow("above") << QByteArray("model-2.safetensors") << QByteArray("../model-2.safetensors")
                               << "expected the name of a file in the same folder";
        QTest::newRow("absolute") << QByteArray("model-2.safetensors") << QByteArray("/tmp/model-2.safetensors")
                                  << "expected the name of a file in the same folder";
        QTest::newRow("missing") << QByteArray("model-2.safetensors") << QByteArray("model-4.safetensors")
                                 << "model-4.safetensors] is missing";
        QTest::newRow("elsewhere") << QByteArray("model-2.safetensors") << QByteArray("model-1.safetensors")
                                   << "the index says it is in this file";
        QTest::newRow("no map") << QByteArray("weight_map") << QByteArray("weights") << "weight_map] is missing";
    }
    void refusesShards()
    {
        QFETCH(const QByteArray, from);
        QFETCH(const QByteArray, to);
        QFETCH(const QString, message);
        tests::ModelFolder model(m_cases["llama"].toObject());
        model.shards = 3;
        model.write(at("model"));
        replaceIn(at("model") / "model.safetensors.index.json", from, to);
        fails(message);
    }

    /// One of several files, by its name.
    void refusesATruncatedShard()
    {
        tests::ModelFolder model(m_cases["llama"].toObject());
        model.shards = 3;
        model.write(at("model"));
        const fs::path shard = at("model") / "model-2.safetensors";
        fs::resize_file(shard, fs::file_size(shard) - 5);
        fails("model-2.safetensors");
        fs::resize_file(shard, 4);
        fails("too short for safetensors");
    }

    /// All of what does not fit, beside the first few of the message.
    void tellsAllThatDoesNotFit()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        configSays("num_hidden_layers", 3)(at("model"));
        ImportRequest request;
        request.folder = at("model");
        request.projectDirectory = at("project");
        std::unique_ptr<Query> query = queryFor(request);
        std::optional<Event> answer;
        while (!answer) {
            answer = query->advance();
        }
        const auto* const failed = std::get_if<QueryFailed>(&*answer);
        QVERIFY(failed != nullptr);
        QCOMPARE(failed->details.size(), std::size_t{9}); // of a layer
        QVERIFY2(failed->error.message.find("--json lists all") != std::string::npos, failed->error.message.c_str());
        for (const std::string& line : failed->details) {
            QVERIFY2(line.starts_with("tensor is missing: model.layers.2."), line.c_str());
        }
    }

    void leavesWhatIsThere()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        fs::create_directories(at("project") / "kept");
        const auto ready = imported(at("model"), at("project"));
        QVERIFY(!ready.ok());
        QVERIFY(ready.error().message.find("exists") != std::string::npos);
        QVERIFY(fs::exists(at("project") / "kept"));
    }

    /// A cache of models keeps a folder's files as links to others.
    void readsACache()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("cache") / "blobs");
        fs::create_directories(at("cache") / "snapshots" / "1");
        for (const char* const name : {"config.json", "model.safetensors"}) {
            fs::create_symlink(fs::path("../../blobs") / name, at("cache") / "snapshots" / "1" / name);
        }
        const auto ready = imported(at("cache") / "snapshots" / "1", at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
    }

private:
    [[nodiscard]] fs::path at(const std::string& name) const
    {
        std::string test = QTest::currentTestFunction();
        test += QTest::currentDataTag() == nullptr ? "" : std::string(" ") + QTest::currentDataTag();
        std::ranges::replace(test, '/', ' ');
        return fs::path(m_folder.path().toStdString()) / test / name;
    }

    /// Ends the question after each number of pieces: nothing of `made` is there. Then goes through with it.
    template <class Request>
    static void givesUp(const Request& request, const fs::path& made, int leastPieces)
    {
        int pieces = 0;
        for (bool answered = false; !answered; ++pieces) {
            std::unique_ptr<Query> query = queryFor(request);
            for (int i = 0; i < pieces; ++i) {
                const std::optional<Event> early = query->advance();
                QVERIFY(!early);
            }
            const std::optional<Event> last = query->advance();
            answered = last.has_value();
            const auto* const failed = answered ? std::get_if<QueryFailed>(&*last) : nullptr;
            QVERIFY2(failed == nullptr, failed == nullptr ? "" : failed->error.text().c_str());
            query.reset();
            QCOMPARE(fs::exists(made), answered);
        }
        QVERIFY2(pieces >= leastPieces, std::to_string(pieces).c_str());
        fs::remove_all(made);
    }

    void fails(const QString& message)
    {
        const auto ready = imported(at("model"), at("project"));
        QVERIFY(!ready.ok());
        const QString got = QString::fromStdString(ready.error().text());
        QVERIFY2(got.contains(message), qPrintable(got));
        QVERIFY(!fs::exists(at("project")));
        for (const auto& entry : fs::directory_iterator(at("project").parent_path())) {
            QVERIFY2(entry.path().filename() == "model" || entry.path().filename() == "elsewhere.safetensors",
                     entry.path().c_str());
        }
    }

    QTemporaryDir m_folder;
    QJsonObject m_cases;
};

RESIDUA_TEST_IN(QCoreApplication, TestImport)
#include "tst_import.moc"
