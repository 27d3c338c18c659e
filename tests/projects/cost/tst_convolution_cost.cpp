// SPDX-License-Identifier: GPL-3.0-or-later
// Convolutions of low rank: the cost of factors by side, and the parameters of the networks that the paper on low-rank
// initialisation trains.
#include "projects/nodes/node_kinds.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace residua::projects;

namespace {

struct Convolution {
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::int64_t kernel = 1;
};

/// The convolutions of a network that have a rank, and the parameters of everything else.
struct Counted {
    std::vector<Convolution> convolutions;
    std::int64_t others = 0;

    void add(std::int64_t out, std::int64_t in, std::int64_t kernel)
    {
        convolutions.push_back({out, in, kernel});
        addNorm(out);
    }
    void addNorm(std::int64_t channels) { others += 2 * channels; }
    void addClassifier(std::int64_t features) { others += (features + 1) * 1000; }
};

Counted resNet50()
{
    Counted net;
    net.add(64, 3, 7);
    std::int64_t channels = 64;
    for (const auto& [blocks, width] : {std::pair<int, std::int64_t>{3, 64}, {4, 128}, {6, 256}, {3, 512}}) {
        for (int block = 0; block < blocks; ++block) {
            net.add(width, channels, 1);
            net.add(width, width, 3);
            net.add(4 * width, width, 1);
            if (block == 0) {
                net.add(4 * width, channels, 1);
            }
            channels = 4 * width;
        }
    }
    net.addClassifier(channels);
    return net;
}

/// EfficientNet by its factors of width and depth, without the depthwise convolutions and those of squeeze and
/// excitation among the ones that have a rank.
Counted efficientNet(double wide, double deep)
{
    const auto widened = [wide](double channels) {
        channels *= wide;
        const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
        return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
    };
    struct Stage {
        int repeats;
        std::int64_t kernel;
        std::int64_t expansion;
        double channels;
    };
    Counted net;
    std::int64_t channels = widened(32);
    net.add(channels, 3, 3);
    for (const auto& [repeats, kernel, expansion, out] : {Stage{1, 3, 1, 16},
                                                          {2, 3, 6, 24},
                                                          {2, 5, 6, 40},
                                                          {3, 3, 6, 80},
                                                          {3, 5, 6, 112},
                                                          {4, 5, 6, 192},
                                                          {1, 3, 6, 320}}) {
        for (int block = 0; block < static_cast<int>(std::ceil(repeats * deep)); ++block) {
            const std::int64_t middle = channels * expansion;
            if (expansion > 1) {
                net.add(middle, channels, 1);
            }
            net.others += middle * kernel * kernel;
            net.addNorm(middle);
            const std::int64_t squeezed = channels / 4;
            net.others += 2 * middle * squeezed + squeezed + middle;
            channels = widened(out);
            net.add(channels, middle, 1);
        }
    }
    net.add(widened(1280), channels, 1);
    net.addClassifier(widened(1280));
    return net;
}

NodeCost costOf(const Convolution& convolution, std::map<std::string, ParamValue> given, Shape image)
{
    given.emplace("out", convolution.out);
    given.emplace("kernel", convolution.kernel);
    const Shape in[] = {std::move(image)};
    const NodeKind& kind = *findNodeKind("conv2d");
    const auto params = evaluateParams(Node{NodeId{1}, "conv2d", "n", std::move(given)}, Sizes{{{"d", 8}}, {}});
    const auto out = kind.shapeRule(*params, in);
    return residua::projects::costOf(kind, *params, in, *out, 1);
}

/// The parameters with every convolution at `rankOf` of it.
std::int64_t parameters(const Counted& net, const auto& rankOf)
{
    std::int64_t all = net.others;
    for (const Convolution& each : net.convolutions) {
        all += costOf(each, {{"rank", rankOf(each)}, {kUnfoldingParam, std::string(kBySide)}},
                      Shape{{kBatch, each.in, 8, 8}})
                   .parameters;
    }
    return all;
}

} // namespace

class TestConvolutionCost : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// r·(k·C_in + k·C_out) parameters; the first factor at every row of the input, the second at every output.
    void factorsBySide()
    {
        const Shape image{{kBatch, 6, 8, 10}};
        const NodeCost cost = costOf({10, 6, 3},
                                     {{"rank", std::int64_t{4}},
                                      {"stride", std::int64_t{2}},
                                      {"bias", true},
                                      {kUnfoldingParam, std::string(kBySide)}},
                                     image);
        QCOMPARE(cost.parameters, std::int64_t{4 * (10 * 3 + 6 * 3) + 10});
        const double inner = 4 * 8 * 5;
        const double outer = 10 * 4 * 5;
        QCOMPARE(cost.flops, inner * 2 * 6 * 3 + outer * (2 * 4 * 3 + 1));
        QCOMPARE(cost.activationElements, inner + outer);
        // Full, it is the same convolution whatever the unfolding.
        const auto full = [&](const char* unfolding) {
            return costOf({10, 6, 3}, {{"rank", std::string("full")}, {kUnfoldingParam, std::string(unfolding)}},
                          image);
        };
        QCOMPARE(full(kBySide).parameters, std::int64_t{10 * 6 * 9});
        QCOMPARE(full(kBySide).flops, full(kWholeKernel).flops);
    }

    /// A share of the smaller side is of the unfolded one: of a stem 448 × 21, 0.05 is rank 1.
    void aShareIsOfTheUnfoldedSide()
    {
        const auto weights = [](const char* unfolding) {
            const Shape in[] = {Shape{{kBatch, 3, 16, 16}}};
            const NodeKind& kind = *findNodeKind("conv2d");
            const auto params = evaluateParams(Node{NodeId{1},
                                                    "conv2d",
                                                    "n",
                                                    {{"out", std::int64_t{64}},
                                                     {"kernel", std::int64_t{7}},
                                                     {"rank", 0.05},
                                                     {kUnfoldingParam, std::string(unfolding)}}},
                                               Sizes{{{"d", 8}}, {}});
            const NodeParameter weight = kind.parametersRule(*params, in).front();
            return std::pair(std::pair(weight.out(), weight.in()), *rankOf(*params, "rank", weight.out(), weight.in()));
        };
        QCOMPARE(weights(kBySide), std::pair(std::pair(std::int64_t{448}, std::int64_t{21}), std::int64_t{1}));
        QCOMPARE(weights(kWholeKernel), std::pair(std::pair(std::int64_t{64}, std::int64_t{147}), std::int64_t{3}));
    }

    void networksOfThePaper_data()
    {
        QTest::addColumn<double>("wide");
        QTest::addColumn<double>("deep");
        QTest::addColumn<qint64>("full");
        QTest::addColumn<QList<qint64>>("atShares"); // 0.05, 0.10, 0.15, 0.20
        QTest::newRow("ResNet-50") << 0.0 << 0.0 << qint64{25557032}
                                   << QList<qint64>{4039997, 5974930, 7896167, 9831100};
        QTest::newRow("b0") << 1.0 << 1.0 << qint64{5288548} << QList<qint64>{2335933, 2515405, 2710125, 2889702};
        QTest::newRow("b3") << 1.2 << 1.4 << qint64{12233232} << QList<qint64>{4378817, 4863673, 5360457, 5845442};
        QTest::newRow("b7") << 2.0 << 3.1 << qint64{66347960} << QList<qint64>{19123969, 22051393, 25074625, 28002250};
        QTest::newRow("b9") << 3.0 << 3.2 << qint64{146055712} << QList<qint64>{39883945, 46536361, 53045065, 59697778};
    }
    void networksOfThePaper()
    {
        QFETCH(double, wide);
        QFETCH(double, deep);
        QFETCH(qint64, full);
        QFETCH(QList<qint64>, atShares);
        const Counted net = wide > 0 ? efficientNet(wide, deep) : resNet50();
        QCOMPARE(parameters(net, [](const Convolution&) { return ParamValue(std::string("full")); }), full);
        for (int i = 0; i < atShares.size(); ++i) {
            const double share = 0.05 * (i + 1);
            QCOMPARE(parameters(net, [&](const Convolution&) { return ParamValue(share); }), atShares[i]);
        }
    }

    /// The rule of Khodak et al., a share of C_out · kernel, as ranks of single nodes.
    void theRuleOfOutputs()
    {
        const Counted net = resNet50();
        const std::int64_t wanted[] = {5194422, 8298329, 11386023, 14489930};
        for (int i = 0; i < 4; ++i) {
            const auto rank = [&](const Convolution& each) {
                const double side = static_cast<double>(each.out * each.kernel);
                return ParamValue(static_cast<std::int64_t>(std::llround(0.05 * (i + 1) * side)));
            };
            QCOMPARE(parameters(net, rank), wanted[i]);
        }
    }
};

RESIDUA_TEST(TestConvolutionCost)
#include "tst_convolution_cost.moc"
