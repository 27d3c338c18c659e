// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/mix_harness.h"

#include "tests/kernels/typed_values.h"
#include "tests/support/draws.h"

#include <cmath>
#include <random>
#include <stdexcept>

namespace residua::tests {
namespace {

using namespace residua::kernels;

DataType weightType(const MixCase& mix)
{
    return mix.dataType == DataType::float64 ? DataType::float64 : DataType::float32;
}

constexpr double kEps = 1e-5;

/// The values and gradients of one (output, source, token).
struct Term {
    Values weight; // per feature
    Values slope;  // d weight / d z per feature
    Values aSlope; // d weight / d a per feature
    double rstd = 1;
    double z = 0;
};

double reluAt(double value)
{
    return value > 0 ? value : 0;
}

Term termOf(const MixCase& mix, const MixData& data, int o, int s, int n)
{
    Term term;
    const int d = mix.width;
    const double* x = &data.source[s][std::size_t(n) * d];
    if (isRelu(mix.gateKind)) {
        double squares = 0;
        for (int c = 0; c < d; ++c) {
            term.z += data.gateVectors[o * d + c] * x[c];
            squares += x[c] * x[c];
        }
        if (mix.gateInput == GateInput::normalised)
            term.rstd = 1 / std::sqrt(squares / d + kEps);
        term.z *= term.rstd;
    }
    const double atZero = mix.reluGradAtZero == ReluGradAtZero::one ? 1 : 0;
    const auto step = [&](double value) { return value > 0 ? 1 : value == 0 ? atZero : 0; };
    for (int c = 0; c < d; ++c) {
        const int row = o * mix.sources + s;
        const double a = mix.weightKind == WeightKind::none     ? 0
                         : mix.weightKind == WeightKind::scalar ? data.weights[row]
                                                                : data.weights[std::size_t(row) * d + c];
        switch (mix.gateKind) {
        case GateKind::none:
            term.weight.push_back(a);
            break;
        case GateKind::token:
            term.weight.push_back(a + data.tokenWeights[std::size_t(row) * mix.tokens + n]);
            break;
        case GateKind::reluOutside:
            term.weight.push_back(a + reluAt(term.z));
            break;
        case GateKind::reluInside:
            term.weight.push_back(reluAt(a + term.z));
            break;
        }
        const double inside = step(a + term.z);
        term.slope.push_back(mix.gateKind == GateKind::reluInside ? inside
                             : mix.gateKind == GateKind::token    ? 1
                                                                  : step(term.z));
        term.aSlope.push_back(mix.gateKind == GateKind::reluInside ? inside : 1);
    }
    return term;
}

void addTermGradients(const MixCase& mix, const MixData& data, int o, int s, int n, MixResult& result)
{
    const Term term = termOf(mix, data, o, s, n);
    const int d = mix.width;
    const int row = o * mix.sources + s;
    const double* x = &data.source[s][std::size_t(n) * d];
    const double* g = &data.outGrad[o][std::size_t(n) * d];
    double q = 0;
    for (int c = 0; c < d; ++c) {
        q += term.slope[c] * g[c] * x[c];
        result.sourceGrad[s][std::size_t(n) * d + c] += term.weight[c] * g[c];
        if (mix.weightKind == WeightKind::scalar)
            result.weightGrad[row] += term.aSlope[c] * g[c] * x[c];
        if (mix.weightKind == WeightKind::perFeature)
            result.weightGrad[std::size_t(row) * d + c] += term.aSlope[c] * g[c] * x[c];
    }
    if (mix.gateKind != GateKind::none)
        result.tokenGrad[std::size_t(row) * mix.tokens + n] = q;
    if (!isRelu(mix.gateKind))
        return;
    result.gateLogits[std::size_t(row) * mix.tokens + n] = term.z;
    if (mix.gateInput == GateInput::normalised)
        result.rstd[std::size_t(s) * mix.tokens + n] = term.rstd;
    double projection = 0;
    for (int c = 0; c < d; ++c)
        projection += data.gateVectors[o * d + c] * x[c];
    for (int c = 0; c < d; ++c) {
        const double u = data.gateVectors[o * d + c];
        result.gateVectorGrad[o * d + c] += q * term.rstd * x[c];
        double dx = u;
        if (mix.gateInput == GateInput::normalised)
            dx = term.rstd * u - std::pow(term.rstd, 3) * projection * x[c] / d;
        result.sourceGrad[s][std::size_t(n) * d + c] += q * dx;
    }
}

std::vector<Values> referenceOut(const MixCase& mix, const MixData& data)
{
    std::vector<Values> out;
    for (int o = 0; o < mix.outputs; ++o) {
        out.push_back(mix.base ? data.base[o] : Values(std::size_t(mix.tokens) * mix.width));
        for (int s = 0; s < mix.sources; ++s)
            for (int n = 0; n < mix.tokens && s != mix.absent; ++n) {
                const Term term = termOf(mix, data, o, s, n);
                for (int c = 0; c < mix.width; ++c)
                    out[o][std::size_t(n) * mix.width + c] +=
                        term.weight[c] * data.source[s][std::size_t(n) * mix.width + c];
            }
    }
    return out;
}

/// A problem's tensors in the backend's memory, with the arguments that point at them.
struct Uploaded {
    const MixCase& mix;
    MixBackend& backend;
    std::vector<const void*> sources;
    MixForward forward;
    MixWeightGrad backward;

    std::size_t tensor() const { return std::size_t(mix.tokens) * mix.width; }
    std::size_t rows() const { return std::size_t(mix.outputs) * mix.sources; }
    std::size_t weightCount() const
    {
        return mix.weightKind == WeightKind::none     ? 0
               : mix.weightKind == WeightKind::scalar ? rows()
                                                      : rows() * mix.width;
    }
    std::size_t tokenCount() const { return mix.gateKind == GateKind::none ? 0 : rows() * mix.tokens; }
    std::size_t vectorCount() const { return isRelu(mix.gateKind) ? std::size_t(mix.outputs) * mix.width : 0; }

    void* put(const Values& values, DataType type)
    {
        const std::vector<char> bytes = encode(values, type);
        return backend.upload(bytes.data(), bytes.size());
    }
    /// Memory that starts as NaN, so that what a kernel leaves unwritten shows; null for nothing.
    void* blank(std::size_t count, DataType type) { return count ? put(Values(count, std::nan("")), type) : nullptr; }
    Values get(const void* from, std::size_t count, DataType type)
    {
        std::vector<char> bytes(count * elementBytes(type));
        if (count)
            backend.download(bytes.data(), from, bytes.size());
        return decode(bytes, type);
    }

    Uploaded(const MixCase& mixCase, const MixData& data, MixBackend& where) : mix(mixCase), backend(where)
    {
        for (int s = 0; s < mix.sources; ++s)
            sources.push_back(s == mix.absent ? nullptr : put(data.source[s], mix.dataType));
        MixStack& stack = forward.stack;
        stack.dataType = mix.dataType;
        stack.tokens = mix.tokens;
        stack.width = mix.width;
        stack.sources = mix.sources;
        stack.outputs = mix.outputs;
        stack.source = sources.data();
        stack.weightKind = mix.weightKind;
        stack.gateKind = mix.gateKind;
        stack.gateInput = mix.gateInput;
        stack.reluGradAtZero = mix.reluGradAtZero;
        stack.eps = kEps;
        const DataType weights = weightType(mix);
        stack.weights = weightCount() ? put(data.weights, weights) : nullptr;
        stack.tokenWeights = mix.gateKind == GateKind::token ? put(data.tokenWeights, weights) : nullptr;
        stack.gateVectors = vectorCount() ? put(data.gateVectors, weights) : nullptr;
        for (int o = 0; o < mix.outputs; ++o) {
            forward.base[o] = mix.base ? put(data.base[o], mix.dataType) : nullptr;
            forward.out[o] = blank(tensor(), mix.dataType);
            backward.outGrad[o] = put(data.outGrad[o], mix.dataType);
        }
        if (isRelu(mix.gateKind))
            forward.gateLogits = blank(tokenCount(), weights);
        if (mix.gateInput == GateInput::normalised)
            forward.rstd = blank(std::size_t(mix.sources) * mix.tokens, weights);
        backward.stack = stack;
        backward.gateLogits = forward.gateLogits;
        backward.rstd = forward.rstd;
        backward.weightGrad = blank(weightCount(), weights);
        backward.tokenGrad = blank(tokenCount(), weights);
        backward.gateVectorGrad = blank(vectorCount(), weights);
        backward.workspaceBytes = backend.workspace(backward);
        backward.workspace = blank(backward.workspaceBytes / 4, DataType::float32);
    }

    void run()
    {
        check(backend.forward(forward), "mixForward");
        for (int o = 0; mix.absent >= 0 && forward.gateLogits && o < mix.outputs; ++o)
            checkZeros(forward.gateLogits, o * mix.sources + mix.absent, "logits");
        if (mix.absent >= 0 && forward.rstd)
            checkZeros(forward.rstd, mix.absent, "rstd");
        check(backend.weightGrad(backward), "mixWeightGrad");
    }

    /// Checks a row [tokens] that belongs to the absent source.
    void checkZeros(const void* rows, int row, const char* what)
    {
        const DataType type = weightType(mix);
        const std::size_t bytes = std::size_t(row) * mix.tokens * elementBytes(type);
        for (const double value : get(static_cast<const char*>(rows) + bytes, mix.tokens, type))
            if (value != 0)
                throw std::runtime_error(mix.name() + ": " + what + " of the absent source: " + std::to_string(value));
    }

    void check(Status status, const char* what) const
    {
        if (status != Status::ok)
            throw std::runtime_error(mix.name() + ": " + what + ": " + describe(status));
    }

    MixReader reader(int o, int s) const
    {
        const std::size_t row = std::size_t(o) * mix.sources + s;
        const std::size_t bytes = elementBytes(weightType(mix));
        const auto at = [&](const void* base, std::size_t element) {
            return base ? static_cast<const char*>(base) + element * bytes : nullptr;
        };
        MixReader reader;
        reader.outGrad = backward.outGrad[o];
        reader.weightKind = mix.weightKind;
        reader.gateKind = mix.gateKind;
        reader.gateInput = mix.gateInput;
        reader.weight = at(backward.stack.weights, mix.weightKind == WeightKind::perFeature ? row * mix.width : row);
        reader.token =
            at(mix.gateKind == GateKind::token ? backward.stack.tokenWeights : backward.gateLogits, row * mix.tokens);
        reader.gateGrad = at(backward.tokenGrad, row * mix.tokens);
        reader.gateVector = at(backward.stack.gateVectors, std::size_t(o) * mix.width);
        return reader;
    }

    const void* rstdOf(int s) const
    {
        const std::size_t bytes = elementBytes(weightType(mix));
        return forward.rstd ? static_cast<const char*>(forward.rstd) + std::size_t(s) * mix.tokens * bytes : nullptr;
    }

    Values gather(const std::vector<MixReader>& readers, int s, const void* own, const void* rstd)
    {
        MixGather gathering;
        gathering.dataType = mix.dataType;
        gathering.tokens = mix.tokens;
        gathering.width = mix.width;
        gathering.readers = int(readers.size());
        gathering.reader = readers.data();
        gathering.own = own;
        gathering.source = sources[s];
        gathering.rstd = rstd;
        gathering.sourceGrad = blank(tensor(), mix.dataType);
        check(backend.gather(gathering), "mixGather");
        return get(gathering.sourceGrad, tensor(), mix.dataType);
    }
};

} // namespace

std::string MixCase::name() const
{
    const char* types[] = {"f32", "bf16", "f64"};
    const char* weights[] = {"none", "scalar", "feature"};
    const char* gates[] = {"none", "token", "outside", "inside"};
    std::string text = std::string(types[int(dataType)]) + " N=" + std::to_string(tokens) +
                       " d=" + std::to_string(width) + " t=" + std::to_string(sources) +
                       " O=" + std::to_string(outputs) + " weight=" + weights[int(weightKind)] +
                       " gate=" + gates[int(gateKind)];
    if (gateInput == GateInput::normalised)
        text += " normalised";
    if (reluGradAtZero == ReluGradAtZero::zero)
        text += " relu'(0)=0";
    return text + (base ? " base" : "") + (own ? " own" : "") +
           (absent >= 0 ? " absent=" + std::to_string(absent) : "");
}

MixData randomData(const MixCase& mix, unsigned seed)
{
    std::mt19937_64 random(seed);
    const auto values = [&](std::size_t count, DataType type, double centre, double spread, double unit = 0) {
        Values result(count);
        for (double& value : result) {
            value = centre + spread * symmetric(random);
            if (unit > 0)
                value = std::round(value / unit) * unit;
        }
        return rounded(result, type);
    };
    // relu'(a + z) jumps at 0. Few enough bits in x and u make <u, x> exact in float32 in any order of the sum up to
    // d = 1024, so that no two implementations are on different sides of the jump.
    const bool exact = mix.gateKind == GateKind::reluInside;
    const std::size_t tensor = std::size_t(mix.tokens) * mix.width;
    const std::size_t rows = std::size_t(mix.outputs) * mix.sources;
    const DataType weights = weightType(mix);
    MixData data;
    for (int s = 0; s < mix.sources; ++s)
        data.source.push_back(values(tensor, mix.dataType, 0, 1, exact ? 0x1p-8 : 0));
    data.weights = values(mix.weightKind == WeightKind::perFeature ? rows * mix.width : rows, weights, 0.5, 1);
    data.tokenWeights = values(rows * mix.tokens, weights, 0, 1);
    data.gateVectors = values(std::size_t(mix.outputs) * mix.width, weights, 0, 1, exact ? 0x1p-6 : 0);
    for (int o = 0; o < mix.outputs; ++o) {
        data.base.push_back(values(tensor, mix.dataType, 0, 1));
        data.outGrad.push_back(values(tensor, mix.dataType, 0, 1));
    }
    data.own = values(tensor, mix.dataType, 0, 1);
    return data;
}

MixResult reference(const MixCase& mix, const MixData& data)
{
    MixResult result;
    result.out = referenceOut(mix, data);
    const std::size_t rows = std::size_t(mix.outputs) * mix.sources;
    result.weightGrad.assign(mix.weightKind == WeightKind::none ? 0 : data.weights.size(), 0);
    result.tokenGrad.assign(mix.gateKind == GateKind::none ? 0 : rows * mix.tokens, 0);
    result.gateLogits.assign(isRelu(mix.gateKind) ? rows * mix.tokens : 0, 0);
    result.rstd.assign(mix.gateInput == GateInput::normalised ? std::size_t(mix.sources) * mix.tokens : 0, 0);
    result.gateVectorGrad.assign(isRelu(mix.gateKind) ? data.gateVectors.size() : 0, 0);
    const Values zero(std::size_t(mix.tokens) * mix.width);
    for (int s = 0; s < mix.sources; ++s) {
        result.sourceGrad.push_back(s == mix.absent ? Values() : mix.own ? data.own : zero);
        for (int o = 0; o < mix.outputs && s != mix.absent; ++o)
            for (int n = 0; n < mix.tokens; ++n)
                addTermGradients(mix, data, o, s, n, result);
    }
    return result;
}

double referenceLoss(const MixCase& mix, const MixData& data)
{
    double loss = 0;
    const std::vector<Values> out = referenceOut(mix, data);
    for (int o = 0; o < mix.outputs; ++o)
        for (std::size_t i = 0; i < out[o].size(); ++i)
            loss += out[o][i] * data.outGrad[o][i];
    return loss;
}

MixResult runKernels(const MixCase& mix, const MixData& data, MixBackend& backend)
{
    Uploaded problem(mix, data, backend);
    problem.run();
    MixResult result;
    for (int o = 0; o < mix.outputs; ++o)
        result.out.push_back(problem.get(problem.forward.out[o], problem.tensor(), mix.dataType));
    const DataType weights = weightType(mix);
    result.gateLogits =
        problem.get(problem.forward.gateLogits, problem.forward.gateLogits ? problem.tokenCount() : 0, weights);
    result.rstd =
        problem.get(problem.forward.rstd, problem.forward.rstd ? std::size_t(mix.sources) * mix.tokens : 0, weights);
    result.weightGrad = problem.get(problem.backward.weightGrad, problem.weightCount(), weights);
    result.tokenGrad = problem.get(problem.backward.tokenGrad, problem.tokenCount(), weights);
    result.gateVectorGrad = problem.get(problem.backward.gateVectorGrad, problem.vectorCount(), weights);
    const void* own = mix.own ? problem.put(data.own, mix.dataType) : nullptr;
    for (int s = 0; s < mix.sources; ++s) {
        std::vector<MixReader> readers;
        for (int o = 0; o < mix.outputs; ++o)
            readers.push_back(problem.reader(o, s));
        result.sourceGrad.push_back(s == mix.absent ? Values() : problem.gather(readers, s, own, problem.rstdOf(s)));
    }
    return result;
}

MixResult runWeightGrad(const MixCase& mix, const MixData& data, MixBackend& backend, const WantedGradients& wanted)
{
    Uploaded problem(mix, data, backend);
    MixWeightGrad& backward = problem.backward;
    backward.weightGrad = wanted.weights ? backward.weightGrad : nullptr;
    backward.tokenGrad = wanted.tokens ? backward.tokenGrad : nullptr;
    backward.gateVectorGrad = wanted.vectors ? backward.gateVectorGrad : nullptr;
    backward.workspaceBytes = backend.workspace(backward);
    problem.run();
    MixResult result;
    const DataType weights = weightType(mix);
    result.weightGrad = problem.get(backward.weightGrad, wanted.weights ? problem.weightCount() : 0, weights);
    result.tokenGrad = problem.get(backward.tokenGrad, wanted.tokens ? problem.tokenCount() : 0, weights);
    result.gateVectorGrad = problem.get(backward.gateVectorGrad, wanted.vectors ? problem.vectorCount() : 0, weights);
    return result;
}

Values gatherShared(const std::vector<MixCase>& mixes, const std::vector<MixData>& data, MixBackend& backend)
{
    std::vector<Uploaded> problems;
    std::vector<MixReader> readers;
    const void* rstd = nullptr;
    for (std::size_t i = 0; i < mixes.size(); ++i)
        problems.emplace_back(mixes[i], data[i], backend);
    for (Uploaded& problem : problems) {
        problem.run();
        for (int o = 0; o < problem.mix.outputs; ++o)
            readers.push_back(problem.reader(o, 0));
        if (problem.forward.rstd)
            rstd = problem.rstdOf(0);
    }
    return problems.front().gather(readers, 0, nullptr, rstd);
}

std::string difference(const std::string& what, const Values& got, const Values& want, double tolerance)
{
    if (got.size() != want.size())
        return what + ": " + std::to_string(got.size()) + " values, expected " + std::to_string(want.size());
    double scale = 1;
    for (const double value : want)
        scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!(std::abs(got[i] - want[i]) <= tolerance * scale))
            return what + "[" + std::to_string(i) + "] = " + std::to_string(got[i]) + ", expected " +
                   std::to_string(want[i]);
    return {};
}

std::string difference(const MixCase& mix, const MixResult& got, const MixResult& want)
{
    // Sums are exact to float32 or float64. A bfloat16 result is rounded once at the end, and sums on two sides of a
    // rounding boundary differ by one unit in the last place then: at most 2^-7 of the result.
    const double sum = mix.dataType == DataType::float64 ? 1e-13 : 3e-6;
    const double element = mix.dataType == DataType::bfloat16 ? 0x1p-7 : sum;
    const auto all = [&](const char* what, const std::vector<Values>& a, const std::vector<Values>& b) {
        std::string text = a.size() == b.size() ? "" : std::string(what) + ": wrong count";
        for (std::size_t i = 0; i < a.size() && text.empty(); ++i)
            text = difference(std::string(what) + std::to_string(i), a[i], b[i], element);
        return text;
    };
    std::string text = all("out", got.out, want.out);
    // The forms on tensor cores split a gate's vector into two bfloat16 parts: without the smaller one a logit would be
    // wrong by 2^-9.
    const double logit = mix.dataType == DataType::float64 ? sum : 0x1p-16;
    if (text.empty())
        text = difference("gateLogits", got.gateLogits, want.gateLogits, logit);
    if (text.empty())
        text = difference("rstd", got.rstd, want.rstd, logit);
    if (text.empty())
        text = difference("weightGrad", got.weightGrad, want.weightGrad, sum);
    if (text.empty())
        text = difference("tokenGrad", got.tokenGrad, want.tokenGrad, sum);
    if (text.empty())
        text = difference("gateVectorGrad", got.gateVectorGrad, want.gateVectorGrad, sum);
    if (text.empty())
        text = all("sourceGrad", got.sourceGrad, want.sourceGrad);
    return text.empty() ? text : mix.name() + ": " + text;
}

std::vector<MixCase> caseTable()
{
    struct Shape {
        int tokens, width, sources;
    };
    const Shape shapes[] = {{1, 1, 1},    {3, 7, 2},   {5, 16, 5},   {40, 33, 3},
                            {130, 64, 4}, {2, 130, 9}, {17, 256, 1}, {260, 5, 6}};
    std::vector<MixCase> cases;
    int turn = 0;
    for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float64})
        for (const WeightKind weight : {WeightKind::none, WeightKind::scalar, WeightKind::perFeature})
            for (const GateKind gate : {GateKind::none, GateKind::token, GateKind::reluOutside, GateKind::reluInside})
                for (const GateInput input : {GateInput::raw, GateInput::normalised})
                    for (int outputs = 1; outputs <= kMaxOutputs; ++outputs)
                        for (int variant = 0; variant < 4; ++variant) {
                            if ((weight == WeightKind::none && gate == GateKind::none) ||
                                (input == GateInput::normalised && !isRelu(gate)))
                                continue;
                            const Shape& shape = shapes[turn++ % std::size(shapes)];
                            const int absent = turn % 5 == 0 ? shape.sources / 2 : -1;
                            cases.push_back({type, shape.tokens, shape.width, shape.sources, outputs, weight, gate,
                                             input, variant == 3 ? ReluGradAtZero::zero : ReluGradAtZero::one,
                                             variant % 2 == 1, variant >= 2, absent});
                        }
    return cases;
}

} // namespace residua::tests
