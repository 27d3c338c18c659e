// SPDX-License-Identifier: GPL-3.0-or-later
// Altered parallel streams against the equations of their wirings, written with LibTorch's operators over all tokens in
// double precision, and against networks with other parameters.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/train/knockout.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::Alteration;
using projects::MultiStream;
using projects::Project;
using projects::StreamConstraint;
using projects::StreamFill;
using projects::StreamState;
using projects::TransitionForm;

namespace {

constexpr std::int64_t kAlteredDepth = 3;
constexpr const char* kWirings[] = {"hyper-static", "hyper-dynamic", "frac-static", "frac-dynamic",
                                    "mhc",          "ihc",           "mhc-lite"};

/// The weights of a module or, in `read`, of the exit; of all tokens or of one for all.
struct Routing {
    at::Tensor read;  ///< [tokens, from, R]
    at::Tensor carry; ///< [tokens, from, to]
    at::Tensor write; ///< [tokens, to]
};

/// A network of linear layers under a wiring of streams. Streams: [tokens, n, width].
class Direct {
public:
    Direct(engine::CompiledNetwork& network, const MultiStream& wiring) : m_network(network), m_wiring(wiring) {}

    at::Tensor unaltered(const at::Tensor& x)
    {
        m_routing.clear();
        m_streams.clear();
        return run(x, nullptr);
    }
    /// After unaltered() of the same input.
    at::Tensor altered(const at::Tensor& x, const Alteration& alteration) { return run(x, &alteration); }

private:
    at::Tensor own(const std::string& name) { return parameter(m_network, "topology." + name); }
    [[nodiscard]] bool isCut() const { return m_wiring.state == StreamState::Fractions; }

    at::Tensor run(const at::Tensor& x, const Alteration* alteration)
    {
        const std::int64_t n = m_wiring.streams;
        at::Tensor h = isCut() ? x.view({x.size(0), n, -1})
                               : at::stack(std::vector<at::Tensor>(static_cast<std::size_t>(n), x), 1);
        for (std::int64_t module = 1; module <= kAlteredDepth; ++module) {
            h = atBorder(h, module - 1, alteration);
            if (alteration != nullptr && !alteration->off.empty() && alteration->off.front().first == module) {
                continue;
            }
            const Routing by = routing(h, module, alteration);
            const at::Tensor read = (by.read.unsqueeze(3) * h.unsqueeze(2)).sum(1); // [tokens, R, width]
            const at::Tensor weight = parameter(m_network, "layers." + std::to_string(module) + ".weight.weight");
            const at::Tensor f = at::matmul(read.flatten(1), weight.t()).view(read.sizes());
            h = (by.carry.unsqueeze(3) * h.unsqueeze(2)).sum(1) + by.write.unsqueeze(2) * f;
        }
        h = atBorder(h, kAlteredDepth, alteration);
        return isCut() ? h.flatten(1) : (routing(h, kAlteredDepth + 1, alteration).read * h).sum(1);
    }

    at::Tensor atBorder(at::Tensor h, std::int64_t border, const Alteration* alteration)
    {
        if (alteration == nullptr) {
            m_streams[border] = h;
            return h;
        }
        for (const projects::FilledStreams& fill : alteration->fills) {
            if (border < fill.first || border > fill.last) {
                continue;
            }
            std::vector<at::Tensor> streams = h.unbind(1);
            for (const std::int64_t stream : fill.streams) {
                const at::Tensor before = h.select(1, stream - 1);
                streams[static_cast<std::size_t>(stream - 1)] =
                    !fill.with                       ? m_streams.at(border).select(1, stream - 1)
                    : *fill.with == StreamFill::Zero ? at::zeros_like(before)
                    : *fill.with == StreamFill::Mean ? before.mean(0, true).expand_as(before)
                                                     : h.select(1, fill.other - 1);
            }
            h = at::stack(streams, 1);
        }
        return h;
    }

    Routing routing(const at::Tensor& h, std::int64_t module, const Alteration* alteration)
    {
        const bool frozen = alteration != nullptr && alteration->frozenRouting;
        Routing by = frozen                                                  ? m_routing.at(module)
                     : module > kAlteredDepth                                ? Routing{exit(h), {}, {}}
                     : m_wiring.constraint == StreamConstraint::Identity     ? identity(h, module - 1)
                     : m_wiring.constraint == StreamConstraint::Permutations ? permutations(h, module - 1)
                     : m_wiring.constraint == StreamConstraint::None         ? free(h, module - 1)
                                                                             : doublyStochastic(h, module - 1);
        if (alteration == nullptr) {
            m_routing[module] = by;
            return by;
        }
        for (const projects::ReplacedTransitions& replaced : alteration->transitions) {
            if (module >= replaced.first && module <= replaced.last && module <= kAlteredDepth) {
                by.carry = changed(by.carry, replaced);
            }
        }
        return by;
    }

    /// Each new stream is a column.
    static at::Tensor changed(const at::Tensor& carry, const projects::ReplacedTransitions& by)
    {
        if (by.form == TransitionForm::Identity) {
            return at::eye(carry.size(1), carry.options()).unsqueeze(0);
        }
        if (by.form == TransitionForm::Mean) {
            return carry.mean(0, true);
        }
        at::Tensor result = at::zeros_like(carry);
        for (std::int64_t token = 0; token < carry.size(0); ++token) {
            for (std::int64_t to = 0; to < carry.size(2); ++to) {
                const at::Tensor column = carry[token].select(1, to);
                std::vector<std::int64_t> order(static_cast<std::size_t>(column.numel()));
                std::iota(order.begin(), order.end(), 0);
                const auto size = [&](std::int64_t from) { return std::abs(column[from].item<double>()); };
                std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) { return size(a) > size(b); });
                double all = 0;
                double kept = 0;
                for (std::size_t i = 0; i < order.size(); ++i) {
                    all += size(order[i]);
                    kept += i < static_cast<std::size_t>(by.top) ? size(order[i]) : 0;
                }
                const double factor = by.form == TransitionForm::TopScaled ? all / kept : 1;
                for (std::size_t i = 0; i < static_cast<std::size_t>(by.top); ++i) {
                    result[token][order[i]][to] = column[order[i]] * factor;
                }
            }
        }
        return result;
    }

    static at::Tensor flat(const at::Tensor& phi) { return phi.permute({1, 0, 2}).flatten(1); }
    static at::Tensor normed(const at::Tensor& streams, double epsilon)
    {
        const at::Tensor all = streams.flatten(1);
        return all * at::rsqrt((all * all).mean(1, true) + epsilon);
    }

    /// Hyper-Connections and Frac-Connections.
    Routing free(const at::Tensor& h, std::int64_t layer)
    {
        const std::int64_t n = m_wiring.streams;
        const std::int64_t reads = isCut() ? n : 1;
        at::Tensor mix = at::cat({own("read")[layer].view({n, reads}), own("carry")[layer]}, 1).unsqueeze(0);
        at::Tensor write = own("write")[layer].unsqueeze(0);
        if (m_wiring.weights == projects::StreamWeights::Dynamic) {
            const at::Tensor bias = isCut() ? own("norm_bias")[layer] : at::Tensor();
            const at::Tensor normal = at::layer_norm(h, {h.size(2)}, own("norm")[layer], bias, 1e-5);
            const at::Tensor active = at::tanh(at::matmul(normal, own("dynamic")[layer].t()));
            mix = mix + own("scale")[layer][0] * active.narrow(2, 0, reads + n);
            write = write + own("scale")[layer][1] * active.select(2, reads + n);
        }
        return {mix.narrow(2, 0, reads), mix.narrow(2, reads, n), write};
    }

    /// mHC: the matrix's rows, to the new streams, are divided by their sums first.
    Routing doublyStochastic(const at::Tensor& h, std::int64_t layer)
    {
        const std::int64_t n = m_wiring.streams;
        const at::Tensor y = at::matmul(normed(h, 1e-6), flat(own("dynamic")[layer]).t());
        const at::Tensor scale = own("scale")[layer];
        at::Tensor carry = (scale[1] * y.narrow(1, n, n * n).view({-1, n, n}) + own("carry")[layer]).exp();
        for (std::int64_t i = 0; i < m_wiring.sinkhornIterations; ++i) {
            carry = carry / carry.sum(2, true);
            carry = carry / carry.sum(1, true);
        }
        return {at::sigmoid(scale[0] * y.narrow(1, 0, n) + own("read")[layer]).unsqueeze(2), carry,
                2 * at::sigmoid(scale[2] * y.narrow(1, n + n * n, n) + own("write")[layer])};
    }

    Routing identity(const at::Tensor& h, std::int64_t layer)
    {
        const std::int64_t n = m_wiring.streams;
        const at::Tensor y = at::matmul(normed(h, 1e-5), flat(own("dynamic")[layer]).t());
        const at::Tensor read = own("scale")[layer][0] * y.narrow(1, 0, n) + own("read")[layer];
        const at::Tensor write = own("scale")[layer][1] * y.narrow(1, n, n) + own("write")[layer];
        return {(at::sigmoid(read) + 1e-6).unsqueeze(2), at::eye(n, h.options()).unsqueeze(0),
                2 * at::sigmoid(write) + 1e-6};
    }

    Routing permutations(const at::Tensor& h, std::int64_t layer)
    {
        const std::int64_t n = m_wiring.streams;
        const at::Tensor y =
            at::matmul(normed(h, 1e-6) * own("norm")[layer].flatten(), flat(own("dynamic")[layer]).t());
        const std::int64_t count = own("carry").size(1);
        const at::Tensor scale = own("scale")[layer];
        const at::Tensor shares = at::softmax(scale[1] * y.narrow(1, n, count) + own("carry")[layer], 1);
        at::Tensor carry = at::zeros({h.size(0), n, n}, h.options());
        std::vector<std::int64_t> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::int64_t r = 0;
        do { // takes stream s to order[s]
            for (std::int64_t s = 0; s < n; ++s) {
                carry.select(1, s).select(1, order[static_cast<std::size_t>(s)]).add_(shares.select(1, r));
            }
            ++r;
        } while (std::ranges::next_permutation(order).found);
        return {at::sigmoid(scale[0] * y.narrow(1, 0, n) + own("read")[layer]).unsqueeze(2), carry,
                2 * at::sigmoid(scale[2] * y.narrow(1, n + count, n) + own("write")[layer])};
    }

    /// [tokens, n, 1]
    at::Tensor exit(const at::Tensor& h)
    {
        const std::int64_t n = m_wiring.streams;
        if (m_wiring.exit == projects::StreamExit::Head) {
            const double epsilon = m_wiring.constraint == StreamConstraint::Identity ? 1e-5 : 1e-6;
            const at::Tensor y = at::matmul(normed(h, epsilon), flat(own("exit")).t());
            return (at::sigmoid(own("exit_scale") * y + own("exit_bias")) + 1e-6).unsqueeze(2);
        }
        const double each = m_wiring.exit == projects::StreamExit::Mean ? 1.0 / static_cast<double>(n) : 1;
        return at::full({1, n, 1}, each, h.options());
    }

    engine::CompiledNetwork& m_network;
    const MultiStream m_wiring;
    std::map<std::int64_t, Routing> m_routing;    ///< by module
    std::map<std::int64_t, at::Tensor> m_streams; ///< by border
};

Alteration filling(std::vector<projects::FilledStreams> fills)
{
    Alteration alteration;
    alteration.fills = std::move(fills);
    return alteration;
}
Alteration replacing(std::int64_t first, std::int64_t last, TransitionForm form, std::int64_t top = 1)
{
    Alteration alteration;
    alteration.transitions = {{first, last, form, top}};
    return alteration;
}

/// A network of vectors whose parameters are off the places where they start.
struct Altered {
    explicit Altered(const std::string& topology) : project(tinyVectors("linear", topology, kAlteredDepth))
    {
        auto& wiring = std::get<MultiStream>(project.stack().topology.wiring);
        wiring.streams = wiring.state == StreamState::Fractions ? 3 : wiring.streams;
        wiring.dynamicScale = 0.3;
        network = compiled(project);
        shake(*network, 0.4, 3);
        batch = randomBatch(project, 5, 1, 7);
    }
    [[nodiscard]] const MultiStream& wiring() const { return std::get<MultiStream>(project.stack().topology.wiring); }

    Project project;
    std::unique_ptr<engine::CompiledNetwork> network;
    engine::DeviceBatch batch;
};

/// Returns a network with static hyper-connections: one of language, of padded texts, of pictures or of vectors.
Project networkOf(const std::string& family)
{
    constexpr const char* kWiring = "hyper-static";
    if (family == "classifier") {
        return tinyClassifier(kWiring, kAlteredDepth);
    }
    if (family == "mlp") {
        return tinyVectors("mlp", kWiring, kAlteredDepth);
    }
    Project project = tinyLanguage(family == "vit" ? "gpt" : family, kWiring, kAlteredDepth);
    if (family == "vit") {
        project.data.source = projects::DrawnPictures{.size = 8, .samples = 20};
        project.network.objective = projects::Objective::Classification;
        project.network.stem = projects::patchStem(3, 8, 8);
        project.network.head = projects::classHead("layer_norm");
        project.network.blocks.front().graph = projects::bidirectional(project.network.blocks.front().graph);
    }
    return project;
}

} // namespace

class TestAlteredStreams : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void equalsTheDirectComputation_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const wiring : kWirings) {
            QTest::newRow(wiring) << QString(wiring);
        }
    }
    void equalsTheDirectComputation()
    {
        QFETCH(QString, topology);
        const at::NoGradGuard noGrad;
        Altered of(topology.toStdString());
        Direct direct(*of.network, of.wiring());
        const at::Tensor unaltered = direct.unaltered(of.batch.input);
        const double scale = 1 + unaltered.abs().max().item<double>();
        Alteration withoutALayer = filling({{{2}, 1, 1, StreamFill::Zero}, {{1}, 2, 2, StreamFill::Mean}});
        withoutALayer.off = {{2, projects::LayerPart::Whole}};
        for (Alteration alteration :
             {withoutALayer, filling({{{2}, 1, 1, StreamFill::Zero}}), filling({{{1, 3}, 0, 2, StreamFill::Mean}}),
              filling({{{2, 3}, 2, 3, StreamFill::Stream, 1}}), filling({{{2}, 1, 1, StreamFill::Zero}, {{1}, 2, 2}}),
              filling({{{1, 2}, 1, 1, StreamFill::Zero}, {{2}, 3, 3}}), replacing(2, 3, TransitionForm::Identity),
              replacing(1, 3, TransitionForm::Mean), replacing(2, 2, TransitionForm::Top, 2),
              replacing(1, 2, TransitionForm::TopScaled, 2)}) {
            for (const bool frozen : {false, true}) {
                alteration.frozenRouting = frozen;
                engine::AlteredPasses passes(*of.network, engine::Pass());
                passes.keepFor(alteration);
                const at::Tensor whole = passes.whole(of.batch);
                QVERIFY(distance(whole, unaltered) < 1e-12 * scale);
                QVERIFY(at::equal(whole, of.network->stackOutput(of.batch, engine::Pass())));
                const double away =
                    distance(passes.altered(of.batch, alteration), direct.altered(of.batch.input, alteration));
                QVERIFY2(away < 1e-11 * scale, qPrintable(QString::number(away)));
            }
        }
    }

    void otherParametersDoTheSame_data()
    {
        QTest::addColumn<QString>("family");
        for (const char* const family : {"gpt", "transformer", "classifier", "vit", "mlp"}) {
            QTest::newRow(family) << QString(family);
        }
    }
    /// Static weights of a module that is followed by a filled stream, or whose transition is replaced.
    void otherParametersDoTheSame()
    {
        QFETCH(QString, family);
        const at::NoGradGuard noGrad;
        const Project project = networkOf(family.toStdString());
        const auto network = compiled(project);
        shake(*network, 0.2, 5);
        const engine::DeviceBatch batch = randomBatch(project, 3, 4, 7);
        engine::AlteredPasses passes(*network, engine::Pass());
        const at::Tensor whole = passes.whole(batch);
        const auto under = [&](const Alteration& alteration) { return passes.altered(batch, alteration); };
        const at::Tensor zero = under(filling({{{2}, 1, 1, StreamFill::Zero}}));
        const at::Tensor copied = under(filling({{{2}, 1, 1, StreamFill::Stream, 1}}));
        const at::Tensor identity = under(replacing(2, 2, TransitionForm::Identity));
        const at::Tensor largest = under(replacing(2, 2, TransitionForm::Top));
        const auto with = [&](const auto& change) {
            std::map<std::string, at::Tensor> before;
            for (const char* const name : {"topology.carry", "topology.write"}) {
                before[name] = parameter(*network, name).clone();
            }
            change(parameter(*network, "topology.carry"), parameter(*network, "topology.write"));
            const at::Tensor output = network->stackOutput(batch, engine::Pass());
            for (const auto& [name, values] : before) {
                parameter(*network, name).copy_(values);
            }
            return output;
        };
        const auto close = [&](const at::Tensor& altered, const at::Tensor& other) {
            return distance(altered, other) < 1e-11 * (1 + whole.abs().max().item<double>()) &&
                   distance(altered, whole) > 1e-6;
        };
        QVERIFY(close(zero, with([](at::Tensor carry, at::Tensor write) {
                          carry[0].select(1, 1).zero_();
                          write[0][1].zero_();
                      })));
        QVERIFY(close(copied, with([](at::Tensor carry, at::Tensor write) {
                          carry[0].select(1, 1).copy_(carry[0].select(1, 0));
                          write[0][1].copy_(write[0][0]);
                      })));
        QVERIFY(close(identity, with([](at::Tensor carry, const at::Tensor&) {
                          carry[1].copy_(at::eye(carry.size(1), carry.options()));
                      })));
        QVERIFY(close(largest, with([](at::Tensor carry, const at::Tensor&) {
                          for (std::int64_t to = 0; to < carry.size(2); ++to) {
                              at::Tensor column = carry[1].select(1, to);
                              column.mul_(column.abs() == column.abs().max());
                          }
                      })));
        QVERIFY(at::equal(network->stackOutput(batch, engine::Pass()), whole));
    }

    /// Tokens of padding change nothing, also where the mean over the tokens is taken.
    void paddingIsNotInTheMean()
    {
        const at::NoGradGuard noGrad;
        const Project project = tinyClassifier("mhc", kAlteredDepth);
        const auto network = compiled(project);
        shake(*network, 0.3, 5);
        const engine::DeviceBatch batch = randomBatch(project, 3, 5, 7);
        engine::DeviceBatch other = batch;
        const at::Tensor padding = batch.conditions.at("mask") == 0;
        other.input = batch.input.masked_fill(padding, (batch.input.max().item<std::int64_t>() + 1) % 3);
        QVERIFY(!at::equal(other.input, batch.input));
        for (const Alteration& alteration :
             {filling({{{2}, 1, 2, StreamFill::Mean}}), replacing(1, 3, TransitionForm::Mean)}) {
            const auto classesOf = [&](const engine::DeviceBatch& of, const Alteration& by) {
                engine::AlteredPasses passes(*network, engine::Pass());
                static_cast<void>(passes.whole(of));
                return network->outputOf(passes.altered(of, by), of, engine::Pass());
            };
            QVERIFY(distance(classesOf(batch, alteration), classesOf(other, alteration)) < 1e-12);
            QVERIFY(distance(classesOf(batch, alteration), classesOf(batch, {})) > 1e-6);
        }
    }

    /// Without room for borders, passes are whole ones with the same values.
    void bordersBeyondTheLimitAreNotKept()
    {
        const at::NoGradGuard noGrad;
        Altered of("mhc");
        const Alteration alteration = filling({{{2}, 2, 2, StreamFill::Zero}});
        engine::AlteredPasses roomy(*of.network, engine::Pass());
        engine::AlteredPasses narrow(*of.network, engine::Pass(), 1);
        static_cast<void>(roomy.whole(of.batch));
        static_cast<void>(narrow.whole(of.batch));
        QVERIFY(roomy.borderBytes() > 0 && !roomy.bordersAreFull());
        QVERIFY(narrow.borderBytes() == 0 && narrow.bordersAreFull());
        QVERIFY(at::equal(narrow.altered(of.batch, alteration), roomy.altered(of.batch, alteration)));
        engine::AlteredPasses frozen(*of.network, engine::Pass(), 1);
        Alteration withRouting = alteration;
        withRouting.frozenRouting = true;
        frozen.keepFor(withRouting);
        static_cast<void>(frozen.whole(of.batch));
        QVERIFY(frozen.borderBytes() > 0); // the routing is needed
    }

    /// A stream of static weights that is zero from the entry on is switched off everywhere.
    void zeroFromTheEntryOnIsTheKnockOut()
    {
        const at::NoGradGuard noGrad;
        Altered of("hyper-static");
        const auto subjects = projects::knockoutSubjects(of.project, projects::KnockoutBy::Stream, false);
        QVERIFY(subjects.ok());
        engine::AlteredPasses passes(*of.network, engine::Pass());
        const at::Tensor whole = passes.whole(of.batch);
        const at::Tensor off = passes.altered(of.batch, subjects->at(1).alteration);
        const at::Tensor zero = passes.altered(of.batch, filling({{{2}, 0, kAlteredDepth, StreamFill::Zero}}));
        QVERIFY(distance(zero, off) < 1e-12);
        QVERIFY(distance(zero, whole) > 1e-6);
    }

    void theIdentityOfIdentityConnectionsChangesNothing()
    {
        const at::NoGradGuard noGrad;
        Altered of("ihc");
        engine::AlteredPasses passes(*of.network, engine::Pass());
        const at::Tensor whole = passes.whole(of.batch);
        // An altered pass adds the streams and the branch by another kernel, in an order of its own.
        QVERIFY(distance(passes.altered(of.batch, replacing(1, kAlteredDepth, TransitionForm::Identity)), whole) <
                1e-13 * (1 + whole.abs().max().item<double>()));
    }

    /// Weights that are the same for all tokens do not depend on the streams; others do.
    void staticRoutingIsFrozen()
    {
        const at::NoGradGuard noGrad;
        for (const char* const wiring : kWirings) {
            Altered of(wiring);
            Alteration alteration = filling({{{2}, 1, 1, StreamFill::Zero}});
            engine::AlteredPasses passes(*of.network, engine::Pass());
            alteration.frozenRouting = true;
            passes.keepFor(alteration);
            static_cast<void>(passes.whole(of.batch));
            const at::Tensor frozen = passes.altered(of.batch, alteration);
            alteration.frozenRouting = false;
            const at::Tensor recomputed = passes.altered(of.batch, alteration);
            QVERIFY2(at::equal(frozen, recomputed) == (of.wiring().weights == projects::StreamWeights::Static), wiring);
        }
    }
};

RESIDUA_TEST(TestAlteredStreams)
#include "tst_altered_streams.moc"
