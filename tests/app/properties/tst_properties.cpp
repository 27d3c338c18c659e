// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/property_editor.h"
#include "app/properties/property.h"
#include "projects/check/validate.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/towers.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/field_documents.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QLineEdit>
#include <QTest>

#include <algorithm>
#include <limits>
#include <set>

using namespace residua;
using namespace residua::app;

namespace {

std::vector<Place> placesOf(const projects::Project& project)
{
    std::vector<Place> places{ProjectPlace{}, GraphPlace{projects::GraphRef::stem()},
                              GraphPlace{projects::GraphRef::head()}, LayersPlace{{1}}};
    for (int section = 0; section <= static_cast<int>(Section::Seeds); ++section) {
        places.push_back(SectionPlace{static_cast<Section>(section)});
    }
    for (const projects::Block& block : project.network.blocks) {
        places.push_back(GraphPlace{projects::GraphRef::block(block.name)});
        for (const projects::Node& node : block.graph.nodes) {
            places.push_back(NodePlace{projects::GraphRef::block(block.name), node.id});
        }
    }
    return places;
}

/// Another value of the same kind, inside its limits.
QVariant otherValue(const Property& property)
{
    switch (property.kind) {
    case PropertyKind::Toggle:
        return !property.value.toBool();
    case PropertyKind::Integer:
        return property.value.toLongLong() +
               (property.range.contains(static_cast<std::int64_t>(property.value.toLongLong() + 1)) ? 1 : -1);
    case PropertyKind::Real:
        return property.value.toDouble() != 0 ? property.value.toDouble() / 2 : 0.25;
    case PropertyKind::Choice:
        return (property.value.toInt() + 1) % static_cast<int>(property.choices.size());
    case PropertyKind::Size:
        return property.value.toString() == "3*d" ? QStringLiteral("2*d") : QStringLiteral("3*d");
    case PropertyKind::Text:
    case PropertyKind::File:
        return QStringLiteral("other");
    }
    return {};
}

const Property* find(const std::vector<Property>& properties, const std::string& key)
{
    const auto found =
        std::find_if(properties.begin(), properties.end(), [&](const Property& p) { return p.key == key; });
    return found == properties.end() ? nullptr : &*found;
}

/// The project with its wiring set so that the field has an effect; otherwise it has no editor.
projects::Project inUse(projects::Project project, const std::string& pointer)
{
    if (pointer.starts_with("/towers/")) { // as of a first tower
        const std::string ofFirst =
            projects::pointerOfView(1, "/towers/0" + pointer.substr(std::string("/towers/N").size()));
        return projects::viewOf(inUse(projects::viewOf(std::move(project), 1), ofFirst), 1);
    }
    if (pointer.starts_with("/data/source/tokeniser/")) {
        (void)setField(project, "/data/source/tokeniser/kind",
                       static_cast<std::int64_t>(projects::TokeniserKind::SentencePiece));
    }
    if (pointer.starts_with("/data/masking/")) {
        project.network.objective = projects::Objective::MaskedToken;
    } else if (pointer.starts_with("/data/denoising/")) {
        project.network.objective = projects::Objective::Denoising;
    } else if (pointer.starts_with("/data/diffusion/")) {
        project.network.objective = projects::Objective::Diffusion;
    } else if (pointer.starts_with("/data/documents/")) {
        project.data.documents.rows = projects::DocumentRows::Single;
        if (pointer == "/data/documents/end") {
            project.data.source = projects::TokenFileData{.path = "tokens.bin", .validationPath = {}};
        } else {
            project.data.source = projects::TextData{"text.txt", {}};
        }
    } else if (pointer == "/network/label_smoothing") {
        project.network.objective = projects::Objective::Classification;
    } else if (pointer.starts_with("/data/augmentation/")) {
        project.data.source = projects::DrawnPictures{};
        project.data.augmentation.operations = 1;
    }
    if (auto* const world = std::get_if<projects::WorldData>(&project.data.source)) {
        world->kind = projects::WorldKind::Mujoco;
    }
    for (projects::Loop& loop : project.stack().loops) {
        loop.streams = projects::LoopStreams::Gated;
        loop.draw = projects::VisitDraw::Poisson;
    }
    for (projects::Loss& loss : project.losses) {
        loss.kind = pointer.ends_with("/entropy")   ? projects::LossKind::ExpectedExit
                    : pointer.ends_with("/penalty") ? projects::LossKind::Contrastive
                                                    : loss.kind;
    }
    project.training.learningRate.curve = projects::RateCurve::Cosine;
    project.training.factorDecay = projects::FactorDecay::Product;
    project.training.weightAverage = 0.9;
    project.stack().schedule.axis = projects::DropAxis::LayersAndMlp;
    project.stack().schedule.course = projects::DropCourse::Curve;
    project.stack().schedule.sampling = projects::DropSampling::First;
    if (auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
        mix != nullptr && pointer.find("hidden") != std::string::npos) {
        mix->weight = projects::WeightKind::PerToken;
    } else if (auto* const streams = std::get_if<projects::MultiStream>(&project.stack().topology.wiring)) {
        streams->weights = projects::StreamWeights::Dynamic;
        streams->constraint = projects::StreamConstraint::DoublyStochastic;
    } else if (auto* const gate = std::get_if<projects::BranchGate>(&project.stack().topology.wiring)) {
        gate->gate = pointer.ends_with("/bias")      ? projects::BranchGateKind::Highway
                     : pointer.ends_with("/epsilon") ? projects::BranchGateKind::PostNorm
                                                     : projects::BranchGateKind::LaurelRwLrPa;
    }
    return project;
}

/// True if the editor accepts the text as a value.
bool takes(PropertyEditor& editor, const QString& text)
{
    auto* const field = editor.findChild<QLineEdit*>();
    field->setText(text);
    field->setModified(true); // as if it was typed
    return editor.enter();
}

} // namespace

class TestProperties : public QObject {
    Q_OBJECT

private slots:
    void everyStageHasItsProperties()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        project.stack().schedule.stages = {{0, 2, {1}}, {100, 4, {1}}};
        const auto before = propertiesOf(project, SectionPlace{Section::Schedule}).size();
        project.stack().schedule.stages.pop_back();
        QVERIFY(propertiesOf(project, SectionPlace{Section::Schedule}).size() < before);
    }

    void everyPropertyOfEveryExampleIsReadWrittenAndUndone_data()
    {
        QTest::addColumn<QString>("example");
        for (const projects::Example& example : projects::examples()) {
            QTest::newRow(example.name.c_str()) << QString::fromStdString(example.name);
        }
    }

    void everyPropertyOfEveryExampleIsReadWrittenAndUndone()
    {
        QFETCH(QString, example);
        const projects::Document before{projects::findExample(example.toStdString())->project, {}};
        for (const Place& place : placesOf(before.project)) {
            std::set<std::string> keys;
            for (const Property& property : propertiesOf(before.project, place)) {
                const std::string name = titleOf(before.project, place).toStdString() + " / " + property.key;
                QVERIFY2(keys.insert(property.key).second, name.c_str());
                QVERIFY2(!property.title.isEmpty(), name.c_str());
                if (property.key == "reads" || (property.kind == PropertyKind::Choice && property.choices.size() < 2)) {
                    continue; // "reads" has a test of its own
                }
                const auto edit = property.edit(before.project, otherValue(property));
                QVERIFY2(edit.ok(), name.c_str());
                projects::Document document = before;
                QVERIFY2(projects::applyEdit(document, *edit).ok(), name.c_str());
                QVERIFY2(document.project != before.project, name.c_str());
            }
        }
    }

    /// The editor takes the value at an end of the range and refuses the one beyond, as validation does.
    void everyEditorHoldsToTheRangeOfItsField()
    {
        int ends = 0;
        for (const projects::FieldEntry& entry : projects::everyField()) {
            const std::vector<tests::FieldEnd> limits = tests::endsOf(entry);
            if (limits.empty()) {
                continue;
            }
            const projects::Project project = inUse(tests::documentWith(entry), entry.pointer);
            const projects::FieldEntry field = tests::fieldIn(project, entry);
            const std::vector<Property> properties = fieldProperties(project, field.pointer);
            QVERIFY2(properties.size() == 1, field.pointer.c_str());
            PropertyEditor editor(properties.front());
            for (const tests::FieldEnd& end : limits) {
                const bool whole = field.type == projects::FieldType::Integer;
                const QString text =
                    whole ? QString::number(static_cast<qlonglong>(end.value)) : QString::number(end.value, 'g', 17);
                QVERIFY2(takes(editor, text) == end.accepted, field.pointer.c_str());
                ++ends;
            }
        }
        QVERIFY(ends > 100);
    }

    void theInspectorSaysWhatTheSchemaSays()
    {
        for (const projects::FieldEntry& entry : projects::everyField()) {
            const projects::Project project = tests::documentWith(entry);
            const projects::FieldEntry field = tests::fieldIn(project, entry);
            for (const Property& property : fieldProperties(project, field.pointer)) {
                QCOMPARE(property.title.toStdString(), projects::headline(field.field.title));
                QCOMPARE(property.unit.toStdString(), std::string(field.field.more.unit));
                QVERIFY(property.toolTip().contains(QString::fromStdString(std::string(field.field.help))));
                QVERIFY(!property.toolTip().contains("Default: \n") && !property.toolTip().endsWith("Default: "));
                QCOMPARE(property.choices.size(), static_cast<qsizetype>(field.choices.size()));
            }
        }
    }

    /// Values that the inspector accepted and validation refused when each had limits of its own.
    void limitsThatHadDriftedApart_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<std::string>("pointer");
        QTest::addColumn<QString>("refused");
        const auto row = [](const char* pointer, const char* refused, const char* example = "ancre-language") {
            QTest::newRow(pointer) << QString(example) << std::string(pointer) << QString(refused);
        };
        row("/network/stack/0/repeat", "4097");
        row("/network/width", "1000001");
        row("/training/optimiser/beta1", "1");
        row("/training/learning_rate/peak", "0");
        row("/training/batch", "10000001");
        row("/topology/wiring/tsallis/q", "0");
        row("/data/source/vocabulary", "10");
        row("/data/validation_fraction", "1");
        row("/initialisation/scale", "1001");
    }

    void limitsThatHadDriftedApart()
    {
        QFETCH(QString, example);
        QFETCH(std::string, pointer);
        QFETCH(QString, refused);
        const projects::Project project = projects::findExample(example.toStdString())->project;
        PropertyEditor editor(fieldProperties(project, pointer).front());
        QVERIFY(!takes(editor, refused));
    }

    void streamsHaveTheirLimitToo()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        project.stack().topology.wiring = projects::MultiStream{};
        PropertyEditor editor(fieldProperties(project, "/topology/wiring/streams").front());
        QVERIFY(!takes(editor, "65"));
    }

    void aBatchIsCountedInExamplesEverywhere()
    {
        for (const char* example : {"ancre-language", "linear-ancre"}) {
            const projects::Project project = projects::findExample(example)->project;
            QCOMPARE(fieldProperties(project, "/training/batch").front().unit, QString("examples"));
        }
    }

    void aHeadingStandsOnce()
    {
        for (const projects::Example& example : projects::examples()) {
            for (const Section section : {Section::Data, Section::Topology, Section::Training, Section::Schedule}) {
                QStringList groups;
                for (const Property& property : propertiesOf(example.project, SectionPlace{section})) {
                    if (groups.isEmpty() || groups.back() != property.group) {
                        QVERIFY2(!groups.contains(property.group), qPrintable(property.group));
                        groups << property.group;
                    }
                }
            }
        }
    }

    void aSizeKeepsItsFormula()
    {
        projects::Document document{projects::findExample("ancre-language")->project, {}};
        const auto block = projects::GraphRef::block(document.project.network.blocks.front().name);
        for (const projects::Node& node : document.project.network.blocks.front().graph.nodes) {
            const NodePlace place{block, node.id};
            const auto properties = propertiesOf(document.project, place);
            const auto size = std::find_if(properties.begin(), properties.end(),
                                           [](const Property& p) { return p.kind == PropertyKind::Size; });
            if (size == properties.end()) {
                continue;
            }
            QVERIFY(projects::applyEdit(document, *size->edit(document.project, "2*d")).ok());
            const auto changed = propertiesOf(document.project, place);
            QCOMPARE(find(changed, size->key)->value.toString(), QString("2*d"));
            return;
        }
        QFAIL("no node of the first example has a size");
    }

    /// A setting that others leave without meaning is not offered, but where the node says something of it.
    void settingsShowWhereTheyMeanSomething()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        projects::Block& block = project.network.blocks.front();
        const auto attention = std::ranges::find(block.graph.nodes, std::string("attention"), &projects::Node::kind);
        QVERIFY(attention != block.graph.nodes.end());
        const NodePlace place{projects::GraphRef::block(block.name), attention->id};
        const auto shown = [&](std::map<std::string, projects::ParamValue> params) {
            attention->params = std::move(params);
            std::set<std::string> keys;
            for (const Property& property : propertiesOf(project, place)) {
                if (property.key.starts_with("param.")) {
                    keys.insert(property.key.substr(6));
                }
            }
            return keys;
        };
        const std::set<std::string> usual = shown({});
        QVERIFY(usual.contains("window") && usual.contains("rope_base") && usual.contains("dropout"));
        for (const char* const hidden :
             {"norm_eps", "features", "features_start", "rope_factor", "rope_low_frequency"}) {
            QVERIFY2(!usual.contains(hidden), hidden);
        }
        const std::set<std::string> still = shown({{"rope", false}, {"rope_scaling", std::string("llama3")}});
        QVERIFY(!still.contains("rope_base") && !still.contains("rotary_share") && !still.contains("rope_factor"));
        QVERIFY(still.contains("rope_scaling")); // the node says something of it
        QVERIFY(shown({{"rope_scaling", std::string("linear")}}).contains("rope_factor"));
        QVERIFY(!shown({{"rope_scaling", std::string("linear")}}).contains("rope_original_length"));
        QVERIFY(shown({{"rope_scaling", std::string("llama3")}}).contains("rope_original_length"));
        QVERIFY(shown({{"qk_norm", std::string("all")}}).contains("norm_eps"));
        QVERIFY(!shown({{"causal", false}}).contains("window"));
        const std::set<std::string> performer = shown({{"weights", std::string("performer")}, {"dropout", 0.1}});
        QVERIFY(performer.contains("features") && !performer.contains("window"));
        QVERIFY(performer.contains("dropout")); // which is what is wrong
    }

    void readsAddsAndRemovesShortcuts()
    {
        projects::Document document{projects::findExample("linear-ancre")->project, {}};
        const auto reads = [&] { return *find(propertiesOf(document.project, LayersPlace{{3}}), "reads"); };
        const auto edit = reads().edit(document.project, "0, 2");
        QVERIFY(edit.ok());
        QVERIFY(projects::applyEdit(document, *edit).ok());
        QCOMPARE(reads().value.toString(), QString("0 2"));
        const auto back = reads().edit(document.project, "0 1 2");
        QVERIFY(projects::applyEdit(document, *back).ok());
        QCOMPARE(reads().value.toString(), QString("0 1 2"));

        const auto wrong = reads().edit(document.project, "0 3");
        QVERIFY(!wrong.ok());
        QVERIFY(QString::fromStdString(wrong.error().text()).contains("0 to 2"));
    }

    /// In a loop, sources are named by their visits; a name without one is that of the latest visit.
    void readsNamesVisits()
    {
        projects::Document document{projects::findExample("linear-ancre")->project, {}};
        auto& stack = document.project.stack();
        stack.segments.front().repeat = 4;
        stack.loops = {{.first = 2, .last = 3, .visits = 2}}; // 1 2@1 3@1 2@2 3@2 4
        const auto reads = [&] { return *find(propertiesOf(document.project, LayersPlace{{5}}), "reads"); };
        QCOMPARE(reads().value.toString(), QString("0 1 2@1 3@1 2@2"));
        QVERIFY(projects::applyEdit(document, *reads().edit(document.project, "0 2 3")).ok());
        QCOMPARE(reads().value.toString(), QString("0 3@1 2@2"));
        QVERIFY(projects::applyEdit(document, *reads().edit(document.project, "2@1 L-3")).ok());
        QCOMPARE(reads().value.toString(), QString("1 2@1"));
        for (const char* const wrong : {"3@2", "4", "2@3", "x"}) {
            const auto refused = reads().edit(document.project, wrong);
            QVERIFY2(!refused.ok() && refused.error().text().find("2@1") != std::string::npos, wrong);
        }
    }

    /// A rule stays a rule, with an exception, as where a shortcut is deleted.
    void readsKeepsTheRule()
    {
        projects::Document document{projects::findExample("linear-ancre")->project, {}};
        const auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
        const auto rule = mix.sources;
        const auto reads = [&] { return *find(propertiesOf(document.project, LayersPlace{{3}}), "reads"); };
        QVERIFY(projects::applyEdit(document, *reads().edit(document.project, "0 2")).ok());
        QVERIFY(mix.sources == rule);
        QVERIFY(mix.states.at({1, 3}) == projects::ShortcutState::Pruned);
        QVERIFY(projects::applyEdit(document, *reads().edit(document.project, "0 1 2")).ok());
        QVERIFY(mix.states.empty());
    }

    /// Chosen shortcuts begin as those that the rule reads, in both halves of every layer.
    void choosingShortcutsBeginsWithWhatIsRead()
    {
        projects::Document document{projects::findExample("ancre-language")->project, {}};
        auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
        mix.sites = projects::MixSites::Both;
        mix.states[{0, 4}] = projects::ShortcutState::Pruned;
        const projects::DepthMix before = mix;
        const auto properties = propertiesOf(document.project, SectionPlace{Section::Topology});
        const Property* const sources = find(properties, "/topology/wiring/sources/kind");
        QVERIFY(sources != nullptr);
        const int chosen = 3;
        const auto edit = sources->edit(document.project, chosen);
        QVERIFY(edit.ok());
        QVERIFY(projects::applyEdit(document, *edit).ok());
        QVERIFY(std::holds_alternative<projects::ExplicitSources>(mix.sources));
        QCOMPARE(mix.states, before.states);
        const std::int64_t modules = 2 * document.project.network.depth();
        for (std::int64_t target = 1; target <= modules + 1; ++target) {
            QCOMPARE(sourcesOf(mix, target, modules), sourcesOf(before, target, modules));
        }
        QVERIFY(sourcesOf(mix, modules, modules).size() > 1);
    }

    void statesOfAShortcutAreThoseOfTheSchema()
    {
        projects::Document document{projects::findExample("linear-ancre")->project, {}};
        const projects::Shortcut shortcut{0, 2};
        const auto state = [&] { return *find(propertiesOf(document.project, ShortcutsPlace{{shortcut}}), "state"); };
        const QStringList choices{"As in the topology", "Frozen", "Pruned", "Learned"};
        QCOMPARE(state().choices, choices);
        const auto edit = state().edit(document.project, static_cast<int>(choices.indexOf("Pruned")));
        QVERIFY(projects::applyEdit(document, *edit).ok());
        const auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
        QVERIFY(mix.states.at(shortcut) == projects::ShortcutState::Pruned);
        QCOMPARE(state().valueText(), QString("Pruned"));
    }

    void topologyPresetsAreAChoice()
    {
        projects::Document document{projects::findExample("ancre-language")->project, {}};
        const std::vector<projects::Block> plain = document.project.network.blocks; // which read one input
        const auto presets = projects::topologyChoices(document.project.network);
        const Place place = SectionPlace{Section::Topology};
        for (std::size_t i = 0; i < presets.size(); ++i) {
            const auto properties = propertiesOf(document.project, place);
            const auto edit = find(properties, "preset")->edit(document.project, static_cast<int>(i));
            QVERIFY(projects::applyEdit(document, *edit).ok());
            QCOMPARE(projects::presetIndexOf(document.project, presets), std::optional(i));
            // As the blocks are then: what feeds q, k and v apart has no halves to act at.
            const auto fitting = projects::topologyChoices(document.project.network);
            QVERIFY(document.project.stack().topology.wiring == fitting[i].wiring);
            QVERIFY(document.project.network.blocks != plain ||
                    document.project.stack().topology.wiring == presets[i].wiring);
        }
    }

    /// A wiring shows the fields that it has as it is set, and no others.
    void aWiringShowsTheFieldsThatItHas_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("shown");
        QTest::addColumn<QString>("hidden");
        const QString depth = "site_pairs last_mix hidden_multiple final_hidden tsallis/q temperature gate/vectors";
        QTest::newRow("grn-v1") << "grn-v1"
                                << "entry weight sites init" << depth + " separate_norms";
        QTest::newRow("dca") << "dca"
                             << "separate_norms gate/vectors gate/input"
                             << "last_mix temperature hidden_multiple";
        QTest::newRow("ancre") << "ancre-ingoing"
                               << "last_mix temperature tsallis/weight"
                               << "site_pairs hidden_multiple separate_norms gate/input";
        QTest::newRow("mudd") << "mudd"
                              << "hidden_multiple final_hidden separate_norms"
                              << "last_mix gate/vectors";
        QTest::newRow("attention residuals") << "attention-residuals"
                                             << "temperature"
                                             << "tsallis/q site_pairs";
        QTest::newRow("static streams") << "hyper-static"
                                        << "streams scale_outputs"
                                        << "dynamic_scale norm sinkhorn_iterations start";
        QTest::newRow("mhc") << "mhc"
                             << "dynamic_scale norm sinkhorn_iterations start"
                             << "entry";
        QTest::newRow("ihc") << "ihc"
                             << "dynamic_scale exit"
                             << "sinkhorn_iterations start";
        QTest::newRow("fractions") << "frac-static"
                                   << "state streams"
                                   << "exit scale_outputs start";
        QTest::newRow("rezero") << "rezero"
                                << "gate sites"
                                << "rank window bias bound";
        QTest::newRow("highway") << "highway"
                                 << "bias sites"
                                 << "rank window bound";
        QTest::newRow("laurel-rw") << "laurel-rw"
                                   << "bound"
                                   << "rank window bias";
        QTest::newRow("laurel-lr") << "laurel-lr"
                                   << "rank"
                                   << "window bias bound";
        QTest::newRow("laurel-rw-lr-pa") << "laurel-rw-lr-pa"
                                         << "rank window bound"
                                         << "bias";
        QTest::newRow("value residual") << "value-residual"
                                        << "gate"
                                        << "rank window bias bound sites";
    }
    void aWiringShowsTheFieldsThatItHas()
    {
        QFETCH(QString, preset);
        QFETCH(QString, shown);
        QFETCH(QString, hidden);
        projects::Project project = projects::findExample("plain-language")->project;
        const auto presets = projects::topologyChoices(project.network);
        project.stack().topology.preset = preset.toStdString();
        project.stack().topology.wiring =
            std::ranges::find(presets, project.stack().topology.preset, &projects::TopologyPreset::name)->wiring;
        const auto properties = propertiesOf(project, SectionPlace{Section::Topology});
        for (const auto& [keys, expected] : {std::pair(shown, true), std::pair(hidden, false)}) {
            for (const QString& key : keys.split(' ')) {
                const bool there = find(properties, "/topology/wiring/" + key.toStdString()) != nullptr;
                QVERIFY2(there == expected, qPrintable(key));
            }
        }
    }

    /// Also where the rest of the document leaves the field without effect, which may be the error.
    void everyErrorOfAFieldHasAnEditor()
    {
        std::set<std::string> found;
        const auto check = [&found](const projects::Project& project) {
            for (const projects::Problem& problem : projects::validate(project)) {
                const auto field = projects::findField(project, problem.path);
                if (problem.severity != projects::Severity::Error || !field ||
                    field->type == projects::FieldType::Other || field->hasOwnEdits ||
                    field->field.more.need != projects::Need::Optional) {
                    continue;
                }
                found.insert(problem.path);
                QVERIFY2(fieldProperties(project, problem.path).size() == 1, problem.path.c_str());
            }
        };
        projects::Project project = projects::findExample("ancre-language")->project;
        projects::DepthMix mix;
        mix.lastMix = false;
        mix.tsallis.weight = 0.1;
        project.stack().topology.wiring = mix;
        check(project);
        QVERIFY(found.contains("/topology/wiring/last_mix") && found.contains("/topology/wiring/tsallis/weight"));
        mix.weight = projects::WeightKind::PerToken;
        mix.normalise = projects::NormaliseOver::Sources;
        project.stack().topology.wiring = mix;
        check(project);
        for (std::uint32_t round = 0; round < 300; ++round) {
            check(tests::RandomDocument(tests::randomSeed() + round).document().project);
        }
        QVERIFY2(found.size() > 20, std::to_string(found.size()).c_str());
    }

    void aLoopIsAPlace()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        project.stack().loops = {{.first = 2, .last = 3, .visits = 3}};
        const Place loop = LoopPlace{0};
        QVERIFY(exists(project, loop) && !exists(project, LoopPlace{1}));
        QCOMPARE(titleOf(project, loop), QString("Loop of layers 2–3"));
        QVERIFY(subtitleOf(project, loop).endsWith("2 stored, 6 executed"));
        const projects::Selection all = selectionOfPlace(project, loop);
        QCOMPARE(all.layers, (std::set<std::int64_t>{2, 3, 4, 5, 6, 7}));
        QVERIFY(placeOfSelection(project, all) == loop);
        QVERIFY(placeOfPointer(project, "/network/loops/0/visits") == loop);
        QCOMPARE(titleOf(project, LayersPlace{{5}}), QString("Layer 3@2"));
        QCOMPARE(titleOf(project, LayersPlace{{3, 5, 7}}), QString("Layer 3, all visits"));
        std::set<std::string> keys;
        for (const Property& property : propertiesOf(project, loop)) {
            keys.insert(property.key);
            QVERIFY2(!property.help.isEmpty(), property.key.c_str());
        }
        for (const projects::FieldEntry& field : projects::fieldsOf(project, pointerOf(LoopPlace{0}))) {
            QVERIFY2(field.isIdle || keys.contains(field.pointer), field.pointer.c_str());
        }
        QVERIFY(!propertiesOf(project, LayersPlace{{7}}).empty()); // a visit beyond the stored layers
        for (const Property& property : propertiesOf(project, SectionPlace{Section::Network})) {
            QVERIFY2(!property.key.starts_with("/network/loops"), property.key.c_str());
        }
        project.stack().loops.front().last = 99; // has no effect, but can be mended
        QVERIFY(exists(project, loop) && !propertiesOf(project, loop).empty());
        QVERIFY(selectionOfPlace(project, loop).layers.empty());
        project.stack().loops.front().first = std::numeric_limits<std::int64_t>::min();
        QCOMPARE(subtitleOf(project, loop), QString("Is invalid and has no effect"));
    }

    void problemsFindTheirPlace()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        project.training.steps = 0;
        const auto problems = projects::validate(project);
        QVERIFY(!problems.empty());
        QVERIFY(placeOfPointer(project, problems.front().path) == Place(SectionPlace{Section::Training}));
        QVERIFY(placeOfPointer(project, "/network/stem/nodes/0/params") ==
                Place(NodePlace{projects::GraphRef::stem(), project.network.stem.nodes[0].id}));
        QVERIFY(placeOfPointer(project, "/network/blocks/0/graph/nodes/1") ==
                Place(NodePlace{projects::GraphRef::block(project.network.blocks[0].name),
                                project.network.blocks[0].graph.nodes[1].id}));
        QVERIFY(placeOfPointer(project, "/schedule/stages/0") == Place(SectionPlace{Section::Schedule}));
        QVERIFY(placeOfPointer(project, "") == Place(ProjectPlace{}));
    }
};

RESIDUA_TEST_IN(QApplication, TestProperties)
#include "tst_properties.moc"
