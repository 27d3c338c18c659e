// SPDX-License-Identifier: GPL-3.0-or-later
// Language models of transformers as networks of this program, and networks as those.
#include "projects/base/json_tree.h"
#include "projects/cost/cost.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/model_kinds.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <functional>

using namespace residua;
using namespace residua::projects;

namespace {

KnownModel smallModel(std::string_view kindName)
{
    const ModelKind& kind = *findModelKind(kindName);
    KnownModel model;
    model.kind = kindName;
    model.layers = kind.looped == LoopedLayers::Single ? 1 : 3;
    model.visits = kind.looped == LoopedLayers::None ? 1 : 3;
    model.width = 16;
    model.heads = 4;
    model.kvHeads = kind.choosesHeads ? 2 : 4;
    model.headDim = 4;
    model.hidden = 24;
    model.vocabulary = 40;
    model.positions = 32;
    model.activation = kind.gated ? "silu" : "gelu_tanh";
    model.epsilon = kind.looped == LoopedLayers::All ? kind.epsilon : 1e-5;
    model.attentionBias = kind.attentionBias;
    model.ffnBias = kind.ffnBias;
    model.window = kind.windowed == WindowedLayers::All ? 7 : 0; // else it is the network of another
    model.rotaryShare = kind.choosesRotaryShare ? 0.5 : 1;
    model.rotary.features = !kind.rotates() ? 0 : kind.choosesRotaryShare ? 2 : 4;
    model.segments = kind.hasBertStem() ? 2 : 0;
    model.embedding = kind.family == ModelFamily::Albert ? 12 : 0;
    model.classes = kind.classifies() ? 5 : 0;
    model.tied = kind.task == ModelTask::MaskedToken;
    if (kind.readsPictures()) {
        model.vocabulary = 0;
        model.picture = {.height = 8, .width = 12, .channels = 3, .patch = 4};
        model.positions = model.picture.positions();
    }
    return model;
}

KnownModel llama3()
{
    KnownModel model = smallModel("llama");
    model.headDim = 6;
    model.attentionBias = AttentionBias::All;
    model.ffnBias = true;
    model.tied = true;
    model.rotary = {
        .features = 6, .base = 5e5, .scaling = RopeScaling::Llama3, .factor = 4, .low = 2, .high = 3, .original = 16};
    return model;
}

KnownModel windowAbove()
{
    KnownModel model = smallModel("qwen3");
    model.window = 5;
    model.fullLayers = 1;
    return model;
}

KnownModel parallelNeox()
{
    KnownModel model = smallModel("gpt_neox");
    model.parallel = true;
    return model;
}

Source sourceOf(const KnownModel& model)
{
    const ModelKind& kind = *findModelKind(model.kind);
    if (kind.readsPictures()) {
        return PictureData{.path = "pictures",
                           .validationPath = {},
                           .height = model.picture.height,
                           .width = model.picture.width,
                           .classes = model.classes};
    }
    if (kind.classifies()) {
        return LabelledTextData{.path = "pairs.csv",
                                .validationPath = {},
                                .second = "other",
                                .classes = model.classes,
                                .tokeniser = {TokeniserKind::Characters, {}, model.vocabulary}};
    }
    return TokenFileData{"tokens.bin", {}, TokenWidth::Uint16, model.vocabulary};
}

Project projectOfModel(const KnownModel& model)
{
    Project project = projectOf(model, "model", sourceOf(model));
    project.training.sequenceLength = model.positions; // which has no key of its own where positions rotate
    return project;
}

Result<FoundModel> modelIn(const Project& project)
{
    const Result<SoundProject> sound = soundProject(project);
    return sound ? knownModelOf(*sound) : Result<FoundModel>(sound.error());
}

Graph& firstBlock(Project& project)
{
    return project.network.blocks.front().graph;
}

Node& namedNode(Graph& graph, const std::string& name)
{
    return *std::ranges::find(graph.nodes, name, &Node::name);
}

Wire& wireTo(Graph& graph, const std::string& node, const std::string& port)
{
    const NodeId id = namedNode(graph, node).id;
    return *std::ranges::find_if(graph.wires,
                                 [&](const Wire& wire) { return wire.to.node == id && wire.to.port == port; });
}

/// A dropout between a node and what it reads.
void addDropout(Graph& graph, const std::string& node, const std::string& port)
{
    const NodeId id = graph.nextId();
    graph.nodes.push_back({id, "dropout", "dropout" + std::to_string(graph.nodes.size()), {}});
    Wire& wire = wireTo(graph, node, port);
    const PortRef reader = wire.to;
    wire.to = {id, "in"};
    graph.wires.push_back({{id, "out"}, reader});
}

using Alteration = std::function<void(Project&)>;

QString foundText(const Result<FoundModel>& found)
{
    return found ? QString::fromStdString(found->model.kind) : QString::fromStdString(found.error().text());
}

Result<ReadModel> readText(const std::string& members)
{
    return readModel("{" + members + "}", "config.json");
}

constexpr const char* kSomeSizes = R"("vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 8, "intermediate_size": 24)";

} // namespace

class TestKnownModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void comesBack_data()
    {
        QTest::addColumn<KnownModel>("model");
        for (const ModelKind& kind : modelKinds()) {
            QTest::newRow(kind.name.data()) << smallModel(kind.name);
        }
        QTest::newRow("llama 3") << llama3();
        QTest::newRow("window above") << windowAbove();
        QTest::newRow("parallel") << parallelNeox();
        KnownModel linear = smallModel("mistral");
        linear.rotary.scaling = RopeScaling::Linear;
        linear.rotary.factor = 2;
        QTest::newRow("linear") << linear;
    }
    /// From the network and from the config.json that are made of it.
    void comesBack()
    {
        QFETCH(const KnownModel, model);
        const auto found = modelIn(projectOfModel(model));
        QVERIFY2(found.ok(), qPrintable(foundText(found)));
        QVERIFY2(found->model == model, qPrintable(foundText(found)));
        for (const auto& [own, name] : found->names) {
            QCOMPARE(name, own);
        }
        const auto again = readModel(configOf(model, "", "float32"), "config.json");
        QVERIFY2(again.ok(), again ? "" : again.error().text().c_str());
        QVERIFY(again->model == model);
        QVERIFY2(again->notes.empty(), again->notes.empty() ? "" : again->notes.front().c_str());
    }

    /// transformers reads its values too; what is not read of it is noted.
    void readsTheOlderObjectOfRotaryPositions()
    {
        std::string config = configOf(smallModel("llama"), "", "float32");
        const std::size_t at = config.find("\"rope_parameters\"");
        QVERIFY(at != std::string::npos);
        config.insert(at, "\"rope_scaling\": {\"rope_theta\": 500.0, \"rope_type\": \"default\", \"beta\": 1}, ");
        const auto read = readModel(config, "config.json");
        QVERIFY2(read, read ? "" : read.error().text().c_str());
        QCOMPARE(read->model.rotary.base, 500.0);
        QVERIFY(std::ranges::count(read->notes, "config.json · rope_scaling says more, which is not read: beta") == 1);
    }

    void aSizeIsShownAsItIsWritten()
    {
        std::string config = configOf(smallModel("llama"), "", "float32");
        const std::string width = "\"hidden_size\": 16";
        config.insert(config.find(width) + width.size(), ".0");
        const auto read = readModel(config, "config.json");
        QVERIFY(!read);
        QVERIFY2(read.error().message.starts_with("got 16.0, expected a size of 1"), read.error().text().c_str());
    }

    void isStillTheSame_data()
    {
        QTest::addColumn<Alteration>("change");
        QTest::newRow("dropout") << Alteration([](Project& project) {
            addDropout(firstBlock(project), "branch", "in1");
            addDropout(firstBlock(project), "down", "in");
            addDropout(project.network.stem, "output", "in");
            namedNode(firstBlock(project), "attention").params["dropout"] = 0.1;
        });
        QTest::newRow("sums the other way round") << Alteration([](Project& project) {
            for (const char* const sum : {"add_attention", "branch"}) {
                std::swap(wireTo(firstBlock(project), sum, "in1").from, wireTo(firstBlock(project), sum, "in2").from);
            }
        });
        // Left over from settings that were tried, or those of a preset.
        QTest::newRow("numbers without effect") << Alteration([](Project& project) {
            ParamMap& params = namedNode(firstBlock(project), "attention").params;
            params["rope_factor"] = 3.0;
            params["rope_low_frequency"] = 2.0;
            params["rope_original_length"] = std::int64_t{100};
            params["norm_eps"] = 0.1;
            params["features"] = std::int64_t{7};
        });
        QTest::newRow("key-value heads by number") << Alteration(
            [](Project& project) { namedNode(firstBlock(project), "attention").params["head_dim"] = std::int64_t{4}; });
    }
    void isStillTheSame()
    {
        QFETCH(const Alteration, change);
        Project project = projectOfModel(smallModel("llama"));
        change(project);
        const auto found = modelIn(project);
        QVERIFY2(found.ok(), qPrintable(foundText(found)));
        QCOMPARE(found->model.kind, std::string("llama"));
        QVERIFY(found->model == smallModel("llama"));
    }

    void findsOtherNames()
    {
        Project project = projectOfModel(smallModel("gpt2"));
        namedNode(firstBlock(project), "attention").name = "mixer";
        namedNode(firstBlock(project), "norm_ffn").name = "norm_attention_2";
        namedNode(project.network.stem, "positions").name = "places";
        const auto found = modelIn(project);
        QVERIFY2(found.ok(), qPrintable(foundText(found)));
        QCOMPARE(found->parameter("layers.3.attention.q.weight"), std::string("layers.3.mixer.q.weight"));
        QCOMPARE(found->parameter("layers.1.norm_ffn.bias"), std::string("layers.1.norm_attention_2.bias"));
        QCOMPARE(found->parameter("stem.positions.weight"), std::string("stem.places.weight"));
    }

    void isNone_data()
    {
        QTest::addColumn<KnownModel>("model");
        QTest::addColumn<Alteration>("change");
        const auto row = [](const char* what, const KnownModel& model, const Alteration& change) {
            QTest::newRow(what) << model << change;
        };
        row("an activation without a word", parallelNeox(), [](Project& project) {
            namedNode(firstBlock(project), "activation").params["function"] = std::string("identity");
        });
        // GPT-J: attention and FFN read one norm, where GPT-NeoX has two.
        row("one norm for both", parallelNeox(), [](Project& project) {
            Graph& block = firstBlock(project);
            const NodeId shared = namedNode(block, "norm_attention").id;
            const NodeId dropped = namedNode(block, "norm_ffn").id;
            wireTo(block, "up", "in").from.node = shared;
            std::erase_if(block.wires, [&](const Wire& wire) { return wire.to.node == dropped; });
            std::erase_if(block.nodes, [&](const Node& node) { return node.id == dropped; });
        });
        row("no positions", parallelNeox(),
            [](Project& project) { namedNode(firstBlock(project), "attention").params["rope"] = false; });
        row("a bias of q, k and v alone", smallModel("llama"), [](Project& project) {
            namedNode(firstBlock(project), "attention").params["bias"] = std::string("qkv");
            namedNode(firstBlock(project), "attention").params["qk_norm"] = std::string("all");
        });
        row("no norms after the sums", smallModel("bert"), [](Project& project) { project.stack().topology = {}; });
        row("another number of visits is stored", smallModel("albert"), [](Project& project) {
            project.stack().loops.clear();
            project.stack().segments.front().repeat = 3;
        });
        row("loops of another architecture", smallModel("llama"),
            [](Project& project) { project.stack().loops = {{.first = 2, .last = 3, .visits = 2}}; });
        row("visits with embeddings", smallModel("albert"),
            [](Project& project) { project.stack().loops.front().embedding = true; });
        row("later tokens are hidden", smallModel("bert_classifier"),
            [](Project& project) { namedNode(firstBlock(project), "attention").params.erase("causal"); });
        row("the mean of the positions", smallModel("vit"),
            [](Project& project) { namedNode(project.network.head, "first").kind = "mean_pool"; });
        row("every token sees all", smallModel("llama"),
            [](Project& project) { namedNode(firstBlock(project), "attention").params["causal"] = false; });
    }
    void isNone()
    {
        QFETCH(const KnownModel, model);
        QFETCH(const Alteration, change);
        Project project = projectOfModel(model);
        QVERIFY(modelIn(project).ok());
        change(project);
        const auto sound = soundProject(project);
        QVERIFY2(sound.ok(), sound ? "" : sound.error().text().c_str());
        const auto found = knownModelOf(*sound);
        QVERIFY2(!found.ok() && found.error().place.starts_with("network"), qPrintable(foundText(found)));
    }

    /// If several architectures make one network, its own architecture is found, and its config.
    void staysWhatItCameFrom()
    {
        KnownModel model = smallModel("mistral");
        model.window = 0;
        const auto sound = soundProject(projectOfModel(model));
        QVERIFY2(sound.ok(), sound ? "" : sound.error().text().c_str());
        QCOMPARE(foundText(knownModelOf(*sound)), QString("llama"));
        const std::string config = R"({"model_type": "mistral", "sliding_window": null, "eos_token_id": 7})";
        const auto found = knownModelOf(*sound, modelTypeIn(config));
        QCOMPARE(foundText(found), QString("mistral"));
        const auto written = parseJson(configOf(found->model, config, "float32"));
        QVERIFY(written.ok() && findMember(*written, "eos_token_id") != nullptr);
        QVERIFY(std::holds_alternative<std::nullptr_t>(findMember(*written, "sliding_window")->data));
        QCOMPARE(foundText(knownModelOf(*sound, "gpt2")), QString("llama")); // which it cannot be
        QCOMPARE(modelTypeIn("[]"), std::string());
    }

    /// As the package has them (version 5): of a key that is missing, and of one that is null.
    void takesThePackagesDefaults()
    {
        const auto mistral = readText(std::string(R"("model_type": "mistral", )") + kSomeSizes);
        QVERIFY2(mistral.ok(), mistral ? "" : mistral.error().text().c_str());
        QCOMPARE(mistral->model.window, std::int64_t{4096});
        QCOMPARE(mistral->model.positions, std::int64_t{131072});
        QCOMPARE(mistral->model.kvHeads, std::int64_t{8});
        const auto without =
            readText(std::string(R"("model_type": "mistral", "sliding_window": null, "num_key_value_heads": null, )") +
                     kSomeSizes);
        QCOMPARE(without->model.window, std::int64_t{0});
        QCOMPARE(without->model.kvHeads, std::int64_t{8}); // as many as heads

        const auto qwen =
            readText(std::string(R"("model_type": "qwen3", "use_sliding_window": true, "max_window_layers": 0,
            "num_key_value_heads": null, )") +
                     kSomeSizes);
        QVERIFY2(qwen.ok(), qwen ? "" : qwen.error().text().c_str());
        QCOMPARE(qwen->model.window, std::int64_t{4096});
        QCOMPARE(qwen->model.headDim, std::int64_t{128});
        QCOMPARE(qwen->model.positions, std::int64_t{32768});
        const auto tooMany = readText(std::string(R"("model_type": "qwen2", )") + kSomeSizes);
        QVERIFY(!tooMany.ok() && tooMany.error().message.starts_with("got 32, expected"));

        const auto gpt2 =
            readText(R"("model_type": "gpt2", "vocab_size": 40, "n_embd": 16, "n_layer": 2, "n_head": 2)");
        QVERIFY2(gpt2.ok(), gpt2 ? "" : gpt2.error().text().c_str());
        QCOMPARE(gpt2->model.positions, std::int64_t{1024});
        const auto neox = readText(std::string(R"("model_type": "gpt_neox", "rotary_pct": 1, )") + kSomeSizes);
        QCOMPARE(neox->model.positions, std::int64_t{2048});
    }

    /// Up to version 4.42 the package knew linear ones by "type" and nothing beside the factor.
    void writesScalingsForOldVersions()
    {
        KnownModel model = smallModel("llama");
        model.rotary.scaling = RopeScaling::Linear;
        const auto config = parseJson(configOf(model, "", "float32"));
        const JsonValue* const scaling = findMember(*config, "rope_scaling");
        QVERIFY(scaling != nullptr);
        QCOMPARE(std::get<JsonObject>(scaling->data).size(), std::size_t{2});
        QVERIFY(findMember(*scaling, "type") != nullptr && findMember(*scaling, "factor") != nullptr);
    }

    void refusesWhatIsNotSaid_data()
    {
        QTest::addColumn<QString>("members");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* what, const char* members, const char* message) {
            QTest::newRow(what) << QString(members) << QString(message);
        };
        row("no factor", R"("rotary_pct": 1, "rope_parameters": {"rope_type": "linear"}, )",
            "factor] is missing, expected a number");
        row("no low frequency", R"("rotary_pct": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8}, )",
            "low_freq_factor] is missing");
        row("no feature rotates", R"("rotary_pct": 0.1, )", "by which none of the 2 features of a head rotates");
        row("more than all rotate", R"("rotary_pct": 2, )", "expected a share up to 1");
    }
    void refusesWhatIsNotSaid()
    {
        QFETCH(const QString, members);
        QFETCH(const QString, message);
        const auto got = readText(R"("model_type": "gpt_neox", )" + members.toStdString() + kSomeSizes);
        QVERIFY(!got.ok());
        QVERIFY2(got.error().text().find(message.toStdString()) != std::string::npos, got.error().text().c_str());
    }

    /// The parameters of BERT base with either head, of ALBERT base and xxlarge, of both Ouros, and of ViT-S/16.
    void countsThePublishedParameters()
    {
        const std::string bert = R"("model_type": "bert", "vocab_size": 30522, "hidden_size": 768,
            "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "architectures": )";
        const std::string vit = R"("model_type": "vit", "hidden_size": 384, "num_hidden_layers": 12,
            "num_attention_heads": 6, "intermediate_size": 1536, "num_labels": 1000,
            "architectures": ["ViTForImageClassification"])";
        const std::string ouro = R"("model_type": "ouro", "vocab_size": 49152, "hidden_size": 2048,
            "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "num_hidden_layers": )";
        const std::string albert = R"("model_type": "albert", "vocab_size": 30000, "num_hidden_layers": 12,
            "architectures": ["AlbertForSequenceClassification"], "num_labels": 2, )";
        const std::pair<std::string, std::int64_t> published[] = {
            {albert + R"("hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072)",
             11'683'584 + 2 * 768 + 2},
            {albert + R"("hidden_size": 4096, "num_attention_heads": 64, "intermediate_size": 16384)",
             222'595'584 + 2 * 4096 + 2},
            {ouro + "24", 1'434'652'673},
            {ouro + "48", 2'667'974'657},
            {bert + R"(["BertForMaskedLM"])", 109'514'298},
            {bert + R"(["BertForSequenceClassification"])", 109'482'240 + 2 * 768 + 2},
            {vit, 22'050'664}};
        for (const auto& [config, count] : published) {
            const auto read = readText(config);
            QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
            const auto cost = costOf(projectOfModel(read->model));
            QVERIFY2(cost.ok(), cost ? "" : cost.error().text().c_str());
            QCOMPARE(cost->total.parameters, count);
        }
    }

    /// A class with further heads is read as the one without them, and a note says so.
    void readsAClassWithFurtherHeads()
    {
        const auto read =
            readText(R"("model_type": "bert", "architectures": ["BertForPreTraining"], )" + std::string(kSomeSizes));
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        const auto noted = [](const ReadModel& model) {
            return std::ranges::any_of(model.notes, [](const std::string& note) {
                return note.find("BertForPreTraining") != std::string::npos;
            });
        };
        QVERIFY(noted(*read));
        const auto plain =
            readText(R"("model_type": "bert", "architectures": ["BertForMaskedLM"], )" + std::string(kSomeSizes));
        QVERIFY(plain.ok() && !noted(*plain));
        QCOMPARE(read->model.kind, plain->model.kind);
    }

    void refusesOptionsThatAreNotCovered_data()
    {
        QTest::addColumn<QString>("members");
        QTest::addColumn<QString>("message");
        const QString bert = R"("model_type": "bert", "architectures": ["BertForMaskedLM"], )";
        const QString classes = R"("model_type": "bert", "architectures": ["BertForSequenceClassification"], )";
        const QString vit = R"("model_type": "vit", "architectures": ["ViTForImageClassification"], )";
        QTest::newRow("relative positions") << bert + R"("position_embedding_type": "relative_key", )"
                                            << R"(position_embedding_type] got "relative_key", expected absolute)";
        QTest::newRow("a decoder") << bert + R"("is_decoder": true, )"
                                   << "is_decoder] is true, which is not supported";
        QTest::newRow("two tables") << bert + R"("tie_word_embeddings": false, )"
                                    << "tie_word_embeddings] is false";
        QTest::newRow("pruned heads") << bert + R"("pruned_heads": {"1": [0]}, )"
                                      << "pruned_heads] has 1 layers, expected none";
        const QString albert = R"("model_type": "albert", "architectures": ["AlbertForMaskedLM"], )";
        QTest::newRow("several groups of layers") << albert + R"("num_hidden_groups": 2, )"
                                                  << "num_hidden_groups] is 2, expected 1: one stored layer";
        QTest::newRow("several layers in a group") << albert + R"("inner_group_num": 3, )"
                                                   << "inner_group_num] is 3, expected 1";
        QTest::newRow("another head")
            << R"("model_type": "bert", "architectures": ["BertForQuestionAnswering"], )"
            << R"(architectures] got "BertForQuestionAnswering", expected BertForMaskedLM or )"
               "BertForSequenceClassification";
        QTest::newRow("no head") << R"("model_type": "vit", )"
                                 << "architectures] is missing, expected ViTForImageClassification";
        QTest::newRow("regression") << classes + R"("id2label": {"0": "score"}, )"
                                    << "id2label] has 1 classes, which transformers takes for a regression";
        QTest::newRow("several classes at once")
            << classes + R"("problem_type": "multi_label_classification", )"
            << R"(problem_type] "multi_label_classification" is not supported; expected single_label_classification)";
        QTest::newRow("several classes of pictures")
            << vit + R"("problem_type": "multi_label_classification", "id2label": {"0": "a", "1": "b"}, )"
            << R"(problem_type] "multi_label_classification" is not supported)";
        QTest::newRow("values") << vit + R"("problem_type": "regression", )"
                                << R"(problem_type] "regression" is not supported)";
        QTest::newRow("a class without a number")
            << classes + R"("id2label": {"0": "a", "2": "b"}, )"
            << R"(id2label] has the key "2", expected each number from 0 to 1 once)";
        QTest::newRow("a number twice") << classes + R"("id2label": {"0": "a", "00": "b"}, )"
                                        << R"(id2label] has the key "00")";
        QTest::newRow("a class without a name") << vit + R"("id2label": {"0": "a", "1": null}, )"
                                                << "id2label] names class 1 by null, expected a text";
        QTest::newRow("another number of names") << vit + R"("num_labels": 3, "id2label": {"0": "a", "1": "b"}, )"
                                                 << "num_labels] is 3, but id2label names 2 classes";
        QTest::newRow("endless classes") << vit + R"("num_labels": 1000000000, )"
                                         << "num_labels] is 1000000000, expected at most 1000000";
        QTest::newRow("patches that are no squares") << vit + R"("patch_size": [4, 2], )"
                                                     << "patch_size] got 4 × 2, expected equal sides";
        QTest::newRow("three sides") << vit + R"("image_size": [8, 8, 8], )"
                                     << "image_size] got a list of 3, expected a height and a width";
        QTest::newRow("a rest of pixels")
            << vit + R"("image_size": 10, "patch_size": 4, )"
            << "image_size] got 10 × 10, expected multiples of the patch size, which is 4";
        QTest::newRow("an own export") << R"("model_type": "residua", )"
                                       << "import model.safetensors --onto PROJECT";
        QTest::newRow("an own export as code") << R"("project": "Tiny", "renamed": {}, )"
                                               << "import weights.safetensors --onto PROJECT";
        QTest::newRow("no biases") << vit + R"("qkv_bias": false, )"
                                   << "qkv_bias] is false, which is not supported";
    }
    void refusesOptionsThatAreNotCovered()
    {
        QFETCH(const QString, members);
        QFETCH(const QString, message);
        const auto got = readText(members.toStdString() + kSomeSizes);
        QVERIFY(!got.ok());
        QVERIFY2(got.error().text().find(message.toStdString()) != std::string::npos, got.error().text().c_str());
    }

    /// The names of the classes are the folder's, unless their number has changed.
    void keepsTheNamesOfClasses()
    {
        const auto named = readText(R"("model_type": "vit", "architectures": ["ViTForImageClassification"],
            "id2label": {"1": "dog", "0": "cat", "2": 7}, "problem_type": "single_label_classification", )" +
                                    std::string(kSomeSizes));
        QVERIFY2(named.ok(), named ? "" : named.error().text().c_str());
        QCOMPARE(named->classes, (std::vector<std::string>{"cat", "dog", "7"}));
        const auto unnamed =
            readText(R"("model_type": "bert", "architectures": ["BertForSequenceClassification"], "num_labels": 2, )" +
                     std::string(kSomeSizes));
        QVERIFY2(unnamed.ok(), unnamed ? "" : unnamed.error().text().c_str());
        QCOMPARE(unnamed->classes, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
        KnownModel model = smallModel("vit");
        model.classes = 2;
        const std::string config = R"({"model_type": "vit", "id2label": {"0": "cat", "1": "dog"}})";
        QVERIFY(configOf(model, config, "float32").find("\"dog\"") != std::string::npos);
        model.classes = 3;
        const std::string other = configOf(model, config, "float32");
        QVERIFY(other.find("\"dog\"") == std::string::npos && other.find("\"LABEL_2\"") != std::string::npos);
        const std::string trained = configOf(model, config, "float32", {"ant", "bee", "ant"});
        QVERIFY(trained.find(R"("id2label": {)") != std::string::npos && trained.find("\"cat\"") == std::string::npos);
        QVERIFY(trained.find(R"("bee": 1)") != std::string::npos && trained.find(R"("ant": 0)") != std::string::npos);
    }

    /// Other keys of config.json are kept, whatever the head.
    void keepsOtherKeys()
    {
        for (const char* const kind : {"bert", "bert_classifier", "vit", "llama"}) {
            KnownModel model = smallModel(kind);
            const std::string type = kind == std::string("bert_classifier") ? "bert" : kind;
            const std::string written = configOf(
                model, R"({"model_type": ")" + type + R"(", "pad_token_id": 3, "initializer_range": 0.5})", "float32");
            QVERIFY2(written.find(R"("pad_token_id": 3)") != std::string::npos &&
                         written.find(R"("initializer_range": 0.5)") != std::string::npos,
                     kind);
        }
    }

    void knowsWhatIsRedundant()
    {
        KnownModel model = smallModel("gpt2");
        model.tied = true;
        QVERIFY(isRedundant(model, "transformer.h.0.attn.bias"));
        QVERIFY(isRedundant(model, "lm_head.weight"));
        QVERIFY(!isRedundant(model, "transformer.h.0.attn.c_attn.bias"));
        model.tied = false;
        QVERIFY(!isRedundant(model, "lm_head.weight"));
        model = smallModel("gpt_neox");
        model.tied = true;
        QVERIFY(isRedundant(model, "embed_out.weight"));
        model = smallModel("bert");
        for (const char* const name : {"cls.predictions.decoder.weight", "bert.pooler.dense.bias",
                                       "bert.embeddings.position_ids", "cls.seq_relationship.weight"}) {
            QVERIFY2(isRedundant(model, name), name);
        }
        QVERIFY(isOfOtherTask(model, "cls.seq_relationship.weight") && isOfOtherTask(model, "bert.pooler.dense.bias"));
        QVERIFY(!isOfOtherTask(model, "cls.predictions.bias") && !isOfOtherTask(model, "bert.embeddings.position_ids"));
        // One parameter under two names, of which one is enough.
        QVERIFY(isRedundant(model, "cls.predictions.bias") && isRedundant(model, "cls.predictions.decoder.bias"));
        QVERIFY(!isRedundant(model, "cls.predictions.transform.dense.bias"));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestKnownModel)
#include "tst_known_model.moc"
