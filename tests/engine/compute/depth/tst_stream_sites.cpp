// SPDX-License-Identifier: GPL-3.0-or-later
// A site of parallel streams by the kernels against the same by ATen's operators: results and gradients.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/ops/streams.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/autograd.h>

#include <QTest>

#include <string>
#include <vector>

using namespace residua;
using namespace residua::tests;
using engine::Compute;
using engine::StreamResults;
using engine::StreamSite;
using kernels::StreamNorm;
using kernels::StreamRead;

namespace {

constexpr std::int64_t kSiteTokens = 21;
constexpr std::int64_t kSiteWidth = 24;

struct SiteCase {
    const char* name;
    std::int64_t streams, branches, reads, logits;
    StreamNorm norm;
    StreamRead read;
    bool shared = true;    ///< weights of the write that tokens share
    bool ofToken = true;   ///< weights of the write of each token
    bool scales = true;    ///< factor and gain
    const char* lost = ""; ///< the results that nothing reads: x, y or o
};

const SiteCase kSiteCases[] = {
    {"static write", 4, 1, 1, 0, StreamNorm::all, StreamRead::fixed, true, false},
    {"static read", 4, 0, 1, 0, StreamNorm::all, StreamRead::fixed},
    {"hyper-connections", 4, 1, 1, 6, StreamNorm::centred, StreamRead::tanh},
    {"hyper-connections, root mean square", 3, 1, 1, 5, StreamNorm::each, StreamRead::tanh},
    {"fractions", 3, 3, 3, 7, StreamNorm::centred, StreamRead::tanh},
    {"fractions, last write", 3, 3, 0, 0, StreamNorm::all, StreamRead::fixed},
    {"mHC", 4, 1, 1, 24, StreamNorm::all, StreamRead::sigmoid, false},
    {"mHC, first read", 4, 0, 1, 24, StreamNorm::all, StreamRead::sigmoid},
    {"mHC, exit", 4, 1, 1, 4, StreamNorm::all, StreamRead::sigmoid, false, true, false},
    {"logits alone", 4, 0, 0, 24, StreamNorm::all, StreamRead::fixed},
    {"no gradient of the streams", 4, 1, 1, 24, StreamNorm::all, StreamRead::sigmoid, false, true, true, "x"},
    {"no gradient of the logits", 4, 1, 1, 24, StreamNorm::all, StreamRead::sigmoid, false, true, true, "y"},
    {"no gradient of the read", 4, 1, 1, 24, StreamNorm::all, StreamRead::sigmoid, false, true, true, "o"},
    {"more streams than the kernels take", 9, 1, 1, 18, StreamNorm::all, StreamRead::sigmoid, false},
};

/// Returns a site with leaves that require gradients; streams and branches are [3, 7, width].
StreamSite siteIn(const SiteCase& of, at::ScalarType type, at::ScalarType single)
{
    std::uint64_t seed = 1;
    const auto leafOf = [&](std::vector<std::int64_t> shape, at::ScalarType in, double scale = 1) {
        return (randomTensor(shape, ++seed) * scale).to(in).requires_grad_(true);
    };
    StreamSite site;
    for (std::int64_t s = 0; s < of.streams; ++s) {
        site.streams.push_back(leafOf({3, kSiteTokens / 3, kSiteWidth}, type));
    }
    for (std::int64_t b = 0; b < of.branches; ++b) {
        site.branches.push_back(leafOf({3, kSiteTokens / 3, kSiteWidth}, type));
    }
    const std::int64_t sources = of.streams + of.branches;
    if (of.branches > 0 && of.shared) {
        site.weights = leafOf({of.streams, sources}, single, 0.5);
    }
    if (of.branches > 0 && of.ofToken) {
        site.tokenWeights = leafOf({of.streams, sources, kSiteTokens}, single, 0.5);
    }
    site.norm = of.norm;
    site.eps = 1e-4;
    site.reads = of.reads;
    site.read = of.read;
    if (of.logits > 0) {
        const at::Tensor rows = of.norm == StreamNorm::all
                                    ? leafOf({of.streams, of.logits, kSiteWidth}, at::kDouble, 0.2)
                                    : leafOf({of.logits, kSiteWidth}, at::kDouble, 0.2);
        const bool centred = of.norm == StreamNorm::centred; // whose rows sum to 0
        site.rows = (centred ? rows - rows.mean(-1, true) : rows).detach().to(single).requires_grad_(true);
    }
    if (of.reads > 0 && of.norm != StreamNorm::all) {
        site.base = leafOf({of.reads, of.streams}, single);
    }
    if (of.read == StreamRead::fixed && of.reads > 0) {
        site.base = leafOf({of.reads, of.streams}, single);
    } else if (of.reads > 0) {
        site.bias = leafOf({of.reads, of.streams}, single);
        site.constant = 0.125;
    }
    if (of.read != StreamRead::fixed && of.scales) {
        site.factor = leafOf({}, single);
        site.gain = leafOf({}, single);
    }
    return site;
}

/// The tensors of a site that have gradients, with their names.
std::vector<std::pair<std::string, at::Tensor>> inputsOf(const StreamSite& site)
{
    std::vector<std::pair<std::string, at::Tensor>> inputs{
        {"weights", site.weights}, {"token weights", site.tokenWeights},
        {"rows", site.rows},       {"base", site.base},
        {"bias", site.bias},       {"factor", site.factor},
        {"gain", site.gain}};
    std::erase_if(inputs, [](const auto& input) { return !input.second.defined(); });
    for (std::size_t s = 0; s < site.streams.size(); ++s) {
        inputs.emplace_back("stream " + std::to_string(s), site.streams[s]);
    }
    for (std::size_t b = 0; b < site.branches.size(); ++b) {
        inputs.emplace_back("branch " + std::to_string(b), site.branches[b]);
    }
    return inputs;
}

std::vector<at::Tensor> resultsOf(const StreamResults& results, const std::string& lost)
{
    std::vector<at::Tensor> all;
    if (lost != "x") {
        all = results.streams;
    }
    if (results.y.defined() && lost != "y") {
        all.push_back(results.y);
    }
    if (lost != "o") {
        all.insert(all.end(), results.reads.begin(), results.reads.end());
    }
    return all;
}

} // namespace

class TestStreamSites : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void kernelsEqualTheOperators_data()
    {
        QTest::addColumn<int>("number");
        QTest::addColumn<at::ScalarType>("type");
        QTest::addColumn<double>("tolerance"); // of the largest
        for (std::size_t number = 0; number < std::size(kSiteCases); ++number) {
            const char* const name = kSiteCases[number].name;
            QTest::addRow("%s, fp64", name) << static_cast<int>(number) << at::kDouble << 1e-12;
            QTest::addRow("%s, fp32", name) << static_cast<int>(number) << at::kFloat << 2e-5;
            QTest::addRow("%s, bf16", name) << static_cast<int>(number) << at::kBFloat16 << 0.02;
        }
    }
    void kernelsEqualTheOperators()
    {
        QFETCH(int, number);
        QFETCH(at::ScalarType, type);
        QFETCH(double, tolerance);
        const SiteCase& of = kSiteCases[number];
        Compute byKernels;
        byKernels.parameterType = type == at::kDouble ? at::kDouble : at::kFloat;
        byKernels.residualType = type;
        Compute byOperators = byKernels;
        byOperators.device = at::Device("cuda:0"); // has no kernels loaded
        const StreamSite site = siteIn(of, type, byKernels.parameterType);
        const auto inputs = inputsOf(site);
        std::vector<at::Tensor> leaves;
        for (const auto& [name, leaf] : inputs) {
            leaves.push_back(leaf);
        }
        std::vector<std::vector<at::Tensor>> results;
        std::vector<std::vector<at::Tensor>> gradients;
        for (const Compute& compute : {byKernels, byOperators}) {
            const StreamResults made = engine::streamSite(compute, site);
            QCOMPARE(std::ssize(made.reads), of.reads);
            results.push_back(resultsOf(made, of.lost));
            std::vector<at::Tensor> probes;
            for (std::size_t i = 0; i < results.back().size(); ++i) {
                probes.push_back(randomTensor(results.back()[i].sizes(), 100 + i).to(results.back()[i].scalar_type()));
            }
            gradients.push_back(torch::autograd::grad(results.back(), leaves, probes, {}, false, true));
        }
        for (std::size_t i = 0; i < results[0].size(); ++i) {
            compare("result " + std::to_string(i), results[0][i], results[1][i], tolerance);
        }
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            compare("gradient of " + inputs[i].first, gradients[0][i], gradients[1][i], tolerance);
        }
    }

private:
    static void compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected, double tolerance)
    {
        if (!expected.defined()) { // it has no part in these results
            QVERIFY2(!got.defined() || got.abs().max().item<double>() == 0, what.c_str());
            return;
        }
        QVERIFY2(got.defined() && got.sizes() == expected.sizes(), what.c_str());
        const double away = distance(got, expected) / (1 + expected.abs().max().item<double>());
        QVERIFY2(away < tolerance, (what + " " + std::to_string(away)).c_str());
    }
};

RESIDUA_TEST(TestStreamSites)
#include "tst_stream_sites.moc"
