// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/presets.h"
#include "tests/projects/mix_of.h"
#include "tests/projects/problem_rows.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

using namespace residua::projects;
using namespace residua::tests;

namespace {

void usePreset(Project& project, const std::string& name)
{
    for (const TopologyPreset& preset : topologyPresets(project.network)) {
        if (preset.name == name) {
            project.stack().topology = {name, preset.wiring};
        }
    }
}

} // namespace

class TestValidateTopology : public QObject {
    Q_OBJECT

private slots:
    void mistakesAreNamed_data();
    void mistakesAreNamed();
};

void TestValidateTopology::mistakesAreNamed_data()
{
    rows();
    const auto row = [](const char* name, ProjectChange change, const char* expected) {
        QTest::newRow(name) << change << expected;
    };
    row(
        "temperature", [](Project& p) { mixOf(p).temperature = 0; },
        "E /topology/wiring/temperature [topology · temperature] got 0, expected more than 0");
    row(
        "Tsallis",
        [](Project& p) {
            mixOf(p).tsallis = {0.0, 0.1};
        },
        "E /topology/wiring/tsallis/q [topology · Tsallis entropy · q] got 0, expected more than 0");
    row(
        "Tsallis of fixed weights",
        [](Project& p) {
            usePreset(p, "ancre-fixed");
            mixOf(p).tsallis.weight = 0.1;
        },
        "E /topology/wiring/tsallis/weight [topology · Tsallis entropy · weight] the entropy is that of learned, "
        "normalised "
        "coefficients");
    row(
        "shortcut bounds",
        [](Project& p) {
            mixOf(p).sources = ExplicitSources{{{0, 1}, {3, 3}, {2, 9}}};
        },
        "E /topology/wiring/sources/shortcuts/1 [topology · shortcut 3:3] expected 0 ≤ i < j ≤ 8\n"
        "E /topology/wiring/sources/shortcuts/2 [topology · shortcut 2:9] expected 0 ≤ i < j ≤ 8");
    row(
        "shortcut twice",
        [](Project& p) {
            mixOf(p).sources = ExplicitSources{{{0, 1}, {0, 1}}};
        },
        "E /topology/wiring/sources/shortcuts/1 [topology · shortcut 0:1] is listed twice");
    row(
        "no shortcut beside a branch is none", [](Project& p) { mixOf(p).sources = ExplicitSources{}; }, "");
    row(
        "layer that reads nothing",
        [](Project& p) {
            usePreset(p, "grn-v1");
            p.stack().segments[0].repeat = 2;
            mixOf(p).sources = ExplicitSources{{{0, 1}, {2, 3}}};
        },
        "E /topology/wiring/sources [topology · layer 2] reads nothing, expected at least one source");
    row(
        "half of a layer that reads nothing",
        [](Project& p) {
            usePreset(p, "grn-v1");
            p.stack().segments[0].repeat = 2;
            mixOf(p).sites = MixSites::Both;
            mixOf(p).sources = ExplicitSources{{{0, 1}, {1, 2}, {2, 4}}};
        },
        "E /topology/wiring/sources [topology · layer 2a] reads nothing, expected at least one source\n"
        "E /topology/wiring/sources [topology · the final output] reads nothing, expected at least one source\n"
        "E /topology/wiring/sites [topology · sites] block test has no feed-forward half to bridge, expected input + "
        "a → FFN, and a + FFN as the output; choose the sites mhsa to act once a layer");
    row(
        "pruned row",
        [](Project& p) {
            mixOf(p).states = {{{0, 2}, ShortcutState::Pruned}, {{1, 2}, ShortcutState::Pruned}};
        },
        "E /topology/wiring/states [topology · layer 2] every shortcut into it is pruned, and the softmax has nothing "
        "left to share");
    row(
        "pruned column",
        [](Project& p) {
            usePreset(p, "ancre-outgoing");
            p.stack().segments[0].repeat = 2;
            mixOf(p).states = {{{1, 2}, ShortcutState::Pruned}};
        },
        "E /topology/wiring/states [topology · source 1] every shortcut out of it is pruned, and the softmax has "
        "nothing left to share");
    row(
        "pruning and freezing",
        [](Project& p) {
            mixOf(p).states = {{{0, 2}, ShortcutState::Pruned}, {{1, 3}, ShortcutState::Frozen}};
        },
        "");
    row(
        "state out of bounds",
        [](Project& p) {
            mixOf(p).states = {{{4, 2}, ShortcutState::Frozen}};
        },
        "E /topology/wiring/states/4:2 [topology · shortcut 4:2] expected 0 ≤ i < j ≤ 8");
    row(
        "state of what is not read",
        [](Project& p) {
            mixOf(p).sources = ExplicitSources{{{0, 1}}};
            mixOf(p).states = {{{0, 3}, ShortcutState::Frozen}};
        },
        "W /topology/wiring/states/0:3 [topology · shortcut 0:3] has a state and is not read");
    row(
        "state of a summed middle, and of what is in it",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).sources = FirstAndLast{2};
            mixOf(p).states = {{{1, 6}, ShortcutState::Pruned}, {{2, 6}, ShortcutState::Pruned}};
        },
        "W /topology/wiring/states/2:6 [topology · shortcut 2:6] has a state and is not read");
    row(
        "pruned with its summed middle",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).sources = FirstAndLast{2};
            for (const std::int64_t source : {0, 1, 4, 5}) {
                mixOf(p).states[{source, 6}] = ShortcutState::Pruned;
            }
        },
        "E /topology/wiring/sources [topology · layer 6] reads nothing, expected at least one source");
    row(
        "sites without an FFN",
        [](Project& p) {
            usePreset(p, "ancre-ingoing");
            mixOf(p).sites = MixSites::Both;
        },
        "E /topology/wiring/sites [topology · sites] block test has no feed-forward half to bridge, expected input + "
        "a → FFN, and a + FFN as the output; choose the sites mhsa to act once a layer");
    const auto sharesWithAttention = [](Project& p) {
        p.network.blocks[0].graph = graphFrom(
            "x input; n rms_norm; a linear; u add; m rms_norm share=n; f linear; r add; y output; x > n; n > a; "
            "x > u.in1; a > u.in2; u > m; m > f; a > r.in1; f > r.in2; r > y");
    };
    row(
        "weights shared by both halves of a layer",
        [=](Project& p) {
            sharesWithAttention(p);
            usePreset(p, "rezero");
        },
        "E /topology/wiring/sites [topology · sites] block test is cut before its FFN, and node m shares weights with "
        "n of the other half, expected one of its own half; choose the sites mhsa to act once a layer");
    row(
        "weights shared in a layer that is not cut",
        [=](Project& p) {
            sharesWithAttention(p);
            usePreset(p, "plain");
        },
        "");
    row(
        "weights shared that each half has of its own",
        [=](Project& p) {
            sharesWithAttention(p);
            mixOf(p).sites = MixSites::Both;
            mixOf(p).separateNorms = true;
        },
        "");
    row(
        "a shortcut between unlike sites",
        [](Project& p) {
            mixOf(p).sites = MixSites::Both;
            mixOf(p).sources = ExplicitSources{{{0, 2}, {0, 3}}};
        },
        "E /topology/wiring/sources/shortcuts/1 [topology · shortcut 0:3] joins the inputs of an attention and an FFN, "
        "expected like sites or the choice of any\n"
        "E /topology/wiring/sites [topology · sites] block test has no feed-forward half to bridge, expected input + "
        "a → FFN, and a + FFN as the output; choose the sites mhsa to act once a layer");
    row(
        "a sum over two families",
        [](Project& p) {
            mixOf(p).sites = MixSites::Both;
            mixOf(p).sources = FirstAndLast{2};
        },
        "E /topology/wiring/sources [topology · sources] a sum over the middle would join inputs of attentions and "
        "FFNs; "
        "choose other sources, or let shortcuts join any sites\n"
        "E /topology/wiring/sites [topology · sites] block test has no feed-forward half to bridge, expected input + "
        "a → FFN, and a + FFN as the output; choose the sites mhsa to act once a layer");
    row(
        "a shortcut into a last layer without any",
        [](Project& p) {
            mixOf(p).lastMix = false;
            mixOf(p).sources = ExplicitSources{{{0, 1}, {0, 8}}};
        },
        "E /topology/wiring/sources/shortcuts/1 [topology · shortcut 0:8] ends at the last layer, which has no "
        "shortcuts "
        "without the last mix");
    row(
        "a shortcut from an entry that is not there yet",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).blockLayers = 3;
            mixOf(p).sources =
                ExplicitSources{{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 4}, {2, 5}, {2, 6}, {2, 7}, {2, 8}, {2, 9}}};
        },
        "E /topology/wiring/sources/shortcuts/4 [topology · shortcut 3:4] starts from an entry that is not there yet: "
        "layers share entries, expected i ≤ 1");
    row(
        "a last mix of layers that read mixes",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).lastMix = false;
        },
        "E /topology/wiring/last_mix [topology · last mix] only shortcuts beside the branches can leave out the last "
        "layer's; see the final mix");
    row(
        "sites of layers that read mixes",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).sites = MixSites::Ffn;
        },
        "E /topology/wiring/sites [topology · sites] block test has no feed-forward half to bridge, expected input + "
        "a → FFN, and a + FFN as the output; choose the sites mhsa to act once a layer");
    row(
        "attention over depth that is not normalised",
        [](Project& p) {
            usePreset(p, "attention-residuals");
            mixOf(p).normalise = NormaliseOver::None;
        },
        "E /topology/wiring/normalise [topology · normalise] attention over depth is a softmax over the sources");
    row(
        "gate on weights for each token",
        [](Project& p) {
            usePreset(p, "attention-residuals");
            mixOf(p).gate.kind = GateKind::Outside;
        },
        "E /topology/wiring/gate [topology · gate] weights made for each token take no gate");
    row(
        "frozen and fixed",
        [](Project& p) {
            usePreset(p, "ancre-fixed");
            mixOf(p).states = {{{0, 3}, ShortcutState::Frozen}};
        },
        "W /topology/wiring/states/0:3 [topology · shortcut 0:3] is frozen where no weight is learned");
    row(
        "weights of 0",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).init = MixInit::Zero;
        },
        "E /topology/wiring/init [topology · start] every layer reads a sum with weights of 0");
    row(
        "ports that the block lacks",
        [](Project& p) {
            usePreset(p, "grn-v1");
            mixOf(p).ports = MixPorts::Qkv;
        },
        "E /topology/wiring/ports [topology · ports] block test has one input port, expected q, k and v");
    row(
        "ports beside the branch", [](Project& p) { mixOf(p).ports = MixPorts::Qkv; },
        "E /topology/wiring/ports [topology · ports] mixes of their own for q, k and v feed the layer's input, not the "
        "residual beside its branch\n"
        "E /topology/wiring/ports [topology · ports] block test has one input port, expected q, k and v");
    row(
        "k",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{0};
        },
        "E /topology/wiring/sources/k [topology · sources · last k] got 0, expected at least 1");
    row(
        "k of the full stack",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{7};
        },
        "W /topology/wiring/sources/k [topology · sources · last k] with k + 2 ≥ 8 every layer reads the full stack");
    row(
        "k of the full stack but for the output",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{6};
        },
        "W /topology/wiring/sources/k [topology · sources · last k] with k + 2 ≥ 8 every layer reads the full stack, "
        "and "
        "only the final output a sum");
    row(
        "k below the full stack",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{5};
        },
        "");
    row(
        "a temperature below 0", [](Project& p) { mixOf(p).temperature = -0.1; },
        "E /topology/wiring/temperature [topology · temperature] got -0.1, expected more than 0");
    row(
        "streams", [](Project& p) { p.stack().topology.wiring = MultiStream{.streams = 0, .sites = MixSites::Mhsa}; },
        "E /topology/wiring/streams [topology · streams] got 0, expected 1 to 64");
    row(
        "values without attention",
        [](Project& p) { p.stack().topology.wiring = BranchGate{.gate = BranchGateKind::ValueResidual}; },
        "E /topology/wiring/gate [topology · gate] block test has no attention whose values could be mixed");
    row(
        "values shared by layers that compute again",
        [](Project& p) {
            p.network.blocks[0].graph =
                graphFrom("x input; a attention heads=2; y output; x > a.q; x > a.k; x > a.v; a > y");
            p.stack().topology.wiring = BranchGate{.gate = BranchGateKind::ValueResidual};
            p.training.activations = Activations::Recompute;
        },
        "E /training/activations [training · activations] a value residual, whose layers share their values, with "
        "activations computed again cannot be trained yet");
    row(
        "as many layers as a mix reads", [](Project& p) { p.stack().segments[0].repeat = 511; }, "");
    row(
        "more layers than a mix reads", [](Project& p) { p.stack().segments[0].repeat = 512; },
        "E /network/stack [network · stack] a mix over more than 511 layers cannot be trained yet");
    row(
        "one doubly stochastic stream",
        [](Project& p) {
            usePreset(p, "mhc");
            std::get<MultiStream>(p.stack().topology.wiring).streams = 1;
        },
        "E /topology/wiring/streams [topology · streams] got 1, expected at least 2 to mix");
    row(
        "one stream without mixing",
        [](Project& p) {
            usePreset(p, "ihc");
            std::get<MultiStream>(p.stack().topology.wiring).streams = 1;
        },
        "E /topology/wiring/streams [topology · streams] got 1, expected at least 2 to mix");
    row(
        "streams that learn alike",
        [](Project& p) {
            usePreset(p, "ihc");
            std::get<MultiStream>(p.stack().topology.wiring).weights = StreamWeights::Static;
        },
        "W /topology/wiring/weights [topology · weights] streams that do not mix start equal, and learn alike without "
        "a "
        "part that depends on the input");
    row(
        "permutations of many streams",
        [](Project& p) {
            usePreset(p, "mhc-lite");
            std::get<MultiStream>(p.stack().topology.wiring).streams = 5;
        },
        "E /topology/wiring/streams [topology · streams] got 5, expected at most 4, whose permutations are mixed one "
        "by "
        "one");
    row(
        "fractions of a width",
        [](Project& p) {
            usePreset(p, "frac-static");
            std::get<MultiStream>(p.stack().topology.wiring).streams = 3;
        },
        "E /topology/wiring/streams [topology · streams] got 3, expected a number of fractions that divides the width, "
        "128");
    row(
        "fractions under a constraint",
        [](Project& p) {
            usePreset(p, "frac-static");
            std::get<MultiStream>(p.stack().topology.wiring).constraint = StreamConstraint::DoublyStochastic;
        },
        "E /topology/wiring/constraint [topology · mixing matrix] fractions of a residual are mixed freely");
    row(
        "last k of the full stack",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{8, EarlierEntries::Nothing};
        },
        "W /topology/wiring/sources/k [topology · sources · last k] with k ≥ 8 every layer reads the full stack, and "
        "only the final output a part");
    row(
        "input and last k below the full stack",
        [](Project& p) {
            usePreset(p, "plain");
            mixOf(p).sources = FirstAndLast{6, EarlierEntries::Input};
        },
        "");
    row(
        "gate bias",
        [](Project& p) {
            p.stack().topology.wiring =
                BranchGate{.gate = BranchGateKind::Highway, .bias = 200, .sites = MixSites::Mhsa};
        },
        "E /topology/wiring/bias [topology · gate bias] got 200, expected -100 to 100");
}

void TestValidateTopology::mistakesAreNamed()
{
    Project project = languageProject(kPlainBlock);
    project.stack().segments[0].repeat = 8;
    usePreset(project, "ancre-ingoing");
    check(std::move(project));
}

RESIDUA_TEST(TestValidateTopology)
#include "tst_validate_topology.moc"
