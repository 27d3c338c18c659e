// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property.h"
#include "projects/check/validate.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace residua;
using namespace residua::app;

namespace {

std::vector<Place> placesOf(const projects::Project& project)
{
    std::vector<Place> places{ProjectPlace{}, GraphPlace{"stem"}, GraphPlace{"head"}, LayersPlace{{1}}};
    for (int section = 0; section <= static_cast<int>(Section::Seeds); ++section) {
        places.push_back(SectionPlace{static_cast<Section>(section)});
    }
    for (const projects::Block& block : project.network.blocks) {
        places.push_back(GraphPlace{"block:" + block.name});
        for (const projects::Node& node : block.graph.nodes) {
            places.push_back(NodePlace{"block:" + block.name, node.id});
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
        return property.value.toLongLong() + (property.value.toDouble() < property.maximum ? 1 : -1);
    case PropertyKind::Real:
        return property.value.toDouble() > property.minimum && property.value.toDouble() != 0
                   ? property.value.toDouble() / 2
                   : property.maximum / 4;
    case PropertyKind::Choice:
        return (property.value.toInt() + 1) % static_cast<int>(property.choices.size());
    case PropertyKind::Size:
        return QStringLiteral("3*d");
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

} // namespace

class TestProperties : public QObject {
    Q_OBJECT

private slots:
    void everyStageHasItsProperties()
    {
        projects::Project project = projects::examples().front().project;
        project.stages.stages = {{0, 2, {1}}, {100, 4, {1}}};
        const auto before = propertiesOf(project, SectionPlace{Section::Stages}).size();
        project.stages.stages.pop_back();
        QVERIFY(propertiesOf(project, SectionPlace{Section::Stages}).size() < before);
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
                const auto inverse = projects::applyEdit(document, *edit);
                QVERIFY2(inverse.ok(), name.c_str());
                QVERIFY2(document.project != before.project, name.c_str());
                QVERIFY2(projects::applyEdit(document, *inverse).ok(), name.c_str());
                QVERIFY2(document == before, name.c_str());
            }
        }
    }

    void aSizeKeepsItsFormula()
    {
        projects::Document document{projects::examples().front().project, {}};
        const std::string block = "block:" + document.project.network.blocks.front().name;
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

    void topologyPresetsAreAChoice()
    {
        projects::Document document{projects::examples().front().project, {}};
        const auto presets = projects::topologyPresets(document.project.network.depth());
        const Place place = SectionPlace{Section::Topology};
        for (std::size_t i = 0; i < presets.size(); ++i) {
            const auto properties = propertiesOf(document.project, place);
            const auto edit = find(properties, "preset")->edit(document.project, static_cast<int>(i));
            QVERIFY(projects::applyEdit(document, *edit).ok());
            QCOMPARE(document.project.topology.preset, presets[i].name);
            QVERIFY(document.project.topology.wiring == presets[i].wiring);
        }
    }

    void problemsFindTheirPlace()
    {
        projects::Project project = projects::examples().front().project;
        project.training.steps = 0;
        const auto problems = projects::validate(project);
        QVERIFY(!problems.empty());
        QVERIFY(placeOfPointer(project, problems.front().path) == Place(SectionPlace{Section::Training}));
        QVERIFY(placeOfPointer(project, "/network/stem/nodes/0/params") ==
                Place(NodePlace{"stem", project.network.stem.nodes[0].id}));
        QVERIFY(
            placeOfPointer(project, "/network/blocks/0/graph/nodes/1") ==
            Place(NodePlace{"block:" + project.network.blocks[0].name, project.network.blocks[0].graph.nodes[1].id}));
        QVERIFY(placeOfPointer(project, "/schedule/stages/0") == Place(SectionPlace{Section::Stages}));
        QVERIFY(placeOfPointer(project, "") == Place(ProjectPlace{}));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestProperties)
#include "tst_properties.moc"
