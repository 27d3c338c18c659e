// SPDX-License-Identifier: GPL-3.0-or-later
// The interventions that a request lists, and their rows against measurements of two networks.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/queries/measures/interventions.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/knockout.h"
#include "engine/compute/train/trainer.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::tests;
using engine::Intervention;
using engine::InterventionRequest;
using projects::InterventionKind;
using projects::Project;
using projects::StreamFill;
using projects::TransitionForm;

namespace {

constexpr std::int64_t kStreamsDepth = 3;

/// A small language model in double precision.
engine::TrainerParts languageOf(const std::string& topology)
{
    const auto presets = projects::topologyPresets(kStreamsDepth);
    const auto& wiring = std::ranges::find(presets, topology, &projects::TopologyPreset::name)->wiring;
    Project project = tinyLanguage(projects::blockPresetFor(wiring).name, topology, kStreamsDepth);
    project.training.batch = 2;
    project.training.sequenceLength = 6;
    project.training.precision = projects::Precision::Fp64;
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    shake(*parts->network, 0.2, 4);
    return std::move(*parts);
}

/// Returns the sum over the outputs of KL(p ‖ q), with p and q of logits [..., classes].
double divergenceOf(const at::Tensor& p, const at::Tensor& q)
{
    const std::int64_t classes = p.size(-1);
    const at::Tensor flatP = p.reshape({-1, classes}).contiguous();
    const at::Tensor flatQ = q.reshape({-1, classes}).contiguous();
    double sum = 0;
    for (std::int64_t row = 0; row < flatP.size(0); ++row) {
        const double* const a = flatP.const_data_ptr<double>() + row * classes;
        const double* const b = flatQ.const_data_ptr<double>() + row * classes;
        double sumA = 0;
        double sumB = 0;
        for (std::int64_t c = 0; c < classes; ++c) {
            sumA += std::exp(a[c]);
            sumB += std::exp(b[c]);
        }
        for (std::int64_t c = 0; c < classes; ++c) {
            sum += std::exp(a[c]) / sumA * (a[c] - std::log(sumA) - b[c] + std::log(sumB));
        }
    }
    return sum;
}

/// Returns the rows of what is asked for, measured on two batches.
std::vector<engine::InterventionRow> rowsOf(engine::TrainerParts& parts, const InterventionRequest& request,
                                            double noise = 1e-12)
{
    auto made = engine::interventionsFor(parts.project, request);
    if (!made) {
        throw std::runtime_error(made.error().text());
    }
    std::vector<projects::KnockoutSubject> subjects;
    for (const Intervention& each : *made) {
        subjects.push_back({each.row.name, 0, 0, each.alteration});
    }
    engine::Knockout knockout(*parts.network, *parts.dataset, parts.project, parts.device, 2, 0, std::move(subjects));
    while (!knockout.atEnd()) {
        if (const Status done = knockout.advance(); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
    const auto effects = knockout.effects();
    for (std::size_t i = 0; i < made->size(); ++i) {
        (*made)[i].row.rise = effects[i].rise;
        (*made)[i].row.divergence = effects[i].divergence;
    }
    return engine::derivedRows(*made, noise);
}

} // namespace

class TestInterventions : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// The loss and the divergence of a row compare two networks: the second one has other parameters.
    void rowsAreOfTwoNetworks()
    {
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = languageOf("hyper-static");
        InterventionRequest request;
        request.streams = "2";
        request.after = "1";
        const std::vector<engine::InterventionRow> rows = rowsOf(parts, request);
        const auto measured = [&] {
            std::vector<std::pair<at::Tensor, double>> batches;
            engine::SplitBatches split(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                       2);
            for (int i = 0; i < 2; ++i) {
                const engine::DeviceBatch batch = **split.next();
                batches.emplace_back(parts.network->forward(batch, engine::Pass()),
                                     parts.network->loss(batch, engine::Pass()).item<double>());
            }
            return batches;
        };
        const auto before = measured();
        parameter(*parts.network, "topology.carry")[0].select(1, 1).zero_();
        parameter(*parts.network, "topology.write")[0][1].zero_();
        const auto after = measured();
        double rise = 0;
        double divergence = 0;
        double outputs = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            rise += (after[i].second - before[i].second) / 2;
            divergence += divergenceOf(before[i].first, after[i].first);
            outputs += static_cast<double>(before[i].first.numel() / before[i].first.size(-1));
        }
        QCOMPARE(rows.size(), std::size_t{2});
        for (const engine::InterventionRow& row : rows) {
            QVERIFY2(std::abs(row.rise - rise) < 1e-10, qPrintable(QString::number(row.rise - rise)));
            QVERIFY(std::abs(row.divergence - divergence / outputs) < 1e-10);
        }
        QVERIFY(divergence > 1e-6);
    }

    void theSameStreamAtTheSameModuleRescuesAll()
    {
        for (const char* const wiring : {"hyper-static", "mhc", "frac-dynamic"}) {
            engine::TrainerParts parts = languageOf(wiring);
            InterventionRequest request;
            request.what = InterventionKind::Rescue;
            request.streams = "2";
            request.after = "2";
            int same = 0;
            for (const engine::InterventionRow& row : rowsOf(parts, request)) {
                if (row.restored == 2 && row.at == 2) {
                    QVERIFY(std::abs(row.derived - 1) < 1e-9 && std::abs(row.rise) < 1e-12);
                    ++same;
                } else {
                    QVERIFY(row.restored > 0 ? row.derived < 1 : row.divergence > 0 && std::isnan(row.derived));
                }
            }
            QCOMPARE(same, 2); // recomputed and frozen
            for (const engine::InterventionRow& row : rowsOf(parts, request, 1e3)) {
                QVERIFY(std::isnan(row.derived)); // all below the noise
            }
        }
    }

    void pairsAreComparedWithTheirStreams()
    {
        engine::TrainerParts parts = languageOf("mhc");
        InterventionRequest request;
        request.what = InterventionKind::Pairs;
        request.streams = "1,3";
        request.after = "1-2";
        const auto rows = rowsOf(parts, request);
        QCOMPARE(rows.size(), std::size_t{6});
        QCOMPARE(rows[4].name, std::string("streams 1+3 zero after 1a-1f"));
        for (const std::size_t routing : {0U, 1U}) {
            QCOMPARE(rows[4 + routing].frozen, routing == 1);
            const double expected =
                rows[4 + routing].divergence - rows[routing].divergence - rows[2 + routing].divergence;
            QCOMPARE(rows[4 + routing].derived, expected);
        }
        InterventionRequest each;
        const auto modules = projects::modulesIn(parts.project.stack().topology.wiring, kStreamsDepth);
        const auto made = engine::interventionsFor(parts.project, each);
        QVERIFY(made.ok());
        QCOMPARE(std::ssize(*made), 2 * 4 * modules);
    }

    void namesPartsThatAWiringLacks()
    {
        const engine::TrainerParts parts = languageOf("mhc");
        const auto refusal = [](const Project& project, auto change) {
            InterventionRequest request;
            change(request);
            const auto made = engine::interventionsFor(project, request);
            return made ? std::string() : made.error().place;
        };
        const auto of = [&](auto change) { return refusal(parts.project, change); };
        QCOMPARE(refusal(languageOf("plain").project, [](InterventionRequest&) {}), std::string("topology"));
        for (const char* const streams : {"5", "0", "1+1", "1,", "one", "1+", "99999999999999999999"}) {
            QCOMPARE(of([&](InterventionRequest& r) { r.streams = streams; }), std::string("streams"));
        }
        for (const char* const after : {"3-2", "99", "-1", "1-", "1,,2", "x"}) {
            QCOMPARE(of([&](InterventionRequest& r) { r.after = after; }), std::string("after"));
        }
        const auto transitions = [](InterventionRequest& r) { r.what = InterventionKind::Transitions; };
        const auto rescue = [](InterventionRequest& r) { r.what = InterventionKind::Rescue; };
        QCOMPARE(of([&](auto& r) { transitions(r), r.after = "0"; }), std::string("after"));
        QCOMPARE(of([&](auto& r) { transitions(r), r.streams = "1"; }), std::string("streams"));
        QCOMPARE(of([&](auto& r) { transitions(r), r.by = TransitionForm::Top, r.top = 9; }), std::string("top"));
        QCOMPARE(of([&](auto& r) { rescue(r), r.after = "2", r.at = "1"; }), std::string("at"));
        QCOMPARE(of([&](auto& r) { rescue(r), r.restored = "1+2"; }), std::string("restored"));
        QCOMPARE(of([](auto& r) { r.at = "2"; }), std::string("at"));
        QCOMPARE(of([](auto& r) { r.by = TransitionForm::Mean; }), std::string("by"));
        QCOMPARE(of([](auto& r) { r.top = 2; }), std::string("top"));
        QCOMPARE(of([&](auto& r) { transitions(r), r.fill = StreamFill::Mean; }), std::string("fill"));
        QCOMPARE(of([](auto& r) { r.fill = StreamFill::Stream; }), std::string("copied"));
        QCOMPARE(of([](auto& r) { r.fill = StreamFill::Stream, r.copied = 1, r.streams = "1+2"; }),
                 std::string("copied"));
        QCOMPARE(of([](auto& r) { r.copied = 1; }), std::string("copied"));
        QCOMPARE(of([&](auto& r) { r.what = InterventionKind::Pairs, r.streams = "2"; }), std::string("streams"));
        QCOMPARE(of([](auto&) {}), std::string());
        QCOMPARE(of([](auto& r) { r.after = "1a,1f-3a"; }), std::string());
        QCOMPARE(of([](auto& r) { r.after = "4a"; }), std::string("after"));
    }
};

RESIDUA_TEST(TestInterventions)
#include "tst_interventions.moc"
