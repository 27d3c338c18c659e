// SPDX-License-Identifier: GPL-3.0-or-later
// The rule of a parameter, and the states that its algorithm declares.
#include "projects/file/json.h"
#include "projects/model/optimiser.h"
#include "projects/model/project.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua::projects;

namespace {

using Dims = std::vector<std::int64_t>;

TrainedParameter hidden(Dims shape)
{
    return {.name = "layers.2.up.weight", .shape = std::move(shape)};
}

/// "row [3, 9], step []"
QString statesText(const Optimiser& algorithm, const TrainedParameter& parameter)
{
    QStringList parts;
    for (const OptimiserState& state : statesOf(algorithm, parameter)) {
        QStringList sides;
        for (const std::int64_t side : state.shape) {
            sides << QString::number(side);
        }
        parts << QString::fromStdString(std::string(state.name)) + " [" + sides.join(", ") + "]";
    }
    return parts.join(", ");
}

class TestOptimiser : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void patterns_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char* pattern, bool matches) { QTest::newRow(pattern) << pattern << matches; };
        row("*", true);
        row("layers.12.up.weight", true);
        row("layers.1", false);
        row("layers.1*", true);
        row("layers.*.weight", true);
        row("*.bias", false);
        row("*up*", true);
        row("*.12.*.weight", true);
        row("layers.*.up.*.weight", false);
        row("layers.12.up.weight*", true);
        row("", false);
    }
    void patterns()
    {
        QFETCH(QString, pattern);
        QFETCH(bool, matches);
        QCOMPARE(matchesPattern("layers.12.up.weight", pattern.toStdString()), matches);
    }

    void roles()
    {
        const Dims matrix{4, 3};
        QCOMPARE(parameterRoleOf(hidden(matrix)), ParameterRole::Hidden);
        QCOMPARE(parameterRoleOf({"head.logits.weight", matrix}), ParameterRole::Head);
        QCOMPARE(parameterRoleOf({"stem.project.weight", matrix}), ParameterRole::Embedding);
        QCOMPARE(parameterRoleOf({"layers.1.positions.weight", matrix, ParameterClass::Table}),
                 ParameterRole::Embedding);
        QCOMPARE(parameterRoleOf({"topology.coefficient", matrix}), ParameterRole::Topology);
        QCOMPARE(parameterRoleOf({"layers.1.up.bias", {4}, ParameterClass::Vector}), ParameterRole::Vector);
        QCOMPARE(parameterRoleOf({"layers.1.attention.features", {2, 4, 3}, ParameterClass::Vector}),
                 ParameterRole::Vector);
    }

    void states_data()
    {
        QTest::addColumn<QString>("states");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const Optimiser& algorithm, const TrainedParameter& parameter,
                            const char* expected) {
            QTest::newRow(name) << statesText(algorithm, parameter) << expected;
        };
        const TrainedParameter gain{"layers.1.norm.weight", {512}, ParameterClass::Vector};
        row("AdamW", AdamW{}, hidden({8, 3}), "mean [8, 3], square [8, 3], step []");
        row("descent", Sgd{}, hidden({8, 3}), "");
        row("momentum", Sgd{.momentum = 0.9}, hidden({8, 3}), "momentum [8, 3]");
        row("Adafactor", Adafactor{}, hidden({512, 128}), "row [128], column [512], step []");
        row("Adafactor, square", Adafactor{}, hidden({128, 128}), "row [128], column [128], step []");
        row("Adafactor, a short side", Adafactor{}, hidden({512, 127}), "square [512, 127], step []");
        row("Adafactor, the two largest of a kernel", Adafactor{}, hidden({256, 128, 3, 3}),
            "row [128, 3, 3], column [256, 3, 3], step []");
        row("Adafactor, a gain", Adafactor{}, gain, "square [512], step []");
        row("Adafactor, the topology", Adafactor{}, {"topology.3.weight", {512, 512}}, "square [512, 512], step []");
        row("GaLore, tall", Galore{.rank = 4}, hidden({16, 8}), "mean [16, 4], square [16, 4], step [], right [4, 8]");
        row("GaLore, wide", Galore{.rank = 4}, hidden({8, 16}), "mean [4, 16], square [4, 16], step [], left [8, 4]");
        row("GaLore, the longer side", Galore{.rank = 4, .side = GaloreSide::Longer}, hidden({16, 8}),
            "mean [4, 8], square [4, 8], step [], left [16, 4]");
        row("GaLore, both sides", Galore{.rank = 4, .side = GaloreSide::Both}, hidden({16, 8}),
            "mean [4, 4], square [4, 4], step [], left [16, 4], right [4, 8]");
        row("GaLore, at most the side", Galore{}, hidden({16, 8}),
            "mean [16, 8], square [16, 8], step [], right [8, 8]");
        row("GaLore, the head", Galore{.rank = 4}, {"head.logits.weight", {16, 8}},
            "mean [16, 8], square [16, 8], step []");
        row("Muon", Muon{}, hidden({8, 3}), "momentum [8, 3]");
        row("Lion", Lion{}, gain, "momentum [512]");
    }
    void states()
    {
        QFETCH(QString, states);
        QFETCH(QString, expected);
        QCOMPARE(states, expected);
    }

    void muonLeavesTheRestToAdam()
    {
        const Muon muon{.weightDecay = 0.5, .rest = {.beta1 = 0.7, .weightDecay = 0.25}, .restRate = 0.125};
        const UpdateRule matrix = ruleOf(muon, {}, hidden({4, 3}));
        QVERIFY(matrix == (UpdateRule{muon, 1.0, 0.5}));
        const UpdateRule head = ruleOf(muon, {}, {"head.logits.weight", {4, 3}});
        QVERIFY(head == (UpdateRule{muon.rest, 0.125, 0.25}));
        const std::vector<ParameterGroup> groups{{.names = "head.*", .optimiser = muon, .rateScale = 2}};
        QCOMPARE(ruleOf(Lion{}, groups, {"head.logits.weight", {4, 3}}).rateScale, 0.25);
    }

    /// A file that names no groups, as every older one does, and one with all there is.
    void filesKeepGroups()
    {
        Project project;
        project.training.optimiser = AdamW{.beta2 = 0.95};
        std::string old = toJson(project);
        const std::string groups = "\"groups\": [],";
        QVERIFY(old.find(groups) != std::string::npos);
        old.erase(old.find(groups), groups.size());
        const auto read = projectFromJson(old);
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QVERIFY(read->training == project.training);
        project.training.optimiser = Muon{.scaling = MuonScaling::Moonlight, .rest = {.beta1 = 0.5}};
        project.training.groups = {
            {.names = "layers.1.*", .optimiser = Galore{.side = GaloreSide::Both}},
            {.role = ParameterRole::Vector, .optimiser = Adafactor{}, .rateScale = 0.5, .decay = GroupDecay::None}};
        const auto again = projectFromJson(toJson(project));
        QVERIFY2(again.ok(), again ? "" : again.error().text().c_str());
        QVERIFY(again->training == project.training);
    }
};

} // namespace

RESIDUA_TEST(TestOptimiser)
#include "tst_optimiser.moc"
