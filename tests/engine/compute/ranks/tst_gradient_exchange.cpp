// SPDX-License-Identifier: GPL-3.0-or-later
// Gradients that ranks exchange while the backward pass runs. The ranks are threads of this process.
#include "engine/compute/ranks/gradient_exchange.h"
#include "engine/compute/ranks/tensor_exchange.h"
#include "rank_harness.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <QTest>

#include <array>
#include <string>
#include <thread>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr std::int64_t kElements = 2048; ///< a bucket each, in double precision

NamedParameter parameter(const std::string& name, double value)
{
    return {.name = name,
            .tensor = at::full({kElements}, value, at::kDouble).set_requires_grad(true),
            .held = {},
            .slices = {}};
}

double firstOf(const at::Tensor& tensor)
{
    return tensor[0].item<double>();
}

/// A scalar's gradients differ by rank.
double factorOf(const Ranks& ranks)
{
    return ranks.rank() == 0 ? 1 : 5;
}

} // namespace

class TestGradientExchange : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("RESIDUA_RANKS", RESIDUA_RANKS_LIBRARY); }

    /// The upper layer's gradient is a mean before the lower one's is computed.
    void exchangesWhileTheBackwardRuns()
    {
        std::array<double, 2> seen{};
        std::array<double, 2> lower{};
        std::array<double, 2> losses{};
        tests::withRanks(2, [&](Ranks& ranks) {
            std::vector<NamedParameter> parameters{parameter("layers.1.w", 2), parameter("layers.2.w", 3)};
            GradientExchange exchange(ranks, parameters, at::kCPU);
            const auto rank = static_cast<std::size_t>(ranks.rank());
            const at::Tensor between = parameters[0].tensor * factorOf(ranks);
            between.register_hook([&](const at::Tensor&) {
                while (ranks.exchange(at::kCPU).isBusy()) {
                    std::this_thread::yield();
                }
                seen[rank] = firstOf(parameters[1].tensor.grad());
            });
            const at::Tensor loss = (parameters[1].tensor * between).sum();
            exchange.begin(loss.detach());
            loss.backward();
            losses[rank] = exchange.finish().item<double>();
            lower[rank] = firstOf(parameters[0].tensor.grad());
        });
        QCOMPARE(seen, (std::array<double, 2>{6, 6}));  // (2·1 + 2·5)/2
        QCOMPARE(lower, (std::array<double, 2>{9, 9})); // (3·1 + 3·5)/2
        QCOMPARE(losses, (std::array<double, 2>{18 * kElements, 18 * kElements}));
    }

    /// Autograd reaches the parameters in another order on each rank, and one rank twice.
    void theOrderOfTheBackwardDoesNotMatter()
    {
        std::array<std::vector<double>, 2> gradients;
        tests::withRanks(2, [&](Ranks& ranks) {
            std::vector<NamedParameter> parameters;
            for (const int layer : {1, 2, 3, 4}) {
                parameters.push_back(parameter("layers." + std::to_string(layer) + ".w", layer));
            }
            GradientExchange exchange(ranks, parameters, at::kCPU);
            for (int micro = 0; micro < 2; ++micro) {
                at::Tensor loss = at::full({}, 0.0, at::kDouble);
                for (int i = 0; i < 4; ++i) {
                    const auto at = static_cast<std::size_t>(ranks.rank() == 0 ? i : 3 - i);
                    loss = loss + (parameters[at].tensor * (factorOf(ranks) * static_cast<double>(at + 1))).sum();
                }
                if (micro == 1) {
                    exchange.begin(loss.detach());
                }
                loss.backward();
            }
            (void)exchange.finish();
            for (const NamedParameter& parameter : parameters) {
                gradients[static_cast<std::size_t>(ranks.rank())].push_back(firstOf(parameter.tensor.grad()));
            }
        });
        QCOMPARE(gradients[0], (std::vector<double>{6, 12, 18, 24})); // 2 micro-batches · (1 + 5)/2 · layer
        QCOMPARE(gradients[1], gradients[0]);
    }

    /// The upper parameter's gradient is the memory of a gradient from which the lower one's is computed afterwards.
    void sharedMemoryIsNotExchanged()
    {
        std::array<double, 2> upper{};
        std::array<double, 2> lower{};
        tests::withRanks(2, [&](Ranks& ranks) {
            std::vector<NamedParameter> parameters{parameter("layers.1.w", 2), parameter("layers.2.w", 3)};
            GradientExchange exchange(ranks, parameters, at::kCPU);
            const double factor = factorOf(ranks);
            const at::Tensor between = parameters[0].tensor * factor;
            between.register_hook([&](const at::Tensor&) {
                while (ranks.exchange(at::kCPU).isBusy()) {
                    std::this_thread::yield();
                }
            });
            const at::Tensor loss = ((between + parameters[1].tensor.view({2, -1}).view({-1})) * factor).sum();
            exchange.begin(loss.detach());
            loss.backward();
            (void)exchange.finish();
            upper[static_cast<std::size_t>(ranks.rank())] = firstOf(parameters[1].tensor.grad());
            lower[static_cast<std::size_t>(ranks.rank())] = firstOf(parameters[0].tensor.grad());
        });
        QCOMPARE(upper, (std::array<double, 2>{3, 3}));   // (1 + 5)/2
        QCOMPARE(lower, (std::array<double, 2>{13, 13})); // (1·1 + 5·5)/2
    }

    void absentLayersAreNotExchanged()
    {
        std::array<bool, 2> absent{};
        std::array<double, 2> present{};
        tests::withRanks(2, [&](Ranks& ranks) {
            std::vector<NamedParameter> parameters{parameter("layers.1.w", 1), parameter("layers.2.w", 1)};
            GradientExchange exchange(ranks, parameters, at::kCPU);
            const at::Tensor loss = (parameters[0].tensor * factorOf(ranks)).sum();
            exchange.begin(loss.detach());
            loss.backward();
            (void)exchange.finish();
            const auto rank = static_cast<std::size_t>(ranks.rank());
            absent[rank] = !parameters[1].tensor.grad().defined();
            present[rank] = firstOf(parameters[0].tensor.grad());
        });
        QCOMPARE(absent, (std::array<bool, 2>{true, true}));
        QCOMPARE(present, (std::array<double, 2>{3, 3}));
    }
};

RESIDUA_TEST(TestGradientExchange)
#include "tst_gradient_exchange.moc"
