// SPDX-License-Identifier: GPL-3.0-or-later
// The fields that a sweep can vary, with their values and the proposals for them.
#include "app/properties/property.h"
#include "app/sweeps/sweep_fields.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QTest>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

using namespace residua;
using namespace residua::app;

namespace {

projects::Project unswept()
{
    projects::Project project = projects::findExample("linear-ancre")->project;
    project.sweeps.clear();
    return project;
}

} // namespace

class TestSweepFields : public QObject {
    Q_OBJECT

private slots:
    /// For each property in the inspector, the field that is found for it accepts the proposed values.
    void everyPropertyLeadsToItsField()
    {
        int found = 0;
        for (const Section section : {Section::Training, Section::Topology, Section::Initialisation, Section::Seeds,
                                      Section::Network, Section::Schedule}) {
            for (const Property& property : propertiesOf(unswept(), SectionPlace{section})) {
                const auto axis = sweepAxisOf(unswept(), property);
                if (!axis) {
                    continue;
                }
                ++found;
                QVERIFY2(axis->values.size() >= 1, qPrintable(property.title));
                for (const projects::SweepValue& value : axis->values) {
                    const auto set = projects::withField(unswept(), axis->field, value.value);
                    QVERIFY2(set.ok(), set.ok() ? "" : qPrintable(QString::fromStdString(set.error().text())));
                }
            }
        }
        QVERIFY(found > 20);
    }

    void aPropertysFieldIsTheOneThatItEdits()
    {
        for (const Property& property : propertiesOf(unswept(), SectionPlace{Section::Training})) {
            if (property.key == "/training/learning_rate/peak") {
                const auto axis = sweepAxisOf(unswept(), property);
                QVERIFY(axis.has_value());
                QCOMPARE(axis->field, std::string("/training/learning_rate/peak"));
                QCOMPARE(axis->values.size(), std::size_t(3));
                return;
            }
        }
        QFAIL("no peak rate among the properties");
    }

    /// A sweep varies a choice of alternatives as a whole, each with its defaults. A node's setting has its own
    /// pointer.
    void choicesAndSettingsOfNodesAreFieldsToo()
    {
        const projects::Project project = projects::findExample("ancre-language")->project;
        const auto axisOf = [&](const Place& place, const std::string& key) {
            for (const Property& property : propertiesOf(project, place)) {
                if (property.key == key) {
                    return sweepAxisOf(project, property);
                }
            }
            return std::optional<projects::SweepAxis>();
        };
        const auto optimiser = axisOf(SectionPlace{Section::Training}, "/training/optimiser/kind");
        QVERIFY(optimiser.has_value());
        QCOMPARE(optimiser->field, std::string("/training/optimiser"));
        QCOMPARE(optimiser->values.size(), std::variant_size_v<projects::Optimiser>);
        QVERIFY(projects::withField(project, optimiser->field, optimiser->values[1].value).ok());
        const projects::Graph& graph = project.network.blocks.front().graph;
        const auto block = projects::GraphRef::block(project.network.blocks.front().name);
        int settings = 0;
        for (const projects::Node& node : graph.nodes) {
            for (const Property& property : propertiesOf(project, NodePlace{block, node.id})) {
                const auto axis = property.key.starts_with("param.") ? sweepAxisOf(project, property) : std::nullopt;
                if (axis) {
                    ++settings;
                    QVERIFY(projects::withField(project, axis->field, axis->values.back().value).ok());
                }
            }
        }
        QVERIFY(settings > 0);
        const std::vector<SweepField> fields = sweepableFields(project);
        for (const char* pointer : {"/training/optimiser", "/training/optimiser/beta1", "/topology", "/seeds"}) {
            QVERIFY2(std::ranges::find(fields, pointer, &SweepField::pointer) != fields.end(), pointer);
        }
    }

    void valuesAreTypedWithCommas()
    {
        const auto values = valuesFrom("0.5, 1, plain, {\"kind\": \"all\"}", {});
        QCOMPARE(values.size(), std::size_t(4));
        QCOMPARE(values[0].value.json, std::string("0.5"));
        QCOMPARE(values[2].value.json, std::string("\"plain\""));
        QCOMPARE(valuesFrom(textOf(values), {}), values);
        const std::vector<projects::SweepValue> known{{"half", {"0.5"}}};
        QCOMPARE(valuesFrom("0.5, 2", known)[0].label, std::string("half"));
        QCOMPARE(valuesFrom("0.5, 2", known)[1].label, std::string());
        QVERIFY(valuesFrom("", {}).empty());
    }

    void shortcutsOfEachSpanAreProposed()
    {
        const auto proposals = proposalsFor(unswept(), "/topology");
        QVERIFY(proposals.size() >= 2);
        for (const ValueProposal& proposal : proposals) {
            for (const projects::SweepValue& value : proposal.values) {
                const auto set = projects::withField(unswept(), "/topology", value.value);
                QVERIFY2(set.ok(), set.ok() ? "" : qPrintable(QString::fromStdString(set.error().text())));
            }
        }
    }

    /// A file may have any text as the name of a field.
    void oddFieldsHaveNoValue()
    {
        for (const char* field : {"", "a", "/", "/a~", "/~2", "/network/stack/01", "/network/stack/-"}) {
            QCOMPARE(valueAt(unswept(), field), std::string());
            QVERIFY(proposalsFor(unswept(), field).empty());
        }
        QCOMPARE(valueAt(unswept(), "/network/stack/0/repeat"), std::string("3"));
    }
};

RESIDUA_TEST_IN(QApplication, TestSweepFields)
#include "tst_sweep_fields.moc"
