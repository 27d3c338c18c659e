// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch, and concatenation, against plain compositions in double precision.
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/train/dropped_step.h"

#include "projects/cost/cost.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_transformer_encoder_layer_fwd.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace residua;
using namespace residua::tests;
using projects::BranchGate;
using projects::Project;

namespace {

constexpr std::int64_t kGateDepth = 4;

BranchGate& gateOf(Project& project)
{
    return std::get<BranchGate>(project.stack().topology.wiring);
}

/// A network's layers and topology, by name.
class Layers {
public:
    explicit Layers(engine::CompiledNetwork& network) : m_network(network) {}

    [[nodiscard]] at::Tensor operator[](const std::string& name) const { return parameter(m_network, name); }
    /// The branch of MLP layer `layer` ≥ 1.
    [[nodiscard]] at::Tensor branch(std::int64_t layer, const at::Tensor& x) const
    {
        const std::string prefix = "layers." + std::to_string(layer) + ".";
        const auto affine = [&](const at::Tensor& in, const std::string& name) {
            return at::matmul(in, (*this)[prefix + name + ".weight"].t()) + (*this)[prefix + name + ".bias"];
        };
        return affine(at::relu(affine(x, "up")), "down");
    }
    [[nodiscard]] at::Tensor lowRank(std::int64_t layer, const at::Tensor& x) const
    {
        const std::string prefix = "topology." + std::to_string(layer) + ".";
        return at::matmul(at::matmul(x, (*this)[prefix + "down.weight"].t()), (*this)[prefix + "up.weight"].t());
    }

    /// LAuReL-PA's sum over the latest activations.
    [[nodiscard]] at::Tensor previous(const std::vector<at::Tensor>& x) const
    {
        const auto layer = static_cast<std::int64_t>(x.size());
        std::int64_t first = 0; // Layers 1, 2, 3, 4 read 1, 2, 3, 3 activations.
        for (std::int64_t l = 1; l < layer; ++l) {
            first += std::min<std::int64_t>(l, 3);
        }
        at::Tensor sum = at::zeros_like(x.back());
        const std::int64_t count = std::min<std::int64_t>(layer, 3);
        for (std::int64_t k = 0; k < count; ++k) {
            const auto source = static_cast<std::size_t>(layer - count + k);
            sum = sum + (*this)["topology.coefficient"][first + k] * lowRank(layer, x[source]);
        }
        return sum;
    }
    /// LAuReL-RW's α and β, bounded by a sigmoid as in the presets.
    [[nodiscard]] at::Tensor factors(const std::vector<at::Tensor>& x) const
    {
        return at::sigmoid((*this)["topology.factor"][static_cast<std::int64_t>(x.size()) - 1]);
    }

private:
    engine::CompiledNetwork& m_network;
};

/// x_0, …, x_l and the branch of layer l + 1 to x_{l+1}.
using Rule = std::function<at::Tensor(const Layers&, const std::vector<at::Tensor>& x, const at::Tensor& branch)>;

const std::vector<std::pair<const char*, Rule>>& rules()
{
    static const std::vector<std::pair<const char*, Rule>> kRules{
        {"highway",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const std::string prefix = "topology." + std::to_string(x.size()) + ".gate.";
             const at::Tensor t = at::sigmoid(at::matmul(x.back(), net[prefix + "weight"].t()) + net[prefix + "bias"]);
             return t * f + (1 - t) * x.back();
         }},
        {"rezero",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             return x.back() + net["topology.alpha"][static_cast<std::int64_t>(x.size()) - 1] * f;
         }},
        {"post-norm",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const std::string prefix = "topology." + std::to_string(x.size()) + ".norm.";
             const at::Tensor centred = x.back() + f - (x.back() + f).mean(1, true);
             const at::Tensor variance = (centred * centred).mean(1, true);
             return centred / at::sqrt(variance + 1e-5) * net[prefix + "weight"] + net[prefix + "bias"];
         }},
        {"deep-norm",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const std::string prefix = "topology." + std::to_string(x.size()) + ".norm.";
             const at::Tensor sum = std::pow(2.0 * kGateDepth, 0.25) * x.back() + f;
             const at::Tensor centred = sum - sum.mean(1, true);
             const at::Tensor variance = (centred * centred).mean(1, true);
             return centred / at::sqrt(variance + 1e-5) * net[prefix + "weight"] + net[prefix + "bias"];
         }},
        {"deep-loop",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const at::Tensor sum = std::sqrt(2.0 * kGateDepth) * x.back() + f;
             return sum / at::sqrt((sum * sum).mean(1, true) + 1e-5) *
                    net["topology." + std::to_string(x.size()) + ".norm.weight"];
         }},
        {"laurel-rw",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const at::Tensor factor = net.factors(x);
             return factor[0] * f + factor[1] * x.back();
         }},
        {"laurel-rw-lr",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const at::Tensor factor = net.factors(x);
             const at::Tensor map = net.lowRank(static_cast<std::int64_t>(x.size()), x.back());
             return factor[0] * f + factor[1] * (map + x.back());
         }},
        {"laurel-rw-lr-pa",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             const at::Tensor factor = net.factors(x);
             return factor[0] * f + factor[1] * (net.previous(x) + x.back());
         }},
        {"laurel-lr",
         [](const Layers& net, const std::vector<at::Tensor>& x, const at::Tensor& f) {
             return f + x.back() + net.lowRank(static_cast<std::int64_t>(x.size()), x.back());
         }},
        {"laurel-pa", [](const Layers& net, const std::vector<at::Tensor>& x,
                         const at::Tensor& f) { return f + x.back() + net.previous(x); }},
    };
    return kRules;
}

void presetRows(std::initializer_list<const char*> presets)
{
    QTest::addColumn<QString>("preset");
    for (const char* const preset : presets) {
        QTest::newRow(preset) << preset;
    }
}

} // namespace

class TestGateWirings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void equalsTheEquations_data()
    {
        QTest::addColumn<int>("rule");
        for (std::size_t i = 0; i < rules().size(); ++i) {
            QTest::newRow(rules()[i].first) << static_cast<int>(i);
        }
    }
    void equalsTheEquations()
    {
        QFETCH(int, rule);
        const auto& [preset, next] = rules()[static_cast<std::size_t>(rule)];
        Project project = tinyVectors("mlp", preset, kGateDepth);
        gateOf(project).rank = 2;
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.3, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        {
            const at::NoGradGuard noGrad;
            const Layers layers(*network);
            std::vector<at::Tensor> x{batch.input};
            for (std::int64_t layer = 1; layer <= kGateDepth; ++layer) {
                x.push_back(next(layers, x, layers.branch(layer, x.back())));
            }
            QVERIFY(distance(network->forward(batch.input, kTraining), x.back()) < 1e-11);
        }
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 6);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// Layers left out under every scaling: a gate passes over an absent layer, whose activation is that before it once
    /// more; DenseNet reads what is there.
    void leftOutLayersEqualTheEquations_data()
    {
        QTest::addColumn<int>("rule");
        QTest::addColumn<int>("scaling");
        for (std::size_t i = 0; i <= rules().size(); ++i) {
            using projects::DropScaling;
            for (const DropScaling scaling :
                 {DropScaling::SquareRoot, DropScaling::Linear, DropScaling::InverseProbability}) {
                QTest::addRow("%s, %d", i < rules().size() ? rules()[i].first : "densenet", static_cast<int>(scaling))
                    << static_cast<int>(i) << static_cast<int>(scaling);
            }
        }
    }
    void leftOutLayersEqualTheEquations()
    {
        QFETCH(int, rule);
        QFETCH(int, scaling);
        const bool gated = static_cast<std::size_t>(rule) < rules().size();
        Project project =
            tinyVectors("mlp", gated ? rules()[static_cast<std::size_t>(rule)].first : "densenet", kGateDepth);
        if (gated) {
            gateOf(project).rank = 2;
        }
        const DroppedStep step = droppedStep(project, static_cast<projects::DropScaling>(scaling), 2);
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const Layers layers(*network);
        std::vector<at::Tensor> x{batch.input}; // activations, or DenseNet's entries
        at::Tensor expected;
        for (std::int64_t layer = 1; layer <= kGateDepth; ++layer) {
            const double factor = step.factors[static_cast<std::size_t>(layer - 1)];
            if (gated) {
                const Rule& next = rules()[static_cast<std::size_t>(rule)].second;
                x.push_back(factor == 0 ? x.back() : next(layers, x, factor * layers.branch(layer, x.back())));
                expected = x.back();
            } else {
                const at::Tensor read =
                    at::matmul(at::cat(x, 1), layers["topology." + std::to_string(layer) + ".weight"].t());
                x.push_back(factor * layers.branch(layer, read));
            }
        }
        if (!gated) {
            const at::Tensor weight = layers["topology." + std::to_string(kGateDepth + 1) + ".weight"];
            expected = at::matmul(at::cat(x, 1), weight.t());
        }
        const at::Tensor got = network->forward(batch.input, step.pass);
        QVERIFY2(distance(got, expected) < 1e-11, qPrintable(QString::number(distance(got, expected))));
        const double apart = gradientDistance(*network, got, expected);
        QVERIFY2(apart < 1e-10, qPrintable(QString::number(apart)));
    }

    void startsAsThePlainNetwork_data()
    {
        presetRows({"laurel-rw", "laurel-lr", "laurel-pa", "laurel-rw-lr", "laurel-rw-lr-pa"});
    }
    void startsAsThePlainNetwork()
    {
        QFETCH(QString, preset);
        Project project = tinyVectors("mlp", preset.toStdString(), kGateDepth);
        gateOf(project).bound = projects::LaurelBound::None;
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = compiled(tinyVectors("mlp", "plain", kGateDepth))->forward(batch.input, kTraining);
        QCOMPARE(distance(compiled(project)->forward(batch.input, kTraining), expected), 0.0);
    }

    /// Bounded by a softmax the two factors share 1, at first alike.
    void laurelFactorsShareOneUnderASoftmax()
    {
        Project project = tinyVectors("mlp", "laurel-rw", 2);
        gateOf(project).bound = projects::LaurelBound::Softmax;
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const Layers layers(*network);
        at::Tensor x = batch.input;
        for (const std::int64_t layer : {1, 2}) {
            x = 0.5 * layers.branch(layer, x) + 0.5 * x;
        }
        QVERIFY(distance(network->forward(batch.input, kTraining), x) < 1e-12);
        parameter(*network, "topology.factor").fill_(3).select(1, 0).fill_(1);
        const double alpha = 1 / (1 + std::exp(2));
        const engine::Matrix mix = network->coefficients(1).front();
        QVERIFY(std::abs(mix.at(2, 2) - alpha) < 1e-6);
        QVERIFY(std::abs(mix.at(1, 0) - (1 - alpha)) < 1e-6);
    }

    void rezeroStartsAsTheIdentity()
    {
        const Project project = tinyVectors("mlp", "rezero", kGateDepth);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(at::equal(got, batch.input));
        network->loss(batch, kTraining).backward();
        QVERIFY(parameter(*network, "topology.alpha").grad().abs().min().item<double>() > 0);
    }

    void highwayStartsAtItsBias()
    {
        Project project = tinyVectors("mlp", "highway", 2);
        gateOf(project).bias = -3;
        const auto network = compiled(project);
        QCOMPARE(parameter(*network, "topology.2.gate.bias")[5].item<double>(), -3.0);
        QVERIFY(std::abs(network->coefficients(0)[1].at(1, 0) - 1 / (1 + std::exp(3.0F))) < 1e-6F);
    }

    void densenetEqualsConcatenation()
    {
        const Project project = tinyVectors("mlp", "densenet", kGateDepth);
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        {
            const at::NoGradGuard noGrad;
            const Layers layers(*network);
            std::vector<at::Tensor> entries{batch.input};
            at::Tensor read;
            for (std::int64_t reader = 1; reader <= kGateDepth + 1; ++reader) {
                read = at::matmul(at::cat(entries, 1), layers["topology." + std::to_string(reader) + ".weight"].t());
                if (reader <= kGateDepth) {
                    entries.push_back(layers.branch(reader, read));
                }
            }
            QVERIFY(distance(network->forward(batch.input, kTraining), read) < 1e-12);
        }
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 6);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
        const auto mix = network->coefficients(2).front();
        const at::Tensor part = parameter(*network, "topology.3.weight").narrow(1, 6, 6);
        QVERIFY(std::abs(mix.at(2, 1) - part.abs().mean().item<float>()) < 1e-6F);
        QVERIFY(std::isnan(mix.at(2, 3)));
    }

    /// With factors (0, 1) every layer uses its own values: the plain network. With (1, 0) no later value matrix
    /// counts.
    void valueResidualMixesTheFirstValues()
    {
        const Project project = tinyLanguage("transformer", "value-residual", 3);
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::Tensor factors = parameter(*network, "topology.values");
        const auto setFactors = [&](double first, double own) {
            const at::NoGradGuard noGrad;
            factors.select(1, 0).fill_(first);
            factors.select(1, 1).fill_(own);
        };
        {
            const at::NoGradGuard noGrad;
            setFactors(0, 1);
            const at::Tensor plain = compiled(tinyLanguage("transformer", "plain", 3))->forward(batch.input, kTraining);
            QVERIFY(distance(network->forward(batch.input, kTraining), plain) < 1e-12);
            QVERIFY(plain.abs().max().item<double>() > 1e-3);
        }
        setFactors(1, 0);
        network->loss(batch, kTraining).backward();
        QCOMPARE(parameter(*network, "layers.3.attention.v.weight").grad().abs().max().item<double>(), 0.0);
        QVERIFY(parameter(*network, "layers.1.attention.v.weight").grad().abs().max().item<double>() > 0);
        for (engine::NamedParameter& p : network->parameters()) {
            p.tensor.mutable_grad().reset();
        }
        setFactors(0.5, 0.5);
        shake(*network, 0.1, 9);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 4);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// A norm after each half makes the layer of PyTorch's TransformerEncoder, and so of BERT, with norm_first off.
    void postNormEqualsAnEncoderLayer_data()
    {
        QTest::addColumn<double>("epsilon");
        QTest::newRow("PyTorch") << 1e-5;
        QTest::newRow("BERT") << 1e-12;
        QTest::newRow("visible") << 0.1;
    }
    void postNormEqualsAnEncoderLayer()
    {
        QFETCH(double, epsilon);
        Project project = tinyLanguage("transformer-post-norm", "post-norm", 3);
        gateOf(project).epsilon = epsilon;
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::NoGradGuard noGrad;
        const auto of = [&](const std::string& name) { return parameter(*network, name); };
        at::Tensor x = at::embedding(of("stem.embed.weight"), batch.input);
        for (int layer = 1; layer <= 3; ++layer) {
            const std::string own = "layers." + std::to_string(layer) + ".";
            const auto all = [&](const char* last) {
                const std::string attention = own + "attention.";
                return at::cat({of(attention + "q." + last), of(attention + "k." + last), of(attention + "v." + last)});
            };
            const auto norm = [&](int half, const char* last) {
                return of("topology." + std::to_string(2 * layer - 2 + half) + ".norm." + last);
            };
            x = at::_transformer_encoder_layer_fwd(
                x, 8, 2, all("weight"), all("bias"), of(own + "attention.out.weight"), of(own + "attention.out.bias"),
                true, false, epsilon, norm(1, "weight"), norm(1, "bias"), norm(2, "weight"), norm(2, "bias"),
                of(own + "up.weight"), of(own + "up.bias"), of(own + "down.weight"), of(own + "down.bias"));
        }
        const at::Tensor normal = at::rms_norm(x, {8}, of("head.norm.weight"), 1e-6);
        const at::Tensor logits = at::matmul(normal, of("head.logits.weight").t());
        const double apart = distance(network->forward(batch.input, kEvaluation), logits);
        QVERIFY2(apart < 1e-11, qPrintable(QString::number(apart)));
    }

    /// A block without halves has one norm for the whole layer.
    void postNormOfWholeLayers()
    {
        Project project = tinyVectors("mlp", "post-norm", 2);
        gateOf(project).norm = projects::NormKind::Rms;
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.3, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const Layers layers(*network);
        at::Tensor x = batch.input;
        for (const std::int64_t layer : {1, 2}) {
            const at::Tensor sum = x + layers.branch(layer, x);
            x = sum / at::sqrt((sum * sum).mean(1, true) + 1e-5) *
                layers["topology." + std::to_string(layer) + ".norm.weight"];
        }
        QVERIFY(distance(network->forward(batch.input, kTraining), x) < 1e-12);
    }

    void valueResidualNeedsOneAttention()
    {
        const Project project = tinyVectors("mlp", "value-residual", 2);
        QVERIFY(QString::fromStdString(compileError(project)).contains("has no attention"));
    }

    /// x_l = x_{l−1} + factor·f_l over the layers that the pass runs, whatever the document would draw.
    void thePassSaysWhichLayersRun_data()
    {
        QTest::addColumn<QString>("schedule");
        QTest::newRow("none") << QString("none");
        QTest::newRow("stochastic depth") << QString("stochastic-depth");
    }
    void thePassSaysWhichLayersRun()
    {
        QFETCH(QString, schedule);
        Project project = tinyVectors("mlp", "plain", kGateDepth);
        project.stack().schedule = *projects::scheduleFrom(schedule.toStdString(), kGateDepth, project.training.steps);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        engine::Pass pass = kTraining;
        pass.layers.resize(kGateDepth);
        pass.layers[1].runs = false;
        pass.layers[2].factor = 0.25;
        const Layers layers(*network);
        at::Tensor x = batch.input;
        for (const std::int64_t layer : {1, 3, 4}) {
            x = x + (layer == 3 ? 0.25 : 1.0) * layers.branch(layer, x);
        }
        QVERIFY(distance(network->forward(batch.input, pass), x) < 1e-12);
        network->loss(batch, pass).backward();
        for (const engine::NamedParameter& parameter : network->parameters()) {
            QCOMPARE(parameter.tensor.grad().defined(), !parameter.name.starts_with("layers.2."));
        }
        const auto told = network->coefficients(3);
        QCOMPARE(told.size(), std::size_t{1});
        QCOMPARE(told.front().values, (std::vector<float>{1, 0, 1, 1}));
    }

    void rezeroAndLaurelUnfold()
    {
        Project project = tinyVectors("linear", "laurel-rw", 2);
        gateOf(project).bound = projects::LaurelBound::None;
        const auto network = compiled(project);
        {
            const at::NoGradGuard noGrad;
            const at::Tensor factor = parameter(*network, "topology.factor");
            factor.copy_(
                at::cat({at::full({1}, 2.0), at::full({1}, 3.0), at::full({1}, 5.0), at::full({1}, 7.0)}).view({2, 2}));
        }
        const auto mix = network->coefficients(3).front(); // x_1 = 2f_1 + 3x_0; x_2 = 5f_2 + 7x_1
        QCOMPARE(mix.rows, std::int64_t{3});
        QCOMPARE(mix.at(1, 1), 2.0F);
        QCOMPARE(mix.at(2, 0), 21.0F);
        QCOMPARE(mix.at(2, 1), 14.0F);
        QCOMPARE(mix.at(2, 2), 5.0F);
    }

    void bf16IsCloseToDouble_data()
    {
        presetRows({"highway", "laurel-rw", "laurel-lr", "laurel-pa", "value-residual", "post-norm", "densenet"});
    }
    void bf16IsCloseToDouble()
    {
        QFETCH(QString, preset);
        QCOMPARE(precisionFault(tinyLanguage("transformer", preset.toStdString(), 2), 0.03), std::string());
    }
};

RESIDUA_TEST(TestGateWirings)
#include "tst_gate_wirings.moc"
