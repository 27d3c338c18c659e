// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-Connections and mHC against streams written out one token and one stream at a time, in double precision.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/ops/operators.h"
#include "projects/cost/cost.h"
#include "projects/depth/stream_start.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>

#include <QTest>

#include <cmath>
#include <set>

using namespace residua;
using namespace residua::tests;
using projects::MultiStream;
using projects::Project;

namespace {

constexpr std::int64_t kStreamDepth = 3;

using Numbers = std::vector<double>;

Numbers numbersOf(const at::Tensor& tensor)
{
    const at::Tensor flat = tensor.detach().contiguous();
    return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

/// Columns then rows of exp(x) [out, in], as mHC eq. 9 writes it with H_res = [out, in].
std::vector<Numbers> doublyStochastic(std::vector<Numbers> m, std::int64_t iterations)
{
    for (Numbers& row : m) {
        for (double& x : row) {
            x = std::exp(x);
        }
    }
    for (std::int64_t k = 0; k < iterations; ++k) {
        for (std::size_t in = 0; in < m.size(); ++in) {
            double sum = 0;
            for (const Numbers& row : m) {
                sum += row[in];
            }
            for (Numbers& row : m) {
                row[in] /= sum;
            }
        }
        for (Numbers& row : m) {
            double sum = 0;
            for (const double x : row) {
                sum += x;
            }
            for (double& x : row) {
                x /= sum;
            }
        }
    }
    return m;
}

/// The connections of one token at one layer.
struct TokenConnections {
    Numbers read;
    std::vector<Numbers> carry; ///< [out][in]
    Numbers write;
};

class Reference {
public:
    Reference(engine::CompiledNetwork& network, const MultiStream& wiring, std::int64_t width)
        : m_network(network), m_wiring(wiring), m_n(static_cast<std::size_t>(wiring.streams)), m_width(width)
    {
    }

    /// The connections of a layer (from 0) for one token's streams [n][d].
    TokenConnections of(std::int64_t layer, const std::vector<Numbers>& streams)
    {
        TokenConnections c{at("read", layer), {}, at("write", layer)};
        const Numbers carry = at("carry", layer);
        for (std::size_t out = 0; out < m_n; ++out) {
            Numbers& row = c.carry.emplace_back();
            for (std::size_t in = 0; in < m_n; ++in) {
                row.push_back(carry[in * m_n + out]);
            }
        }
        const bool constrained = m_wiring.constraint == projects::StreamConstraint::DoublyStochastic;
        if (m_wiring.weights == projects::StreamWeights::Dynamic) {
            constrained ? addConstrained(layer, streams, c) : addFree(layer, streams, c);
        }
        if (constrained) {
            for (double& x : c.read) {
                x = sigmoid(x);
            }
            for (double& x : c.write) {
                x = 2 * sigmoid(x);
            }
            c.carry = doublyStochastic(c.carry, m_wiring.sinkhornIterations);
        }
        return c;
    }

private:
    Numbers at(const std::string& name, std::int64_t layer)
    {
        return numbersOf(parameter(m_network, "topology." + name)[layer]);
    }

    /// Less its mean and over its deviation, or over its root mean square.
    Numbers normalised(const Numbers& stream) const
    {
        const bool layerNorm = m_wiring.norm == projects::NormKind::Layer;
        double mean = 0;
        for (const double x : stream) {
            mean += layerNorm ? x / static_cast<double>(m_width) : 0;
        }
        double squares = layerNorm ? 1e-5 : 1e-6;
        for (const double x : stream) {
            squares += (x - mean) * (x - mean) / static_cast<double>(m_width);
        }
        Numbers result;
        for (const double x : stream) {
            result.push_back((x - mean) / std::sqrt(squares));
        }
        return result;
    }

    double lengthOf(const std::vector<Numbers>& streams) const
    {
        double squares = 0;
        for (const Numbers& stream : streams) {
            for (const double x : stream) {
                squares += x * x;
            }
        }
        return std::sqrt(squares / static_cast<double>(streams.size() * static_cast<std::size_t>(m_width)) + 1e-6);
    }

    /// Hyper-Connections eq. 10-13.
    void addFree(std::int64_t layer, const std::vector<Numbers>& streams, TokenConnections& c)
    {
        const Numbers gain = at("norm", layer);
        const Numbers weight = at("dynamic", layer);
        const Numbers scale = at("scale", layer);
        const auto d = static_cast<std::size_t>(m_width);
        for (std::size_t j = 0; j < m_n; ++j) {
            const Numbers stream = normalised(streams[j]);
            const auto logit = [&](std::size_t row) {
                double sum = 0;
                for (std::size_t k = 0; k < d; ++k) {
                    sum += stream[k] * gain[k] * weight[row * d + k];
                }
                return std::tanh(sum);
            };
            c.read[j] += scale[0] * logit(0);
            for (std::size_t out = 0; out < m_n; ++out) {
                c.carry[out][j] += scale[0] * logit(1 + out);
            }
            c.write[j] += scale[1] * logit(m_n + 1);
        }
    }

    /// mHC eq. 7, before the constraints.
    void addConstrained(std::int64_t layer, const std::vector<Numbers>& streams, TokenConnections& c)
    {
        const Numbers weight = at("dynamic", layer);
        const Numbers scale = at("scale", layer);
        const double length = lengthOf(streams);
        const auto d = static_cast<std::size_t>(m_width);
        const std::size_t rows = m_n * m_n + 2 * m_n;
        const auto logit = [&](std::size_t row) {
            double sum = 0;
            for (std::size_t j = 0; j < m_n; ++j) {
                for (std::size_t k = 0; k < d; ++k) {
                    sum += streams[j][k] / length * weight[(j * rows + row) * d + k];
                }
            }
            return sum;
        };
        for (std::size_t j = 0; j < m_n; ++j) {
            c.read[j] += scale[0] * logit(j);
            for (std::size_t out = 0; out < m_n; ++out) {
                c.carry[out][j] += scale[1] * logit(m_n + j * m_n + out);
            }
            c.write[j] += scale[2] * logit(m_n + m_n * m_n + j);
        }
    }

    engine::CompiledNetwork& m_network;
    MultiStream m_wiring;
    std::size_t m_n;
    std::int64_t m_width;
};

/// Linear layers under the reference's connections: the sum of the streams for one token.
Numbers runToken(engine::CompiledNetwork& network, const MultiStream& wiring, const Numbers& input)
{
    const auto d = input.size();
    const auto n = static_cast<std::size_t>(wiring.streams);
    Reference reference(network, wiring, static_cast<std::int64_t>(d));
    std::vector<Numbers> streams(n, input);
    for (std::int64_t layer = 0; layer < kStreamDepth; ++layer) {
        const TokenConnections c = reference.of(layer, streams);
        const Numbers weight = numbersOf(parameter(network, "layers." + std::to_string(layer + 1) + ".weight.weight"));
        Numbers branch(d, 0);
        for (std::size_t row = 0; row < d; ++row) {
            for (std::size_t k = 0; k < d; ++k) {
                for (std::size_t j = 0; j < n; ++j) {
                    branch[row] += weight[row * d + k] * c.read[j] * streams[j][k];
                }
            }
        }
        std::vector<Numbers> next(n, Numbers(d, 0));
        for (std::size_t out = 0; out < n; ++out) {
            for (std::size_t k = 0; k < d; ++k) {
                next[out][k] = c.write[out] * branch[k];
                for (std::size_t in = 0; in < n; ++in) {
                    next[out][k] += c.carry[out][in] * streams[in][k];
                }
            }
        }
        streams = std::move(next);
    }
    Numbers sum(d, 0);
    for (const Numbers& stream : streams) {
        for (std::size_t k = 0; k < d; ++k) {
            sum[k] += stream[k];
        }
    }
    return sum;
}

MultiStream& wiringOf(Project& project)
{
    return std::get<MultiStream>(project.stack().topology.wiring);
}

MultiStream constrained(std::int64_t streams, projects::StreamStartLaw law)
{
    return {.streams = streams, .constraint = projects::StreamConstraint::DoublyStochastic, .start = law};
}

void streamCases()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("streams");
    QTest::addColumn<bool>("dynamic");
    for (const int streams : {2, 3, 4, 6}) { // 6: more outputs than the kernels make at once
        QTest::addRow("static, %d", streams) << "hyper-static" << streams << false;
        QTest::addRow("dynamic, %d", streams) << "hyper-dynamic" << streams << true;
        QTest::addRow("mHC, %d", streams) << "mhc" << streams << true;
        QTest::addRow("mHC static, %d", streams) << "mhc" << streams << false;
    }
    QTest::addRow("dynamic, RMS norm") << "hyper-dynamic" << 3 << true;
    QTest::addRow("static, 1") << "hyper-static" << 1 << false;
    QTest::addRow("dynamic, 1") << "hyper-dynamic" << 1 << true;
}

void configure(Project& project, int streams, bool dynamic)
{
    wiringOf(project).streams = streams;
    wiringOf(project).weights = dynamic ? projects::StreamWeights::Dynamic : projects::StreamWeights::Static;
    wiringOf(project).dynamicScale = 0.3;
    if (QTest::currentDataTag() == QByteArrayView("dynamic, RMS norm")) {
        wiringOf(project).norm = projects::NormKind::Rms;
    }
}

} // namespace

class TestStreamWirings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void equalsTheEquations_data() { streamCases(); }
    void equalsTheEquations()
    {
        QFETCH(QString, preset);
        QFETCH(int, streams);
        QFETCH(bool, dynamic);
        Project project = tinyVectors("linear", preset.toStdString(), kStreamDepth);
        configure(project, streams, dynamic);
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.4, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = network->forward(batch.input, kTraining);
        for (std::int64_t token = 0; token < 5; ++token) {
            const Numbers expected = runToken(*network, wiringOf(project), numbersOf(batch.input[token]));
            const Numbers values = numbersOf(got[token]);
            for (std::size_t k = 0; k < expected.size(); ++k) {
                QVERIFY(std::abs(values[k] - expected[k]) < 1e-12 * (1 + std::abs(expected[k])));
            }
        }
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 6);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// Every stream starts as the plain network's residual, so n times it leaves: to the bit for Hyper-Connections,
    /// where all weights are 0 and 1 and n is a power of 2; up to rounding under mHC, whose weights sum to 1.
    void startsAsThePlainNetwork_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("block");
        for (const char* const preset : {"hyper-static", "hyper-dynamic", "mhc"}) {
            for (const char* const block : {"linear", "mlp"}) {
                QTest::addRow("%s, %s", preset, block) << preset << block;
            }
        }
    }
    void startsAsThePlainNetwork()
    {
        QFETCH(QString, preset);
        QFETCH(QString, block);
        Project project = tinyVectors(block.toStdString(), preset.toStdString(), 6);
        wiringOf(project).scaleOutputs = false;
        const Project plain = tinyVectors(block.toStdString(), "plain", 6);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = compiled(plain)->forward(batch.input, kTraining) * 4;
        const double difference = distance(compiled(project)->forward(batch.input, kTraining), expected);
        QVERIFY2(preset == "mhc" ? difference < 1e-12 : difference == 0, qPrintable(QString::number(difference)));
    }

    /// Hyper-Connections: what blocks write to the residual starts √n times as large, and nothing else.
    void outputsStartScaledByTheStreams()
    {
        Project project = tinyLanguage("transformer", "hyper-static", 2);
        const auto scaled = compiled(project);
        wiringOf(project).scaleOutputs = false;
        const auto plain = compiled(project);
        for (const engine::NamedParameter& p : plain->parameters()) {
            const bool writes = p.name.ends_with("down.weight") || p.name.ends_with("attention.out.weight");
            QVERIFY2(distance(parameter(*scaled, p.name), writes ? 2 * p.tensor : p.tensor) == 0, p.name.c_str());
        }
    }

    /// Behind a head that starts with a norm the factor n is gone but for the norm's epsilon.
    void startsAsThePlainLanguageModel()
    {
        for (const char* const preset : {"hyper-static", "hyper-dynamic", "mhc"}) {
            Project project = tinyLanguage("transformer", preset, 3);
            wiringOf(project).scaleOutputs = false;
            const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
            const at::NoGradGuard noGrad;
            const at::Tensor expected =
                compiled(tinyLanguage("transformer", "plain", 3))->forward(batch.input, kTraining);
            QVERIFY(distance(compiled(project)->forward(batch.input, kTraining), expected) < 1e-4);
        }
    }

    void sinkhornIsDoublyStochasticAndHasItsGradient()
    {
        at::Tensor logits = randomTensor({4, 4, 5}, 3).requires_grad_(true);
        const at::Tensor probe = randomTensor({4, 4, 5}, 4);
        const at::Tensor m = engine::sinkhorn(logits, 20);
        QVERIFY(distance(m.sum(0), at::ones_like(m.sum(0))) < 1e-12);
        QVERIFY(distance(m.sum(1), at::ones_like(m.sum(1))) < 1e-3);
        (m * probe).sum().backward();
        const at::NoGradGuard noGrad;
        for (const std::int64_t i : {0, 17, 42, 79}) {
            const auto valueAt = [&](double step) {
                at::Tensor moved = logits.detach().clone();
                moved.view({-1})[i] += step;
                return (engine::sinkhorn(moved, 20) * probe).sum().item<double>();
            };
            const double expected = (valueAt(1e-6) - valueAt(-1e-6)) / 2e-6;
            QVERIFY(std::abs(logits.grad().view({-1})[i].item<double>() - expected) < 1e-8);
        }
    }

    /// The network starts with the weights that the inspector states.
    void mixingStartsAsFarFromTheIdentityAsSaid()
    {
        for (const std::int64_t n : {2, 4, 8}) {
            for (const auto law : {projects::StreamStartLaw::Exact, projects::StreamStartLaw::AppendixA6}) {
                const projects::StreamStart start = projects::streamStart(constrained(n, law));
                const at::Tensor identity = at::eye(n, at::kDouble);
                const at::Tensor logits = identity * (start.carry - start.carryOff) + start.carryOff;
                const at::Tensor off = engine::sinkhorn(logits, 20) - identity;
                const double far = std::sqrt((off * off).sum().item<double>() / static_cast<double>(n));
                QVERIFY(std::abs(far / start.distance - 1) < 1e-9);
            }
        }
        const auto distanceOf = [](projects::StreamStartLaw law) {
            return projects::streamStart(constrained(4, law)).distance;
        };
        QVERIFY(std::abs(distanceOf(projects::StreamStartLaw::Exact) - 1.2e-3) < 1e-4);
        QVERIFY(std::abs(distanceOf(projects::StreamStartLaw::AppendixA6) - 8.5e-3) < 1e-4);
    }

    /// mHC's appendix A.6 as a second account has it: B = 6·I − 3, reads of ±3, attentions and FFNs counted apart, and
    /// writes of 1. The default start and the files that say nothing are untouched.
    void startsAsAppendixA6WhereAsked()
    {
        Project project = tinyLanguage("transformer", "mhc", 3);
        QVERIFY(wiringOf(project).start == projects::StreamStartLaw::Exact);
        wiringOf(project).start = projects::StreamStartLaw::AppendixA6;
        const auto network = compiled(project);
        const at::Tensor carry = parameter(*network, "topology.carry");
        const at::Tensor read = parameter(*network, "topology.read");
        const at::Tensor identity = at::eye(4, carry.options());
        QCOMPARE(read.size(0), std::int64_t{6});
        for (std::int64_t module = 0; module < 6; ++module) {
            QCOMPARE(distance(carry[module], 6 * identity - 3), 0.0);
            QCOMPARE(distance(read[module], 6 * identity[module / 2] - 3), 0.0);
        }
        QCOMPARE(parameter(*network, "topology.write").abs().max().item<double>(), 0.0);
        wiringOf(project).sites = projects::MixSites::Mhsa; // one module a layer, each with a home of its own
        QCOMPARE(distance(parameter(*compiled(project), "topology.read"), 6 * identity.narrow(0, 0, 3) - 3), 0.0);
    }

    void coefficientsUnfold()
    {
        Project project = tinyVectors("linear", "hyper-dynamic", kStreamDepth);
        auto network = compiled(project);
        const auto start = network->coefficients(0);
        QCOMPARE(start[0].name.text(), std::string("mix"));
        QCOMPARE(start[0].rows, kStreamDepth + 1);
        for (std::int64_t row = 0; row <= kStreamDepth; ++row) {
            for (std::int64_t column = 0; column <= kStreamDepth; ++column) {
                const float weight = start[0].at(row, column);
                QVERIFY(column > row ? std::isnan(weight) : weight == (row == kStreamDepth ? 4.0F : 1.0F));
            }
        }
        // 1:3 goes through what layer 1 writes, layer 2 carries and layer 3 reads.
        wiringOf(project).weights = projects::StreamWeights::Static;
        network = compiled(project);
        shake(*network, 0.3, 5);
        const at::NoGradGuard noGrad;
        const at::Tensor path =
            at::matmul(at::matmul(parameter(*network, "topology.write")[0], parameter(*network, "topology.carry")[1]),
                       parameter(*network, "topology.read")[2]);
        const auto matrices = network->coefficients(4);
        QVERIFY(std::abs(matrices[0].at(2, 1) - path.item<float>()) < 1e-6F);
        QCOMPARE(matrices[2].name.text(), std::string("carry"));
        QCOMPARE(matrices[2].at(4 + 1, 2), parameter(*network, "topology.carry")[1][1][2].item<float>());
    }

    void bf16IsCloseToDouble()
    {
        for (const char* const preset : {"hyper-static", "hyper-dynamic", "mhc"}) {
            QCOMPARE(precisionFault(tinyLanguage("transformer", preset, 2), 0.03), std::string());
        }
    }

    void onlyTheDynamicPartDecays()
    {
        const auto network = compiled(tinyVectors("linear", "hyper-dynamic", 2));
        std::set<engine::Decay> found;
        for (const engine::NamedParameter& p : network->parameters()) {
            if (p.name.starts_with("topology.")) {
                found.insert(p.decay);
                QVERIFY2((p.decay == engine::Decay::Yes) == (p.name == "topology.dynamic"), p.name.c_str());
            }
        }
        QCOMPARE(found.size(), std::size_t(2));
    }
};

RESIDUA_TEST(TestStreamWirings)
#include "tst_stream_wirings.moc"
