// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the config.json of an Ouro as a looped network, and tells which networks are no Ouro.
#include "projects/base/json_tree.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/shipped/recipes.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <functional>

using namespace residua;
using namespace residua::projects;

namespace {

using OuroAlteration = std::function<void(Project&)>;

Result<ReadModel> readOuro(const std::string& members, int layers = 3)
{
    return readModel(
        R"({"model_type": "ouro", "vocab_size": 40, "hidden_size": 16, "num_attention_heads": 4,
            "num_key_value_heads": null, "intermediate_size": 24, "num_hidden_layers": )" +
            std::to_string(layers) + members + "}",
        "config.json");
}

Project ouroProject()
{
    return projectOf(readOuro("")->model, "ouro", TokenFileData{"tokens.bin", {}, TokenWidth::Uint16, 40});
}

} // namespace

class TestOuro : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Its exit gate trains by the expected loss.
    void isALoopOverAllLayers()
    {
        const Project project = ouroProject();
        const std::vector<Loop> expected{
            {.first = 1, .last = 3, .visits = 4, .norm = LoopNorm::Visits, .exitGate = true}};
        QVERIFY(project.stack().loops == expected);
        QCOMPARE(project.losses.size(), std::size_t{1});
        const auto sound = soundProject(project);
        QVERIFY2(sound.ok(), sound ? "" : sound.error().text().c_str());
        QVERIFY(std::ranges::none_of(validate(project), [](const Problem& problem) {
            return problem.text().find("exit_gate") != std::string::npos;
        }));
    }

    /// The recipe at the published size goes out as the released folder: but for the positions, whose base was raised
    /// for longer texts.
    void theRecipeHasTheReleasedSizes()
    {
        const Recipe* const recipe = findRecipe("ouro-1.4b");
        QVERIFY(recipe != nullptr);
        Project project = recipe->project;
        project.data.source = TokenFileData{"tokens.bin", {}, TokenWidth::Uint16, 49'152};
        const auto sound = soundProject(project);
        QVERIFY2(sound.ok(), sound ? "" : sound.error().text().c_str());
        const auto found = knownModelOf(*sound);
        QVERIFY2(found.ok(), found ? "" : found.error().text().c_str());
        KnownModel released = readModel(R"({"model_type": "ouro", "hidden_size": 2048, "num_hidden_layers": 24,
            "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 5632,
            "vocab_size": 49152, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "max_position_embeddings": 65536,
            "tie_word_embeddings": false, "total_ut_steps": 4})",
                                        "config.json")
                                  ->model;
        released.rotary.base = 10'000;
        released.positions = project.training.sequenceLength;
        QVERIFY(found->model == released);
    }

    void isNone_data()
    {
        QTest::addColumn<OuroAlteration>("change");
        QTest::newRow("no exit gate") << OuroAlteration([](Project& project) {
            project.losses.clear();
            project.network.ownLoss = OwnLoss::Trained;
            project.stack().loops.front().exitGate = false;
        });
        QTest::newRow("a norm at the exit alone")
            << OuroAlteration([](Project& project) { project.stack().loops.front().norm = LoopNorm::Exit; });
        QTest::newRow("a layer before the loop")
            << OuroAlteration([](Project& project) { project.stack().loops.front().first = 2; });
        QTest::newRow("another epsilon than that of the loop") << OuroAlteration([](Project& project) {
            for (Node& node : project.network.blocks.front().graph.nodes) {
                if (node.name.starts_with("norm")) {
                    node.params["epsilon"] = 1e-5;
                }
            }
        });
    }
    void isNone()
    {
        QFETCH(const OuroAlteration, change);
        Project project = ouroProject();
        QCOMPARE(knownModelOf(*soundProject(project))->model.kind, std::string("ouro"));
        change(project);
        const auto sound = soundProject(project);
        QVERIFY2(sound.ok(), sound ? "" : sound.error().text().c_str());
        const auto found = knownModelOf(*sound);
        QVERIFY(!found.ok());
        QVERIFY2(found.error().text().find("makes its visits") != std::string::npos, found.error().text().c_str());
    }

    void refuses_data()
    {
        QTest::addColumn<int>("layers");
        QTest::addColumn<QString>("members");
        QTest::addColumn<QString>("message");
        QTest::newRow("one visit") << 3 << R"(, "total_ut_steps": 1)"
                                   << "total_ut_steps] is 1, expected at least 2";
        QTest::newRow("endless visits") << 3 << R"(, "total_ut_steps": 1025)"
                                        << "total_ut_steps] got 1025, expected at most 1024 visits";
        QTest::newRow("visits to many layers")
            << 2048 << R"(, "total_ut_steps": 3)"
            << "total_ut_steps] got 3, which are 6144 executed layers; expected at most 4096";
        QTest::newRow("another norm after a visit") << 3 << R"(, "rms_norm_eps": 1e-5)"
                                                    << "rms_norm_eps] is 1e-05, expected 1e-06";
    }
    void refuses()
    {
        QFETCH(const int, layers);
        QFETCH(const QString, members);
        QFETCH(const QString, message);
        const auto got = readOuro(members.toStdString(), layers);
        QVERIFY(!got.ok());
        QVERIFY2(got.error().text().find(message.toStdString()) != std::string::npos, got.error().text().c_str());
    }

    /// The code of a folder is not run, and an export names the authors', whatever the folder said.
    void namesTheAuthorsCode()
    {
        const std::string said =
            R"(, "early_exit_threshold": 0.8, "auto_map": {"AutoModelForCausalLM": "other/place--modeling.Model"})";
        const auto read = readOuro(said);
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->notes.size(), std::size_t{1});
        QVERIFY2(read->notes.front().find("--exit-at 0.8") != std::string::npos, read->notes.front().c_str());
        const auto written = parseJson(configOf(read->model, R"({"model_type": "ouro")" + said + "}", "float32"));
        const JsonValue* const code = written ? findMember(*written, "auto_map") : nullptr;
        QVERIFY(code != nullptr);
        const auto& members = std::get<JsonObject>(code->data);
        QCOMPARE(members.size(), std::size_t{2});
        QCOMPARE(std::get<std::string>(members[0].value.data),
                 std::string("ByteDance/Ouro-1.4B--configuration_ouro.OuroConfig"));
        QCOMPARE(std::get<std::string>(members[1].value.data),
                 std::string("ByteDance/Ouro-1.4B--modeling_ouro.OuroForCausalLM"));
        QCOMPARE(loadingOptionsOf("ouro"), std::string(", trust_remote_code=True"));
        QCOMPARE(loadingOptionsOf("llama"), std::string());
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestOuro)
#include "tst_ouro.moc"
