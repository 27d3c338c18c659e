// SPDX-License-Identifier: GPL-3.0-or-later
// The loss and the steps of diffusion against the papers' equations, written out number by number.
#include "network_harness.h"

#include "engine/compute/network/diffusion_loss.h"
#include "engine/compute/train/image_chain.h"
#include "projects/base/random.h"
#include "projects/library/presets.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

using namespace residua;
using namespace residua::tests;

namespace {

using engine::DiffusionSampler;
using engine::Generation;

/// The variances of a schedule of some steps of training, from equations 4 and 7 of Ho et al. (2020).
struct Variances {
    std::vector<double> beta;
    std::vector<double> product; ///< ᾱ
    std::vector<double> before;  ///< ᾱ of the step before
    std::vector<double> posterior;
};

Variances variancesOf(const projects::Diffusion& diffusion, const std::vector<std::int64_t>& steps)
{
    std::vector<double> products;
    double product = 1;
    for (std::int64_t t = 0; t < diffusion.steps; ++t) {
        const double share = static_cast<double>(t) / static_cast<double>(diffusion.steps - 1);
        product *= 1 - (diffusion.first * (1 - share) + diffusion.last * share);
        products.push_back(product);
    }
    Variances variances;
    double last = 1;
    for (const std::int64_t step : steps) {
        const double own = products[static_cast<std::size_t>(step)];
        variances.before.push_back(last);
        variances.product.push_back(own);
        variances.beta.push_back(1 - own / last);
        variances.posterior.push_back((1 - own / last) * (1 - last) / (1 - own));
        last = own;
    }
    variances.posterior[0] = variances.posterior[1]; // that of the first step is 0, which has no logarithm
    return variances;
}

std::vector<std::int64_t> allSteps(const projects::Diffusion& diffusion)
{
    std::vector<std::int64_t> steps;
    for (std::int64_t t = 0; t < diffusion.steps; ++t) {
        steps.push_back(t);
    }
    return steps;
}

double normalCdf(double x)
{
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// The examples of a batch with steps 0, 1, the last one and another one; values also at the ends of the range.
struct NoisedBatch {
    projects::Diffusion diffusion{.steps = 20};
    std::vector<std::int64_t> steps{0, 1, 19, 7, 0};
    static constexpr std::int64_t kFeatures = 6;
    at::Tensor clean = randomTensor({5, kFeatures}, 1).tanh();
    at::Tensor noise = randomTensor({5, kFeatures}, 2);
    at::Tensor output = randomTensor({5, 2 * kFeatures}, 3);
    at::Tensor input;

    NoisedBatch()
    {
        clean[0][0] = 1;
        clean[4][1] = -1;
        const Variances variances = variancesOf(diffusion, allSteps(diffusion));
        input = clean.clone();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double product = variances.product[static_cast<std::size_t>(steps[i])];
            const auto row = static_cast<std::int64_t>(i);
            input[row] = std::sqrt(product) * clean[row] + std::sqrt(1 - product) * noise[row];
        }
    }
    [[nodiscard]] at::Tensor stepTensor() const { return at::tensor(steps, at::kLong); }
};

/// The loss with the mean of the variational term from the output `frozen`: (ε_θ − ε)² as a mean, and the bits of L_t.
double referenceLoss(const NoisedBatch& batch, const at::Tensor& output, const at::Tensor& frozen)
{
    const Variances variances = variancesOf(batch.diffusion, allSteps(batch.diffusion));
    const std::int64_t features = NoisedBatch::kFeatures;
    double simple = 0;
    double bits = 0;
    for (std::size_t i = 0; i < batch.steps.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        const auto t = static_cast<std::size_t>(batch.steps[i]);
        for (std::int64_t k = 0; k < features; ++k) {
            const auto at = [&](const at::Tensor& of, std::int64_t column) { return of[row][column].item<double>(); };
            simple += std::pow(at(output, k) - at(batch.noise, k), 2);
            const double share = (at(output, features + k) + 1) / 2;
            const double logVariance =
                share * std::log(variances.beta[t]) + (1 - share) * std::log(variances.posterior[t]);
            const double product = variances.product[t];
            const double start = (at(batch.input, k) - std::sqrt(1 - product) * at(frozen, k)) / std::sqrt(product);
            const double ofStart = std::sqrt(variances.before[t]) * variances.beta[t] / (1 - product);
            const double ofInput = std::sqrt(1 - variances.beta[t]) * (1 - variances.before[t]) / (1 - product);
            const double mean = ofStart * start + ofInput * at(batch.input, k);
            const double x = at(batch.clean, k);
            if (t == 0) { // −log p(x₀ | x₁), equation 13 of Ho et al.
                const double deviation = std::exp(logVariance / 2);
                const double upper = x > 0.999 ? 1 : normalCdf((x + 1.0 / 255 - mean) / deviation);
                const double lower = x < -0.999 ? 0 : normalCdf((x - 1.0 / 255 - mean) / deviation);
                bits -= std::log2(std::max(upper - lower, 1e-12));
            } else { // KL(q(x_{t−1} | x_t, x₀) ‖ p(x_{t−1} | x_t)) of two normal distributions
                const double target = ofStart * x + ofInput * at(batch.input, k);
                const double variance = std::exp(logVariance);
                bits += (logVariance - std::log(variances.posterior[t]) +
                         (variances.posterior[t] + std::pow(target - mean, 2)) / variance - 1) /
                        2 / std::numbers::ln2;
            }
        }
    }
    const auto count = static_cast<double>(batch.steps.size() * features);
    return simple / count + bits / count;
}

/// A model whose output depends on image, step and class.
at::Tensor fixedModel(const at::Tensor& x, const at::Tensor& steps, const at::Tensor& classes, bool learnsVariance)
{
    const at::Tensor shift = (steps.to(at::kDouble) * 0.01 + classes.to(at::kDouble) * 0.3).unsqueeze(1);
    const at::Tensor epsilon = (x * 0.7 + shift).sin();
    return learnsVariance ? at::cat({epsilon, (x + shift).tanh()}, 1) : epsilon;
}

/// Returns the image that the chain makes, written out for one image.
std::vector<double> referenceImage(const projects::Diffusion& diffusion, const projects::ImageSize& size,
                                   const Generation& generation, const std::vector<std::int64_t>& steps,
                                   std::int64_t label, std::int64_t null, RandomStream random)
{
    const auto features = static_cast<std::size_t>(size.channels * size.height * size.width);
    const auto guided = static_cast<std::size_t>(
        (generation.guidedChannels == 0 ? size.channels : generation.guidedChannels) * size.height * size.width);
    const Variances variances = variancesOf(diffusion, steps);
    std::vector<double> x(features);
    std::ranges::generate(x, [&] { return random.gaussian(); });
    for (std::size_t i = steps.size(); i-- > 0;) {
        const auto outputs = [&](std::int64_t of) {
            std::vector<double> both(2 * features);
            for (std::size_t k = 0; k < features; ++k) {
                const double shift = 0.01 * static_cast<double>(steps[i]) + 0.3 * static_cast<double>(of);
                both[k] = std::sin(0.7 * x[k] + shift);
                both[features + k] = std::tanh(x[k] + shift);
            }
            return both;
        };
        std::vector<double> output = outputs(label);
        const std::vector<double> without = outputs(null);
        for (std::size_t k = 0; k < guided; ++k) {
            output[k] = without[k] + generation.guidance * (output[k] - without[k]);
        }
        const double product = variances.product[i];
        const double before = variances.before[i];
        std::vector<double> next(features);
        for (std::size_t k = 0; k < features; ++k) {
            const double start = (x[k] - std::sqrt(1 - product) * output[k]) / std::sqrt(product);
            if (generation.sampler == DiffusionSampler::Ddim) {
                next[k] = std::sqrt(before) * start + std::sqrt(1 - before) * output[k];
                continue;
            }
            next[k] = std::sqrt(before) * variances.beta[i] / (1 - product) * start +
                      std::sqrt(1 - variances.beta[i]) * (1 - before) / (1 - product) * x[k];
            const double share = (output[features + k] + 1) / 2;
            const double logVariance = diffusion.learnsVariance ? share * std::log(variances.beta[i]) +
                                                                      (1 - share) * std::log(variances.posterior[i])
                                                                : std::log(variances.beta[i]);
            next[k] += i > 0 ? std::exp(logVariance / 2) * random.gaussian() : 0;
        }
        x = next;
    }
    return x;
}

} // namespace

class TestDiffusion : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theLossIsThatOfThePapers()
    {
        const NoisedBatch batch;
        engine::DiffusionLoss loss(batch.diffusion);
        const double got = loss.of(batch.output, batch.noise, batch.input, batch.stepTensor()).item<double>();
        const double expected = referenceLoss(batch, batch.output, batch.output);
        QVERIFY2(std::abs(got - expected) < 1e-10 * std::abs(expected),
                 qPrintable(QString("%1 %2").arg(got).arg(expected)));

        projects::Diffusion fixed = batch.diffusion;
        fixed.learnsVariance = false;
        engine::DiffusionLoss simple(fixed);
        const at::Tensor epsilon = batch.output.narrow(1, 0, NoisedBatch::kFeatures);
        const double squares = simple.of(epsilon, batch.noise, batch.input, batch.stepTensor()).item<double>();
        QVERIFY(std::abs(squares - (epsilon - batch.noise).square().mean().item<double>()) < 1e-14);
    }

    /// The variational term trains the variances alone.
    void theGradientsAreThoseOfThePapers()
    {
        const NoisedBatch batch;
        at::Tensor output = batch.output.clone().requires_grad_();
        engine::DiffusionLoss loss(batch.diffusion);
        loss.of(output, batch.noise, batch.input, batch.stepTensor()).backward();
        const at::NoGradGuard noGrad;
        constexpr double kStep = 1e-5;
        for (std::int64_t i = 0; i < output.numel(); ++i) {
            const auto moved = [&](double by) {
                at::Tensor there = batch.output.clone();
                there.mutable_data_ptr<double>()[i] += by;
                return referenceLoss(batch, there, batch.output);
            };
            const double expected = (moved(kStep) - moved(-kStep)) / (2 * kStep);
            const double got = output.grad().const_data_ptr<double>()[i];
            QVERIFY2(std::abs(got - expected) < 1e-6 * (1 + std::abs(expected)),
                     qPrintable(QString("%1: %2 %3").arg(i).arg(got).arg(expected)));
        }
    }

    void imagesAreThoseOfThePapers_data()
    {
        QTest::addColumn<bool>("isDdim");
        QTest::addColumn<bool>("learns");
        QTest::addColumn<double>("guidance");
        QTest::addColumn<int>("channels");
        QTest::addColumn<int>("steps");
        QTest::newRow("DDPM") << false << true << 1.0 << 3 << 0;
        QTest::newRow("DDPM, fixed variances") << false << false << 1.0 << 3 << 0;
        QTest::newRow("DDPM, guided") << false << true << 1.5 << 3 << 0;
        QTest::newRow("DDPM, guided on all channels, fewer steps") << false << true << 4.0 << 0 << 7;
        QTest::newRow("DDIM") << true << true << 1.0 << 3 << 10;
        QTest::newRow("DDIM, guided") << true << false << 4.0 << 3 << 5;
    }
    void imagesAreThoseOfThePapers()
    {
        QFETCH(bool, isDdim);
        QFETCH(bool, learns);
        QFETCH(double, guidance);
        QFETCH(int, channels);
        QFETCH(int, steps);
        const projects::Diffusion diffusion{.steps = 20, .learnsVariance = learns};
        const projects::ImageSize size{4, 1, 2};
        const engine::ChainOptions options{
            .diffusion = diffusion,
            .size = size,
            .classes = 3,
            .generation = {.guidance = guidance,
                           .guidedChannels = channels,
                           .steps = steps,
                           .sampler = isDdim ? DiffusionSampler::Ddim : DiffusionSampler::Ddpm},
            .seed = 5};
        const std::vector<std::int64_t> classes{2, 0, 1};
        constexpr std::int64_t kFirst = 4;
        engine::ImageChain chain([learns](const at::Tensor& x, const at::Tensor& t,
                                          const at::Tensor& labels) { return fixedModel(x, t, labels, learns); },
                                 options, classes, kFirst, at::TensorOptions().dtype(at::kDouble));
        while (!chain.atEnd()) {
            chain.advance();
        }
        std::vector<std::int64_t> used = allSteps(diffusion);
        if (steps > 0) {
            used.clear();
            for (int i = 0; i < steps; ++i) {
                used.push_back(isDdim ? i * 20 / steps : static_cast<std::int64_t>(std::round(i * 19.0 / (steps - 1))));
            }
        }
        for (std::size_t i = 0; i < classes.size(); ++i) {
            const std::uint64_t key = drawBits(5, streamOf(Stream::Samples), kFirst + i);
            const std::vector<double> expected = referenceImage(diffusion, size, options.generation, used, classes[i],
                                                                options.classes, RandomStream(key, 0));
            for (std::size_t k = 0; k < expected.size(); ++k) {
                const double got =
                    chain.images()[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(k)].item<double>();
                QVERIFY2(std::abs(got - expected[k]) < 1e-10 * (1 + std::abs(expected[k])),
                         qPrintable(QString("%1 %2").arg(got).arg(expected[k])));
            }
        }
    }

    /// The gradients of a small DiT are right, and at the start its layers pass the residual on, whatever the topology.
    void aDitTrains_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "ancre-ingoing", "grn-v1"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void aDitTrains()
    {
        QFETCH(QString, topology);
        projects::Project project = tinyVectors("linear", "plain", 2);
        const projects::DrawnPictures pictures{.size = 8, .samples = 20};
        const projects::ImageSize size{3, 8, 8};
        project.data.source = pictures;
        project.data.diffusion.learnsVariance = false; // whose variational term has no gradient for the noise
        project.network.objective = projects::Objective::Diffusion;
        project.stack().width = 8;
        project.network.stem = projects::ditStem(size, 4);
        project.network.blocks.front().graph = projects::ditBlock(2);
        project.network.head = projects::ditHead(size, 4, false);
        project.stack().topology = topologyNamed(topology.toStdString(), project.network);
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        engine::DeviceBatch batch = randomBatch(project, 3, 1, 5);
        {
            const at::NoGradGuard noGrad;
            QVERIFY(network->forward(batch, kEvaluation).abs().max().item<double>() == 0);
        }
        shake(*network, 0.1, 3);
        network->loss(batch, kEvaluation).backward();
        const GradientCheck check = checkGradients(*network, batch, 2, kEvaluation);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
        // Step and class matter in every layer.
        const at::NoGradGuard noGrad;
        const at::Tensor output = network->forward(batch, kEvaluation);
        for (const char* const name : {projects::kTimestep, projects::kClass}) {
            engine::DeviceBatch other = batch;
            other.conditions[name] = (batch.conditions.at(name) + 1).remainder(11);
            QVERIFY(distance(network->forward(other, kEvaluation), output) > 1e-6);
        }
    }
};

RESIDUA_TEST(TestDiffusion)
#include "tst_diffusion.moc"
