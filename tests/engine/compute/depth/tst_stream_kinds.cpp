// SPDX-License-Identifier: GPL-3.0-or-later
// Identity hyper-connections, mHC-lite and Frac-Connections against their equations, written with LibTorch's operators
// over all tokens in double precision, and the exits of the streams.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/cost/cost.h"
#include "projects/depth/stream_start.h"
#include "tests/support/test_program.h"
#include "tests/support/topology_cost.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>

using namespace residua;
using namespace residua::tests;
using projects::MultiStream;
using projects::Project;
using projects::StreamConstraint;
using projects::StreamExit;
using projects::StreamState;

namespace {

constexpr std::int64_t kKindsDepth = 3;

MultiStream& streamsOf(Project& project)
{
    return std::get<MultiStream>(project.stack().topology.wiring);
}

/// A network of linear layers under a wiring of streams. H: [tokens, n, d].
class Written {
public:
    Written(engine::CompiledNetwork& network, const MultiStream& wiring) : m_network(network), m_wiring(wiring) {}

    at::Tensor run(const at::Tensor& x)
    {
        if (m_wiring.state == StreamState::Fractions) {
            return runFractions(x);
        }
        at::Tensor streams = at::stack(std::vector<at::Tensor>(static_cast<std::size_t>(m_wiring.streams), x), 1);
        for (std::int64_t layer = 0; layer < kKindsDepth; ++layer) {
            streams = m_wiring.constraint == StreamConstraint::Identity ? afterIdentity(layer, streams)
                                                                        : afterPermutations(layer, streams);
        }
        return leaving(streams);
    }

private:
    at::Tensor own(const std::string& name) { return parameter(m_network, "topology." + name); }
    at::Tensor branch(std::int64_t layer, const at::Tensor& x)
    {
        return at::matmul(x, parameter(m_network, "layers." + std::to_string(layer + 1) + ".weight.weight").t());
    }
    /// φ [stream, rows, d] as one matrix [rows, n·d].
    static at::Tensor flat(const at::Tensor& phi) { return phi.permute({1, 0, 2}).flatten(1); }
    static at::Tensor normed(const at::Tensor& streams, double epsilon)
    {
        const at::Tensor all = streams.flatten(1);
        return all * at::rsqrt((all * all).mean(1, true) + epsilon);
    }
    static at::Tensor weighed(const at::Tensor& weights, const at::Tensor& streams)
    {
        return (weights.unsqueeze(2) * streams).sum(1);
    }

    /// p = σ(a_p·y_p + b_p) + ε, w = 2σ(a_w·y_w + b_w) + ε, H'_t = H_t + w_t·f(u).
    at::Tensor afterIdentity(std::int64_t layer, const at::Tensor& streams)
    {
        const std::int64_t n = m_wiring.streams;
        at::Tensor read = own("read")[layer].unsqueeze(0);
        at::Tensor write = own("write")[layer].unsqueeze(0);
        if (m_wiring.weights == projects::StreamWeights::Dynamic) {
            const at::Tensor y = at::matmul(normed(streams, 1e-5), flat(own("dynamic")[layer]).t());
            read = own("scale")[layer][0] * y.narrow(1, 0, n) + read;
            write = own("scale")[layer][1] * y.narrow(1, n, n) + write;
        }
        const at::Tensor f = branch(layer, weighed(at::sigmoid(read) + 1e-6, streams));
        return streams + (2 * at::sigmoid(write) + 1e-6).unsqueeze(2) * f.unsqueeze(1);
    }

    /// A = Σ softmax(a₂·y + c)_r·P_r, and mHC's read and write; one norm of all features with a gain.
    at::Tensor afterPermutations(std::int64_t layer, const at::Tensor& streams)
    {
        const std::int64_t n = m_wiring.streams;
        at::Tensor read = own("read")[layer].unsqueeze(0);
        at::Tensor shares = own("carry")[layer].unsqueeze(0);
        at::Tensor write = own("write")[layer].unsqueeze(0);
        if (m_wiring.weights == projects::StreamWeights::Dynamic) {
            const at::Tensor x = normed(streams, 1e-6) * own("norm")[layer].flatten();
            const at::Tensor y = at::matmul(x, flat(own("dynamic")[layer]).t());
            const std::int64_t count = shares.size(1);
            read = own("scale")[layer][0] * y.narrow(1, 0, n) + read;
            shares = own("scale")[layer][1] * y.narrow(1, n, count) + shares;
            write = own("scale")[layer][2] * y.narrow(1, n + count, n) + write;
        }
        shares = at::softmax(shares, 1);
        const at::Tensor f = branch(layer, weighed(at::sigmoid(read), streams));
        std::vector<std::int64_t> order;
        for (std::int64_t s = 0; s < n; ++s) {
            order.push_back(s);
        }
        at::Tensor next = (2 * at::sigmoid(write)).unsqueeze(2) * f.unsqueeze(1);
        std::int64_t r = 0;
        do { // P_r takes stream s to order[s]
            std::vector<at::Tensor> moved(order.size());
            for (std::size_t s = 0; s < order.size(); ++s) {
                moved[static_cast<std::size_t>(order[s])] = streams.select(1, static_cast<std::int64_t>(s));
            }
            next = next + shares.select(1, r++).view({-1, 1, 1}) * at::stack(moved, 1);
        } while (std::next_permutation(order.begin(), order.end()));
        return next;
    }

    /// û_i = Σ_j Y_ji·h_j, h'_i = Σ_j A_ji·h_j + β_i·f(concat û)_i.
    at::Tensor runFractions(const at::Tensor& x)
    {
        const std::int64_t m = m_wiring.streams;
        const std::int64_t width = x.size(1) / m;
        at::Tensor h = x.view({-1, m, width});
        for (std::int64_t layer = 0; layer < kKindsDepth; ++layer) {
            at::Tensor mix = at::cat({own("read")[layer], own("carry")[layer]}, 1).unsqueeze(0); // [1, from, 2·to]
            at::Tensor beta = own("write")[layer].unsqueeze(0);
            if (m_wiring.weights == projects::StreamWeights::Dynamic) {
                const at::Tensor normal =
                    m_wiring.norm == projects::NormKind::Layer
                        ? at::layer_norm(h, {width}, own("norm")[layer], own("norm_bias")[layer], 1e-5)
                        : h * at::rsqrt((h * h).mean(2, true) + 1e-6) * own("norm")[layer] + own("norm_bias")[layer];
                const at::Tensor active = at::tanh(at::matmul(normal, own("dynamic")[layer].t()));
                mix = mix + own("scale")[layer][0] * active.narrow(2, 0, 2 * m);
                beta = beta + own("scale")[layer][1] * active.select(2, 2 * m);
            }
            const at::Tensor mixed = (mix.unsqueeze(3) * h.unsqueeze(2)).sum(1);
            const at::Tensor f = branch(layer, mixed.narrow(1, 0, m).flatten(1)).view({-1, m, width});
            h = mixed.narrow(1, m, m) + beta.unsqueeze(2) * f;
        }
        return h.flatten(1);
    }

    at::Tensor leaving(const at::Tensor& streams)
    {
        if (m_wiring.exit == StreamExit::Head) {
            const double epsilon = m_wiring.constraint == StreamConstraint::Identity ? 1e-5 : 1e-6;
            const at::Tensor y = at::matmul(normed(streams, epsilon), flat(own("exit")).t());
            return weighed(at::sigmoid(own("exit_scale") * y + own("exit_bias")) + 1e-6, streams);
        }
        return m_wiring.exit == StreamExit::Mean ? streams.mean(1) : streams.sum(1);
    }

    engine::CompiledNetwork& m_network;
    MultiStream m_wiring;
};

using Change = std::function<void(MultiStream&)>;

} // namespace

Q_DECLARE_METATYPE(Change)

class TestStreamKinds : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void equalsTheEquations_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<Change>("change");
        const auto row = [](const char* name, const char* preset, Change change) {
            QTest::newRow(name) << preset << std::move(change);
        };
        const auto fixed = [](MultiStream& s) { s.weights = projects::StreamWeights::Static; };
        row("identity", "ihc", [](MultiStream&) {});
        row("identity, 2, mean", "ihc", [](MultiStream& s) { s.streams = 2, s.exit = StreamExit::Mean; });
        row("identity, 6, sum", "ihc", [](MultiStream& s) { s.streams = 6, s.exit = StreamExit::Sum; });
        row("identity, static", "ihc", fixed);
        row("permutations", "mhc-lite", [](MultiStream&) {});
        row("permutations, 2", "mhc-lite", [](MultiStream& s) { s.streams = 2; });
        row("permutations, 3, head", "mhc-lite", [](MultiStream& s) { s.streams = 3, s.exit = StreamExit::Head; });
        row("permutations, static", "mhc-lite", fixed);
        row("fractions, static", "frac-static", [](MultiStream&) {});
        row("fractions, 6, static", "frac-static", [](MultiStream& s) { s.streams = 6; });
        row("fractions", "frac-dynamic", [](MultiStream&) {});
        row("fractions, 3", "frac-dynamic", [](MultiStream& s) { s.streams = 3; });
        row("fractions, 1", "frac-dynamic", [](MultiStream& s) { s.streams = 1; });
        row("fractions, RMS norm", "frac-dynamic", [](MultiStream& s) { s.norm = projects::NormKind::Rms; });
    }
    void equalsTheEquations()
    {
        QFETCH(QString, preset);
        QFETCH(Change, change);
        Project project = tinyVectors("linear", preset.toStdString(), kKindsDepth);
        streamsOf(project).dynamicScale = 0.3;
        change(streamsOf(project));
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.4, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor expected = Written(*network, streamsOf(project)).run(batch.input);
        const at::Tensor got = network->forward(batch.input, kTraining);
        const double scale = 1 + expected.abs().max().item<double>();
        QVERIFY2(distance(got, expected) < 1e-12 * scale, qPrintable(QString::number(distance(got, expected))));
        QVERIFY(gradientDistance(*network, got, expected) < 1e-10 * scale * scale);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 4);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// The counts of published code at n = 4, d = 512 and, of identity hyper-connections, 6 layers without a head.
    void countsAsPublished()
    {
        const auto count = [](const std::string& preset, std::int64_t layers, const Change& change) {
            projects::Topology topology = topologyNamed(preset, layers);
            change(std::get<MultiStream>(topology.wiring));
            return tests::topologyCost(topology, layers, 512).parameters;
        };
        const auto nothing = [](MultiStream&) {};
        const auto summed = [](MultiStream& s) { s.exit = StreamExit::Sum; };
        QCOMPARE(count("ihc", 6, summed), std::int64_t{196'728});
        QCOMPARE(count("ihc", 6, nothing) - count("ihc", 6, summed), std::int64_t{16 * 512 + 5});
        QCOMPARE(count("mhc-lite", 1, nothing), std::int64_t{2 * 67'619});
        QCOMPARE(count("mhc", 1, nothing), std::int64_t{2 * 49'179});
        for (const std::int64_t m : {2, 4}) {
            const auto cut = [m](MultiStream& s) { s.streams = m; };
            QCOMPARE(count("frac-static", 1, cut), 2 * (2 * m * m + m));
            QCOMPARE(count("frac-dynamic", 1, cut), 2 * (2 * m * m + m + 512 / m * (2 * m + 3) + 2));
        }
    }

    /// To the bit: the fractions read and keep themselves, and all other weights are 0.
    void fractionsStartAsThePlainNetwork()
    {
        for (const char* const block : {"linear", "mlp"}) {
            const Project plain = tinyVectors(block, "plain", 6);
            const engine::DeviceBatch batch = randomBatch(plain, 5, 1, 7);
            const at::NoGradGuard noGrad;
            const at::Tensor expected = compiled(plain)->forward(batch.input, kTraining);
            for (const char* const preset : {"frac-static", "frac-dynamic"}) {
                Project project = tinyVectors(block, preset, 6);
                streamsOf(project).scaleOutputs = true; // means nothing to fractions
                QVERIFY(at::equal(compiled(project)->forward(batch.input, kTraining), expected));
            }
        }
    }

    /// A mean of equal streams with writes of 1, but for ε, and for the part that is drawn.
    void identityStartsNearThePlainNetwork()
    {
        const Project plain = tinyVectors("mlp", "plain", 6);
        const engine::DeviceBatch batch = randomBatch(plain, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = compiled(plain)->forward(batch.input, kTraining);
        Project project = tinyVectors("mlp", "ihc", 6);
        QVERIFY(distance(compiled(project)->forward(batch.input, kTraining), expected) < 1e-2);
        streamsOf(project).dynamicScale = 0;
        const double difference = distance(compiled(project)->forward(batch.input, kTraining), expected);
        QVERIFY2(difference < 1e-4 && difference > 0, qPrintable(QString::number(difference)));
        QVERIFY(parameter(*compiled(project), "topology.dynamic").std().item<double>() > 0.005);
    }

    /// The drawn part tells streams apart: without it they would learn alike for ever.
    void identityStreamsLearnApart()
    {
        for (const bool drawn : {true, false}) {
            const Project project = tinyVectors("mlp", "ihc", kKindsDepth);
            const auto network = compiled(project);
            if (!drawn) {
                const at::NoGradGuard noGrad;
                parameter(*network, "topology.dynamic").zero_();
                parameter(*network, "topology.exit").zero_();
            }
            const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
            network->loss(batch, kTraining).backward();
            const at::Tensor gradient = parameter(*network, "topology.write").grad()[0];
            const double spread = (gradient - gradient.mean()).abs().max().item<double>();
            QVERIFY2(drawn ? spread > 1e-9 : spread < 1e-14, qPrintable(QString::number(spread)));
        }
    }

    /// As its code starts: 0.731 and 0.269 read, 1.462 and 0.538 written, I with a weight of 0.9923.
    void permutationsStartAsPublished()
    {
        const auto network = compiled(tinyVectors("linear", "mhc-lite", 5));
        const auto numbers = network->coefficients(0);
        const at::Tensor shares = at::softmax(parameter(*network, "topology.carry"), 1);
        QVERIFY(std::abs(shares[0][0].item<double>() - 0.9923) < 1e-4);
        for (std::int64_t layer = 0; layer < 5; ++layer) {
            for (std::int64_t stream = 0; stream < 4; ++stream) {
                const bool home = layer % 4 == stream;
                QVERIFY(std::abs(numbers[1].at(layer, stream) - (home ? 0.731F : 0.269F)) < 1e-3F);
                QVERIFY(std::abs(numbers[3].at(layer, stream) - (home ? 1.462F : 0.538F)) < 1e-3F);
            }
        }
        QCOMPARE(numbers[2].name.text(), std::string("carry"));
        double squares = 0;
        for (std::int64_t row = 0; row < 4; ++row) {
            for (std::int64_t column = 0; column < 4; ++column) {
                squares += std::pow(numbers[2].at(row, column) - (row == column ? 1 : 0), 2);
            }
        }
        const MultiStream wiring{.constraint = StreamConstraint::Permutations};
        QVERIFY(std::abs(std::sqrt(squares / 4) / projects::streamStart(wiring).distance - 1) < 1e-4);
    }

    /// Rows and columns sum to 1 for any logits.
    void permutationsAreDoublyStochastic()
    {
        Project project = tinyVectors("linear", "mhc-lite", kKindsDepth);
        const auto network = compiled(project);
        shake(*network, 4, 3);
        const auto carry = network->coefficients(0)[2];
        for (std::int64_t matrix = 0; matrix < kKindsDepth; ++matrix) {
            for (std::int64_t i = 0; i < 4; ++i) {
                float row = 0;
                float column = 0;
                for (std::int64_t j = 0; j < 4; ++j) {
                    row += carry.at(4 * matrix + i, j);
                    column += carry.at(4 * matrix + j, i);
                }
                QVERIFY(std::abs(row - 1) < 1e-6F && std::abs(column - 1) < 1e-6F);
            }
        }
    }

    /// A mean is the sum over n, and of plain streams the plain network's output.
    void exitsOfHyperConnections()
    {
        Project project = tinyVectors("mlp", "hyper-static", kKindsDepth);
        streamsOf(project).scaleOutputs = false;
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor plain = compiled(tinyVectors("mlp", "plain", kKindsDepth))->forward(batch.input, kTraining);
        streamsOf(project).exit = StreamExit::Mean;
        QVERIFY(at::equal(compiled(project)->forward(batch.input, kTraining), plain));
        QCOMPARE(compiled(project)->coefficients(0)[0].at(kKindsDepth, 0), 1.0F);
        streamsOf(project).exit = StreamExit::Head;
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        QVERIFY(distance(network->forward(batch.input, kTraining), plain) < 1e-2);
        QVERIFY(distance(network->forward(batch.input, kTraining), plain) > 0);
    }

    /// For fractions, the mean share of each in itself: at the start 1, as in the plain network.
    void fractionsUnfold()
    {
        Project project = tinyVectors("linear", "frac-static", kKindsDepth);
        const auto network = compiled(project);
        const auto start = network->coefficients(0);
        for (std::int64_t row = 0; row <= kKindsDepth; ++row) {
            for (std::int64_t column = 0; column <= row; ++column) {
                QCOMPARE(start[0].at(row, column), 1.0F);
            }
        }
        QCOMPARE(start[1].rows, 2 * kKindsDepth);
        shake(*network, 0.3, 5);
        // 1:3 goes through what layer 1 writes, layer 2 carries and layer 3 reads.
        const at::NoGradGuard noGrad;
        const at::Tensor path =
            at::matmul(parameter(*network, "topology.write")[0].unsqueeze(1) * parameter(*network, "topology.carry")[1],
                       parameter(*network, "topology.read")[2]);
        QVERIFY(std::abs(network->coefficients(1)[0].at(2, 1) - path.trace().item<float>() / 2) < 1e-6F);
    }

    void decays()
    {
        const auto decaying = [](const char* preset) {
            const auto network = compiled(tinyVectors("linear", preset, 2));
            std::set<std::string> names;
            for (const engine::NamedParameter& p : network->parameters()) {
                if (p.name.starts_with("topology.") && p.decay == engine::Decay::Yes) {
                    names.insert(p.name);
                }
            }
            return names;
        };
        using Names = std::set<std::string>;
        QVERIFY(decaying("ihc") == (Names{"topology.dynamic", "topology.exit"}));
        QVERIFY(decaying("mhc-lite") == Names{"topology.dynamic"});
        QVERIFY(decaying("frac-dynamic").empty());
    }

    void bf16IsCloseToDouble()
    {
        for (const char* const preset : {"ihc", "mhc-lite", "frac-static", "frac-dynamic"}) {
            QCOMPARE(precisionFault(tinyLanguage("transformer", preset, 2), 0.03), std::string());
        }
    }
};

RESIDUA_TEST(TestStreamKinds)
#include "tst_stream_kinds.moc"
