// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_plan.h"
#include "projects/depth/mix_port.h"
#include "projects/model/topology.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace residua::projects;

namespace {

/// "0 | 0,1 | 0,(1..1),2": the sources of each reader, the final output last; the summed middle in parentheses.
std::string sourcesText(const DepthMix& mix, std::int64_t depth)
{
    QStringList readers;
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        QStringList sources;
        for (const std::int64_t source : sourcesOf(mix, target, depth)) {
            sources << QString::number(source);
        }
        if (const auto middle = summedMiddleOf(mix, target, depth)) {
            sources.insert(1, QString("(%1..%2)").arg(middle->first).arg(middle->last));
        }
        readers << (sources.isEmpty() ? "-" : sources.join(","));
    }
    return readers.join(" | ").toStdString();
}

DepthMix presetMix(const std::string& name, std::int64_t depth)
{
    const auto presets = topologyPresets(depth);
    return std::get<DepthMix>(std::ranges::find(presets, name, &TopologyPreset::name)->wiring);
}

} // namespace

class TestTopology : public QObject {
    Q_OBJECT

private slots:
    void onlyTheResidualSumRuns()
    {
        DepthMix plain;
        QVERIFY(isRunningSum(plain));
        const auto changed = [&](auto change) {
            DepthMix mix = plain;
            change(mix);
            return isRunningSum(mix);
        };
        QVERIFY(!changed([](DepthMix& m) { m.weight = WeightKind::Scalar; }));
        QVERIFY(!changed([](DepthMix& m) { m.init = MixInit::Reciprocal; }));
        QVERIFY(!changed([](DepthMix& m) { m.entry = StackEntry::Full; }));
        QVERIFY(!changed([](DepthMix& m) { m.feeds = MixFeeds::ResidualBesideBranch; }));
        QVERIFY(!changed([](DepthMix& m) { m.normalise = NormaliseOver::Sources; }));
        QVERIFY(!changed([](DepthMix& m) { m.gate.kind = GateKind::Outside; }));
        QVERIFY(!changed([](DepthMix& m) { m.sources = FirstAndLast{2}; }));
        QVERIFY(!changed([](DepthMix& m) { m.states[{0, 2}] = ShortcutState::Pruned; }));
        const auto learn = [](DepthMix& m) { m.states[{0, 2}] = ShortcutState::Learned; };
        QVERIFY(changed(learn)); // beside the sum
        QVERIFY(!changed([&](DepthMix& m) { learn(m), m.ports = MixPorts::Qkv; }));
        QVERIFY(!changed([&](DepthMix& m) { learn(m), m.states[{1, 3}] = ShortcutState::Frozen; }));
    }

    void sourcesOfPresets_data();
    void sourcesOfPresets();
    void weightsOfDilatedSources();
    void likeSitesAreJoined();
    void readersAgreeWithSingleShortcuts();
    void rulesAreListed();
    void explicitSources();
    void prunedSourcesAreNotRead();
    void sharedEntries();
    void mixesFeedPorts();
    void readersOutsideTheStackReadNothing();
    void mixSettings_data();
    void mixSettings();
};

void TestTopology::sourcesOfPresets_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<qint64>("depth");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* preset, qint64 depth, const char* expected) {
        QTest::addRow("%s, %lld layers", preset, static_cast<long long>(depth)) << preset << depth << expected;
    };
    row("plain", 3, "0 | 0,1 | 0,1,2 | 0,1,2,3");
    row("none", 3, "- | - | - | -");
    row("grn-v1", 3, "0 | 0,1 | 0,1,2 | 0,1,2,3");
    row("dca", 2, "0 | 0,1 | 0,1,2");
    row("k-dca", 5, "0 | 0,1 | 0,1,2 | 0,(1..1),2,3 | 0,(1..2),3,4 | 0,(1..3),4,5");
    row("grn-v3-last-4", 5, "0 | 0,1 | 0,1,2 | 0,1,2,3 | 1,2,3,4 | 2,3,4,5");
    row("grn-v3-input-last-3", 5, "0 | 0,1 | 0,1,2 | 0,1,2,3 | 0,2,3,4 | 0,3,4,5");
    row("ancre-ingoing", 3, "0 | 0,1 | 0,1,2 | -");
    row("ancre-outgoing", 3, "0 | 0,1 | 0,1,2 | -");
    row("ancre-cascaded", 3, "0 | 1 | 2 | -");
    row("denseformer", 2, "- | 0,1 | 0,1,2");
    row("denseformer-dilated", 10, "- | - | - | - | - | 1,5 | - | - | - | - | 2,6,10");
    row("denseformer-dilated", 11, "- | - | - | - | - | 1,5 | - | - | - | - | 2,6,10 | -");
    row("mudd", 2, "- | 0,1 | 0,1,2");
    row("attention-residuals-block", 9, "0 | 0,1 | 0,1 | 0,1 | 0,1,2 | 0,1,2 | 0,1,2 | 0,1,2,3 | 0,1,2,3 | 0,1,2,3");
    row("plain", 0, "0");
}

void TestTopology::sourcesOfPresets()
{
    QFETCH(QString, preset);
    QFETCH(qint64, depth);
    QFETCH(QString, expected);
    QCOMPARE(QString::fromStdString(sourcesText(presetMix(preset.toStdString(), depth), depth)), expected);
}

/// DenseFormer, 48 layers, 4 × 5: its released code has 62 weights. With a weight for every reader there are 114.
void TestTopology::weightsOfDilatedSources()
{
    DepthMix mix = presetMix("denseformer-dilated", 48);
    QCOMPARE(planOf(mix, 48).terms.size(), std::size_t{62});
    QVERIFY(planOf(mix, 48).readers.front().passes);
    QVERIFY(planOf(mix, 48).readers.back().passes);
    std::get<Dilated>(mix.sources).readers = DilatedReaders::All;
    QCOMPARE(planOf(mix, 48).terms.size(), std::size_t{114});
    QCOMPARE(sourcesText(mix, 10), std::string("0 | 1 | 2 | 3 | 4 | 1,5 | 6 | 7 | 8 | 9 | 2,6,10"));
    QCOMPARE(planOf(presetMix("denseformer", 6), 6).terms.size(), std::size_t{27});
}

/// The lists that are made at once say of each source what is said of one alone, whatever is pruned.
void TestTopology::readersAgreeWithSingleShortcuts()
{
    constexpr std::int64_t kDepth = 6;
    for (const TopologyPreset& preset : topologyPresets(kDepth)) {
        const auto* const made = std::get_if<DepthMix>(&preset.wiring);
        for (int variant = 0; made != nullptr && variant < 16; ++variant) {
            DepthMix mix = *made;
            mix.sites = (variant & 1) != 0 ? MixSites::Both : mix.sites;
            mix.lastMix = (variant & 2) == 0;
            mix.sitePairs = (variant & 4) != 0 ? SitePairs::Any : mix.sitePairs;
            for (std::int64_t source = 0; (variant & 8) != 0 && source < 3; ++source) {
                mix.states[{source, 3}] = ShortcutState::Pruned; // all that target 3 could read
            }
            for (std::int64_t target = 1; target <= kDepth + 1; ++target) {
                const auto readable = [&](std::int64_t source) { return isReadable(mix, {source, target}, kDepth); };
                std::vector<std::int64_t> possible;
                for (std::int64_t source = 0; target <= lastReader(mix, kDepth) && source < target; ++source) {
                    if (readable(source)) {
                        possible.push_back(source);
                    }
                }
                QCOMPARE(possibleSources(mix, target, kDepth), possible);
                for (const Pruned pruned : {Pruned::LeftOut, Pruned::Counted}) {
                    QVERIFY(std::ranges::all_of(sourcesOf(mix, target, kDepth, pruned), readable));
                    QCOMPARE(readerOf(mix, target, kDepth, pruned).passes, passesNewest(mix, target, kDepth));
                }
            }
        }
    }
}

/// A rule becomes a list of its sources: of all modules, with pruned shortcuts, without the summed middle.
void TestTopology::rulesAreListed()
{
    DepthMix mix = presetMix("k-dca", 4);
    mix.states[{0, 3}] = ShortcutState::Pruned;
    const auto listed = listedSources(mix, 4);
    QVERIFY(listed.ok());
    const std::vector<Shortcut> expected{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3},
                                         {0, 4}, {2, 4}, {3, 4}, {0, 5}, {3, 5}, {4, 5}};
    QCOMPARE(listed->shortcuts, expected);
    mix = presetMix("ancre-ingoing", 2);
    mix.sites = MixSites::Both;
    QCOMPARE(listedSources(mix, 4)->shortcuts, (std::vector<Shortcut>{{0, 2}, {1, 3}, {0, 4}, {2, 4}}));
    QVERIFY(!listedSources(mix, 1025).ok());
    QVERIFY(listedSources(mix, 1024).ok());
}

/// ANCRe, section 4.2: attention inputs are joined to attention inputs, FFN inputs to FFN inputs.
void TestTopology::likeSitesAreJoined()
{
    DepthMix mix = presetMix("ancre-ingoing", 2);
    mix.sites = MixSites::Both;
    QCOMPARE(sourcesText(mix, 4), std::string("- | 0 | 1 | 0,2 | -"));
    QVERIFY(passesNewest(mix, 1, 4) && !passesNewest(mix, 2, 4));
    QCOMPARE(planOf(mix, 8).terms.size(), std::size_t{36 + 28}); // at most 2·36
    mix.lastMix = false;
    QCOMPARE(sourcesText(mix, 4), std::string("- | 0 | 1 | - | -"));
    QVERIFY(passesNewest(mix, 4, 4));
    mix.sitePairs = SitePairs::Any;
    mix.lastMix = true;
    QCOMPARE(planOf(mix, 8).terms.size(), std::size_t{136});
    mix.sites = MixSites::Mhsa;
    mix.lastMix = false;
    QCOMPARE(planOf(mix, 8).terms.size(), std::size_t{28}); // K(K − 1)/2
}

void TestTopology::explicitSources()
{
    DepthMix mix;
    mix.sources = ExplicitSources{{{0, 1}, {-1, 2}, {5, 2}, {0, 3}, {0, 3}, {2, 3}}};
    QCOMPARE(sourcesText(mix, 3), std::string("0 | - | 0,2 | -"));
}

void TestTopology::prunedSourcesAreNotRead()
{
    DepthMix mix;
    mix.states = {{{0, 2}, ShortcutState::Pruned}, {{1, 2}, ShortcutState::Frozen}};
    QCOMPARE(sourcesText(mix, 2), std::string("0 | 1 | 0,1,2"));
}

void TestTopology::sharedEntries()
{
    DepthMix mix;
    mix.blockLayers = 2;
    // Layers 1 and 2 make entry 1; layer 2 reads it half done.
    QCOMPARE(sourcesText(mix, 4), std::string("0 | 0,1 | 0,1 | 0,1,2 | 0,1,2"));
    QCOMPARE(stackEntryOf(mix, 0), std::int64_t{0});
    QCOMPARE(stackEntryOf(mix, 2), std::int64_t{1});
    QCOMPARE(stackEntryOf(mix, 3), std::int64_t{2});
    QCOMPARE(newestEntryBefore(mix, 4), std::int64_t{2});
    QCOMPARE(lastModuleIn(mix, {1, 2}), std::int64_t{1}); // half done
    QCOMPARE(lastModuleIn(mix, {1, 3}), std::int64_t{2});
    QCOMPARE(lastModuleIn(mix, {2, 4}), std::int64_t{3});
    QCOMPARE(lastModuleIn(mix, {0, 1}), std::int64_t{0});
    QVERIFY(isReadable(mix, {2, 4}, 4));
    QVERIFY(!isReadable(mix, {3, 4}, 4));
}

void TestTopology::mixesFeedPorts()
{
    const auto one = portsOf(MixPorts::Input);
    const auto three = portsOf(MixPorts::Qkv);
    const auto four = portsOf(MixPorts::QkvResidual);
    for (const MixPort port : four) {
        QCOMPARE(mixFor(one, port), std::optional<std::size_t>(0));
    }
    QCOMPARE(mixFor(three, MixPort::Value), std::optional<std::size_t>(2));
    QCOMPARE(mixFor(three, MixPort::Residual), std::optional<std::size_t>(0)); // the query's
    QCOMPARE(mixFor(four, MixPort::Residual), std::optional<std::size_t>(3));
    QCOMPARE(mixFor(three, MixPort::Input), std::optional<std::size_t>());
    QCOMPARE(residualPort(std::vector<std::string>{"k", "q", "v"}), std::size_t{1});
    QCOMPARE(residualPort(std::vector<std::string>{"q", "residual"}), std::size_t{1});
    QCOMPARE(residualPort(std::vector<std::string>{"input"}), std::size_t{0});
}

void TestTopology::readersOutsideTheStackReadNothing()
{
    const DepthMix mix;
    QVERIFY(sourcesOf(mix, 0, 3).empty());
    QVERIFY(sourcesOf(mix, -1, 3).empty());
    QVERIFY(sourcesOf(mix, 5, 3).empty());
    QVERIFY(!summedMiddleOf(presetMix("k-dca", 3), 9, 3).has_value());
}

void TestTopology::mixSettings_data()
{
    // The papers' statements on each preset: entry, feeds, weight, normalise, init, final mix.
    QTest::addColumn<QString>("preset");
    QTest::addColumn<DepthMix>("expected");
    DepthMix grn;
    grn.weight = WeightKind::Scalar;
    QTest::newRow("grn-v1") << "grn-v1" << grn;
    grn.weight = WeightKind::PerFeature;
    QTest::newRow("grn-v2") << "grn-v2" << grn;
    grn.gate = {GateKind::Outside, GateInput::Raw, ReluGradAtZero::One};
    QTest::newRow("grn-v3") << "grn-v3" << grn;
    grn.ports = MixPorts::Qkv;
    QTest::newRow("dca") << "dca" << grn;
    DepthMix ancre;
    ancre.entry = StackEntry::Full;
    ancre.feeds = MixFeeds::ResidualBesideBranch;
    ancre.weight = WeightKind::Scalar;
    ancre.normalise = NormaliseOver::Sources;
    ancre.temperature = 0.1;
    ancre.init = MixInit::Zero;
    ancre.finalMix = false;
    QTest::newRow("ancre-ingoing") << "ancre-ingoing" << ancre;
    ancre.normalise = NormaliseOver::Targets;
    QTest::newRow("ancre-outgoing") << "ancre-outgoing" << ancre;
    DepthMix dense;
    dense.entry = StackEntry::Full;
    dense.weight = WeightKind::Scalar;
    dense.init = MixInit::Cascaded;
    dense.sources = Dilated{1, 1, DilatedReaders::OnPeriod};
    QTest::newRow("denseformer") << "denseformer" << dense;
    dense.ports = MixPorts::QkvResidual;
    dense.weight = WeightKind::PerToken;
    dense.separateNorms = true;
    QTest::newRow("mudd") << "mudd" << dense;
}

void TestTopology::mixSettings()
{
    QFETCH(QString, preset);
    QFETCH(DepthMix, expected);
    QVERIFY(presetMix(preset.toStdString(), 4) == expected);
}

RESIDUA_TEST(TestTopology)
#include "tst_topology.moc"
