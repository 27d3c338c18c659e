// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces that the CUDA kernel of AdamW gets, by a stand-in for the kernel on the host: the update is LibTorch's.
#include "engine/compute/train/adamw_kernel.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr double kRate = 0.02;
constexpr double kScale = 1.5;
const projects::AdamW kPlan{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weightDecay = 0.25};

void updatePiece(const kernels::AdamW& adamw, const kernels::AdamWPiece& piece, double updates)
{
    const double scale = adamw.scale != nullptr ? *static_cast<const float*>(adamw.scale) : 1.0;
    for (std::int64_t i = 0; i < piece.rows * piece.run; ++i) {
        const std::int64_t at = i / piece.run * piece.stride + i % piece.run;
        double& p = static_cast<double*>(piece.parameter)[at];
        double& m = static_cast<double*>(piece.mean)[at];
        double& v = static_cast<double*>(piece.square)[at];
        const double g = static_cast<const double*>(piece.gradient)[at] / scale;
        m = adamw.beta1 * m + (1 - adamw.beta1) * g;
        v = adamw.beta2 * v + (1 - adamw.beta2) * g * g;
        if (piece.held == nullptr || static_cast<const std::uint8_t*>(piece.held)[at] == 0) {
            p -= adamw.rate * adamw.tensor[piece.tensor].decay * p;
            p -= adamw.rate * m / (1 - std::pow(adamw.beta1, updates)) /
                 (std::sqrt(v / (1 - std::pow(adamw.beta2, updates))) + adamw.epsilon);
        }
        if (piece.rounded != nullptr) {
            static_cast<at::BFloat16*>(piece.rounded)[at] = static_cast<float>(p);
        }
    }
}

kernels::Status updateOnHost(const kernels::AdamW& adamw, void*)
{
    if (adamw.dataType != kernels::DataType::float64 || adamw.workspaceBytes < kernels::adamwWorkspace(adamw)) {
        return kernels::Status::badKind;
    }
    for (std::int32_t i = 0; i < adamw.tensors; ++i) {
        *static_cast<float*>(adamw.tensor[i].updates) += 1;
    }
    for (std::int32_t i = 0; i < adamw.pieces && *static_cast<const float*>(adamw.skip) == 0; ++i) {
        const kernels::AdamWPiece& piece = adamw.piece[i];
        updatePiece(adamw, piece, *static_cast<const float*>(adamw.tensor[piece.tensor].updates));
    }
    return kernels::Status::ok;
}

const kernels::CudaKernels& hostTable()
{
    static const kernels::CudaKernels table = [] {
        kernels::CudaKernels made{};
        made.adamw = updateOnHost;
        return made;
    }();
    return table;
}

at::Tensor waves(at::IntArrayRef sizes, double phase)
{
    const at::Tensor x = at::arange(c10::multiply_integers(sizes), at::kDouble);
    return at::sin(x * 0.7 + phase).view(sizes);
}

/// Parameters of every form: with a decay and without, cut along each dimension, with held elements.
std::vector<NamedParameter> someParameters()
{
    std::vector<NamedParameter> parameters;
    const auto add = [&](at::IntArrayRef sizes, Decay decay) -> NamedParameter& {
        const auto number = static_cast<double>(parameters.size());
        parameters.push_back({"w", waves(sizes, number).requires_grad_(true), decay, {}, {}});
        return parameters.back();
    };
    add({7}, Decay::No);
    add({6, 4}, Decay::Yes);
    add({3, 8, 2}, Decay::Yes);
    add({4, 3}, Decay::No).held = at::arange(3).eq(1); // a column
    add({8, 5}, Decay::Yes).held = waves({8, 5}, 0).gt(0);
    return parameters;
}

/// Slices at the beginning, in the middle and at the end of a dimension.
const std::vector<HeldSlice> kUntouched{{1, 0, 1, 2}, {1, 0, 4, 1}, {2, 1, 0, 3}, {2, 1, 6, 2}, {4, 1, 2, 3}};

} // namespace

class TestAdamWKernel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void updatesAsLibTorchDoes_data()
    {
        QTest::addColumn<bool>("cut");
        QTest::newRow("whole") << false;
        QTest::newRow("with untouched slices") << true;
    }
    void updatesAsLibTorchDoes()
    {
        QFETCH(bool, cut);
        const at::NoGradGuard noGrad;
        const std::vector<HeldSlice> untouched = cut ? kUntouched : std::vector<HeldSlice>();
        std::vector<NamedParameter> expected = someParameters();
        std::vector<NamedParameter> own = someParameters();
        projects::TrainingPlan plan;
        plan.optimiser = kPlan;
        plan.clipNorm = 0;
        Optimiser optimiser(plan, expected);
        std::vector<AdamWMember> members = membersOf(own, untouched);
        for (int step = 1; step <= 5; ++step) {
            const bool skipped = step == 3;
            for (std::size_t i = 0; i < own.size(); ++i) {
                const at::Tensor gradient = waves(own[i].tensor.sizes(), 10.0 * step + static_cast<double>(i));
                members[i].gradient = gradient * kScale;
                expected[i].tensor.mutable_grad() =
                    skipped && i == 0 ? at::full_like(gradient, std::nan("")) : gradient;
            }
            QVERIFY(fitsAdamWKernel(members));
            updateByKernel(hostTable(), nullptr, kPlan, members,
                           {.rate = kRate,
                            .scale = at::full({}, kScale, at::kFloat),
                            .skip = at::full({}, skipped ? 1.0 : 0.0, at::kFloat)});
            optimiser.step(kRate, untouched);
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            QVERIFY((own[i].tensor - expected[i].tensor).abs().max().item<double>() < 1e-12);
            QCOMPARE(members[i].updates.item<float>(), 5.0F);
            QVERIFY(at::equal(members[i].rounded, own[i].tensor.to(at::kFloat).to(at::kBFloat16)));
        }
        const std::vector<NamedParameter> start = someParameters();
        for (const HeldSlice& slice : untouched) {
            const AdamWMember& member = members[slice.parameter];
            const auto part = [&](const at::Tensor& whole) {
                return whole.narrow(slice.dimension, slice.begin, slice.length);
            };
            QVERIFY(at::equal(part(member.parameter), part(start[slice.parameter].tensor)));
            QCOMPARE(part(member.mean).abs().max().item<double>(), 0.0);
            QCOMPARE(part(member.square).abs().max().item<double>(), 0.0);
        }
    }

    void fitsWhatTheKernelSupports()
    {
        std::vector<NamedParameter> parameters = someParameters();
        std::vector<AdamWMember> members = membersOf(parameters, {});
        for (AdamWMember& member : members) {
            member.gradient = at::ones(member.parameter.sizes(), at::kDouble);
        }
        QVERIFY(fitsAdamWKernel(members));
        members[1].gradient = at::ones({4, 6}, at::kDouble).t();
        QVERIFY(!fitsAdamWKernel(members));
        members[1].gradient = at::ones({6, 4}, at::kFloat);
        QVERIFY(!fitsAdamWKernel(members));
    }

private:
    static std::vector<AdamWMember> membersOf(const std::vector<NamedParameter>& parameters,
                                              const std::vector<HeldSlice>& untouched)
    {
        std::vector<AdamWMember> members;
        for (const NamedParameter& parameter : parameters) {
            AdamWMember& member = members.emplace_back();
            member.parameter = parameter.tensor.detach();
            member.rounded = member.parameter.to(at::kFloat).to(at::kBFloat16);
            member.mean = at::zeros_like(member.parameter);
            member.square = at::zeros_like(member.parameter);
            member.updates = at::zeros({}, at::kFloat);
            if (parameter.held.defined()) {
                member.held = parameter.held.expand(parameter.tensor.sizes()).contiguous();
            }
            member.decay = parameter.decay == Decay::Yes ? kPlan.weightDecay : 0;
        }
        for (const HeldSlice& slice : untouched) {
            members[slice.parameter].untouched.push_back(slice);
        }
        return members;
    }
};

RESIDUA_TEST(TestAdamWKernel)
#include "tst_adamw_kernel.moc"
