// SPDX-License-Identifier: GPL-3.0-or-later
// Cases of parallel streams. The CPU kernel in float64 is checked against a composition of the equations in double
// precision and its central differences; every other backend and type against that kernel in all elements.
#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/device_buffer.h"
#include "tests/kernels/transformer_cases.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace residua::tests {
namespace {

using kernels::DataType;
using kernels::Status;
using kernels::StreamNorm;
using kernels::StreamRead;
using kernels::StreamsBackward;
using kernels::StreamsForward;
using kernels::StreamSite;

constexpr double kStreamEpsilon = 1e-4;
constexpr double kReadConstant = 0.125;

struct StreamCase {
    const char* name;
    int streams, branches, reads, logits, width, tokens;
    StreamNorm norm;
    StreamRead read;
    bool shared = true;   ///< has weights of the write that all tokens share
    bool ofToken = true;  ///< has weights of the write for each token
    bool partial = false; ///< some gradients are absent

    [[nodiscard]] std::size_t rowElements() const { return std::size_t(tokens) * width; }
    [[nodiscard]] int norms() const { return norm == StreamNorm::all ? 1 : streams; }
    [[nodiscard]] int sources() const { return streams + branches; }
};

/// Arrays by name. A stream's or branch's array has its number after the name.
using Arrays = std::map<std::string, Values>;

std::string numbered(const char* name, int number)
{
    return name + std::to_string(number);
}

/// The inputs of forward, and the gradients of its outputs, in a type.
Arrays streamInputsOf(const StreamCase& streams, DataType type)
{
    const DataType single = accumulator(type);
    const auto tokens = std::size_t(streams.tokens);
    Arrays arrays;
    unsigned seed = 40;
    const auto add = [&](const std::string& name, std::size_t count, DataType of, double spread = 1) {
        arrays[name] = randomValues(count, of, ++seed, spread);
    };
    for (int s = 0; s < streams.streams; ++s) {
        add(numbered(streams.branches > 0 ? "old" : "stream", s), streams.rowElements(), type);
        if (!streams.partial || s % 2 == 0)
            add(numbered("streamGrad", s), streams.rowElements(), type);
    }
    for (int b = 0; b < streams.branches; ++b)
        add(numbered("branch", b), streams.rowElements(), type);
    for (int r = 0; r < streams.reads; ++r)
        add(numbered("outGrad", r), streams.rowElements(), type);
    const auto weights = std::size_t(streams.streams) * streams.sources();
    if (streams.branches > 0 && streams.shared)
        add("weights", weights, single);
    if (streams.branches > 0 && streams.ofToken)
        add("tokenWeights", weights * tokens, single);
    const auto logits = std::size_t(streams.logits);
    if (logits > 0) {
        const std::size_t blocks = streams.norm == StreamNorm::all ? streams.streams : 1;
        add("rows", blocks * logits * streams.width, single, 2 / std::sqrt(double(streams.width)));
        if (!streams.partial)
            add("yGrad", streams.norms() * logits * tokens, single);
    }
    const auto reads = std::size_t(streams.reads) * streams.streams;
    if (reads > 0 && (!streams.partial || streams.read == StreamRead::fixed))
        add("base", reads, single);
    if (reads > 0 && streams.read != StreamRead::fixed && !streams.partial) {
        add("bias", reads, single);
        arrays["factor"] = rounded({0.75}, single);
        arrays["gain"] = rounded({1.25}, single);
    }
    if (streams.norm == StreamNorm::centred && logits > 0) { // rows that sum to 0
        Values& rows = arrays["rows"];
        for (std::size_t m = 0; m < logits; ++m) {
            double mean = 0;
            for (int c = 0; c < streams.width; ++c)
                mean += rows[m * streams.width + c] / streams.width;
            for (int c = 0; c < streams.width; ++c)
                rows[m * streams.width + c] -= mean;
        }
        rows = rounded(rows, single);
    }
    return arrays;
}

/// The equations of kernels/streams.h, one number at a time.
class Equations {
public:
    Equations(const StreamCase& streams, const Arrays& inputs) : m_case(streams), m_in(inputs) {}

    /// The new streams.
    [[nodiscard]] Arrays written() const
    {
        Arrays out;
        for (int t = 0; t < m_case.streams; ++t) {
            Values& x = out[numbered("stream", t)];
            x.resize(m_case.rowElements());
            for (int k = 0; k < m_case.sources(); ++k) {
                const Values& from = source(k);
                for (std::size_t n = 0; n < std::size_t(m_case.tokens); ++n) {
                    const double by = weight(t * m_case.sources() + k, n);
                    for (std::size_t i = n * m_case.width; i < (n + 1) * m_case.width; ++i)
                        x[i] += by * from[i];
                }
            }
        }
        return out;
    }

    /// Returns y, rstd, mean and the reads of the streams `x`.
    [[nodiscard]] Arrays readFrom(const Arrays& x) const
    {
        Arrays out;
        const std::size_t tokens = m_case.tokens;
        if (m_case.logits > 0) {
            out["y"].resize(m_case.norms() * m_case.logits * tokens);
            out["rstd"].resize(m_case.norms() * tokens);
        }
        if (m_case.logits > 0 && m_case.norm == StreamNorm::centred)
            out["mean"].resize(m_case.streams * tokens);
        for (int r = 0; r < m_case.reads; ++r)
            out[numbered("out", r)].resize(m_case.rowElements());
        for (std::size_t n = 0; n < tokens; ++n) {
            for (int norm = 0; norm < m_case.norms() && m_case.logits > 0; ++norm)
                addLogits(x, norm, n, out);
            for (int r = 0; r < m_case.reads; ++r) {
                Values& read = out[numbered("out", r)];
                for (int s = 0; s < m_case.streams; ++s) {
                    const Values& stream = x.at(numbered("stream", s));
                    const double p = readWeight(r, s, n, out);
                    for (std::size_t i = n * m_case.width; i < (n + 1) * m_case.width; ++i)
                        read[i] += p * stream[i];
                }
            }
        }
        return out;
    }

    /// Σ gradients·outputs, with the streams `offset` from what the equations give.
    [[nodiscard]] double loss(const Arrays& offset) const
    {
        Arrays x;
        if (m_case.branches > 0) {
            x = written();
            for (auto& [name, values] : x)
                for (std::size_t i = 0; i < values.size(); ++i)
                    values[i] += offset.at(name)[i];
        } else {
            x = m_in;
        }
        const Arrays out = readFrom(x);
        double sum = 0;
        for (const auto& [name, values] : out)
            if (name == "y")
                sum += product(values, "yGrad");
            else if (name.starts_with("out"))
                sum += product(values, numbered("outGrad", std::stoi(name.substr(3))));
        for (int s = 0; s < m_case.streams; ++s)
            sum += product(x.at(numbered("stream", s)), numbered("streamGrad", s));
        return sum;
    }

private:
    [[nodiscard]] double product(const Values& values, const std::string& with) const
    {
        const auto found = m_in.find(with);
        double sum = 0;
        for (std::size_t i = 0; found != m_in.end() && i < values.size(); ++i)
            sum += values[i] * found->second[i];
        return sum;
    }
    [[nodiscard]] double number(const char* name, std::size_t at, double otherwise) const
    {
        const auto found = m_in.find(name);
        return found == m_in.end() ? otherwise : found->second[at];
    }
    [[nodiscard]] double weight(int index, std::size_t token) const
    {
        return number("weights", index, 0) + number("tokenWeights", std::size_t(index) * m_case.tokens + token, 0);
    }
    [[nodiscard]] const Values& source(int k) const
    {
        return m_in.at(k < m_case.streams ? numbered("old", k) : numbered("branch", k - m_case.streams));
    }

    void addLogits(const Arrays& x, int norm, std::size_t n, Arrays& out) const
    {
        const bool isAll = m_case.norm == StreamNorm::all;
        const int first = isAll ? 0 : norm;
        const int last = isAll ? m_case.streams : norm + 1;
        const std::size_t features = std::size_t(last - first) * m_case.width;
        double squares = 0, sum = 0;
        Values products(m_case.logits);
        const Values& rows = m_in.at("rows");
        for (int s = first; s < last; ++s) {
            const Values& stream = x.at(numbered("stream", s));
            for (int c = 0; c < m_case.width; ++c) {
                const double value = stream[n * m_case.width + c];
                squares += value * value;
                sum += value;
                for (int m = 0; m < m_case.logits; ++m)
                    products[m] += value * rows[((isAll ? s : 0) * m_case.logits + m) * m_case.width + c];
            }
        }
        double variance = squares / double(features);
        if (m_case.norm == StreamNorm::centred) {
            const double mean = sum / double(features);
            out["mean"][norm * m_case.tokens + n] = mean;
            variance = std::max(variance - mean * mean, 0.0);
        }
        const double rstd = 1 / std::sqrt(variance + kStreamEpsilon);
        out["rstd"][norm * m_case.tokens + n] = rstd;
        for (int m = 0; m < m_case.logits; ++m)
            out["y"][(std::size_t(norm) * m_case.logits + m) * m_case.tokens + n] = products[m] * rstd;
    }

    [[nodiscard]] double readWeight(int r, int s, std::size_t n, const Arrays& out) const
    {
        const std::size_t at = r * m_case.streams + s;
        const double p = number("base", at, 0) + kReadConstant;
        if (m_case.read == StreamRead::fixed)
            return p;
        const std::size_t logit = m_case.norm == StreamNorm::all ? s : s * m_case.logits + r;
        const double z = number("gain", 0, 1) * out.at("y")[logit * m_case.tokens + n] + number("bias", at, 0);
        return p + number("factor", 0, 1) * (m_case.read == StreamRead::tanh ? std::tanh(z) : 1 / (1 + std::exp(-z)));
    }

    const StreamCase& m_case;
    const Arrays& m_in;
};

/// The kernels of a backend for one case: its buffers by name.
class StreamRun {
public:
    StreamRun(const TransformerKernels& kernels, const StreamCase& streams, DataType type, const Arrays& inputs)
        : m_kernels(kernels), m_case(streams), m_type(type), m_memory(kernels.memory())
    {
        for (const auto& [name, values] : inputs)
            add(name, values);
    }

    /// Runs forward; `streams` replaces the new streams afterwards unless it is null.
    void forward(const Arrays* streams)
    {
        StreamsForward call{site()};
        for (int s = 0; s < m_case.streams; ++s)
            call.stream[s] = m_case.branches > 0 ? made(numbered("stream", s), m_case.rowElements(), true)
                                                 : at(numbered("stream", s));
        for (int r = 0; r < m_case.reads; ++r)
            call.out[r] = made(numbered("out", r), m_case.rowElements(), true);
        if (m_case.logits > 0) {
            call.y = made("y", logits(), false);
            call.rstd = made("rstd", std::size_t(m_case.norms()) * m_case.tokens, false);
        }
        if (m_case.logits > 0 && m_case.norm == StreamNorm::centred)
            call.mean = made("mean", std::size_t(m_case.streams) * m_case.tokens, false);
        check(m_kernels.streamsForward(call));
        if (streams == nullptr || m_case.branches == 0)
            return;
        for (int s = 0; s < m_case.streams; ++s)
            add(numbered("stream", s), streams->at(numbered("stream", s)));
        // Computes the rest from the given streams.
        StreamsForward again = call;
        again.site.branches = 0;
        for (int s = 0; s < m_case.streams; ++s)
            again.stream[s] = at(numbered("stream", s));
        check(m_kernels.streamsForward(again));
    }

    void backward()
    {
        StreamsBackward call{site()};
        for (int s = 0; s < m_case.streams; ++s) {
            call.stream[s] = at(numbered("stream", s));
            call.streamGrad[s] = at(numbered("streamGrad", s));
            call.oldGrad[s] = made(numbered(m_case.branches > 0 ? "d old" : "d stream", s), m_case.rowElements(), true);
        }
        for (int b = 0; b < m_case.branches; ++b)
            call.branchGrad[b] = made(numbered("d branch", b), m_case.rowElements(), true);
        for (int r = 0; r < m_case.reads; ++r)
            call.outGrad[r] = at(numbered("outGrad", r));
        call.y = at("y");
        call.rstd = at("rstd");
        call.mean = at("mean");
        call.yGrad = at("yGrad");
        const auto tokens = std::size_t(m_case.tokens);
        if (m_case.branches > 0)
            call.weightGrad = made("d weight", std::size_t(m_case.streams) * m_case.sources() * tokens, false);
        if (m_case.reads > 0)
            call.readGrad = made("d read", std::size_t(m_case.reads) * m_case.streams * tokens, false);
        if (m_case.logits > 0) {
            call.productGrad = made("d product", logits(), false);
            call.rowsGrad = made("d rows", std::size_t(kernels::streamRowElements(call.site)), false);
        }
        call.workspaceBytes = m_kernels.streamsBackwardWorkspace(call);
        call.workspace = made("workspace", call.workspaceBytes / elementBytes(accumulator(m_type)), false);
        check(m_kernels.streamsBackward(call));
    }

    /// The results, but for what the caller gave and for scratch.
    [[nodiscard]] Arrays results() const
    {
        Arrays arrays;
        for (const auto& [name, buffer] : m_buffers)
            if (m_made.contains(name) && name != "workspace")
                arrays[name] = buffer.values();
        return arrays;
    }
    [[nodiscard]] static bool isOfData(const std::string& name)
    {
        for (const char* start : {"old", "stream", "branch", "out", "d old", "d stream", "d branch"})
            if (name.starts_with(start))
                return true;
        return false;
    }

private:
    [[nodiscard]] std::size_t logits() const { return std::size_t(m_case.norms()) * m_case.logits * m_case.tokens; }
    void add(const std::string& name, const Values& values)
    {
        m_buffers.erase(name);
        m_buffers.try_emplace(name, *m_memory, values, isOfData(name) ? m_type : accumulator(m_type));
    }
    void* made(const std::string& name, std::size_t count, bool ofData)
    {
        m_made[name] = true;
        m_buffers.erase(name);
        return m_buffers.try_emplace(name, *m_memory, count, ofData ? m_type : accumulator(m_type))
            .first->second.data();
    }
    [[nodiscard]] void* at(const std::string& name) const
    {
        const auto found = m_buffers.find(name);
        return found == m_buffers.end() ? nullptr : found->second.data();
    }

    [[nodiscard]] StreamSite site() const
    {
        StreamSite site;
        site.dataType = m_type;
        site.tokens = m_case.tokens;
        site.width = m_case.width;
        site.streams = m_case.streams;
        site.branches = m_case.branches;
        site.reads = m_case.reads;
        site.logits = m_case.logits;
        for (int s = 0; s < m_case.streams; ++s)
            site.old[s] = at(numbered("old", s));
        for (int b = 0; b < m_case.branches; ++b)
            site.branch[b] = at(numbered("branch", b));
        site.weights = at("weights");
        site.tokenWeights = at("tokenWeights");
        site.norm = m_case.norm;
        site.eps = kStreamEpsilon;
        site.rows = at("rows");
        site.read = m_case.read;
        site.base = at("base");
        site.bias = at("bias");
        site.factor = at("factor");
        site.gain = at("gain");
        site.constant = kReadConstant;
        return site;
    }

    const TransformerKernels& m_kernels;
    const StreamCase& m_case;
    DataType m_type;
    std::unique_ptr<MixBackend> m_memory;
    std::map<std::string, DeviceBuffer> m_buffers;
    std::map<std::string, bool> m_made;
};

/// The central differences of some elements of each input against the gradients that a float64 run computed.
std::string checkStreamDifferences(const StreamCase& streams, Arrays inputs, const Arrays& got)
{
    Arrays offset;
    if (streams.branches > 0) {
        offset = Equations(streams, inputs).written();
        for (auto& [name, values] : offset)
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = got.at(name)[i] - values[i];
    }
    const std::map<std::string, std::string> gradients = {{"tokenWeights", "d weight"}, {"rows", "d rows"}};
    for (auto& [name, values] : inputs) {
        const auto renamed = gradients.find(name);
        const auto found = got.find(renamed == gradients.end() ? "d " + name : renamed->second);
        if (found == got.end())
            continue;
        const std::size_t step = std::max<std::size_t>(values.size() / 3, 1);
        for (std::size_t i = values.size() / 11; i < values.size(); i += step) {
            constexpr double kStep = 1e-5;
            const double before = values[i];
            const auto lossAt = [&](double value) {
                values[i] = value;
                return Equations(streams, inputs).loss(offset);
            };
            const double want = (lossAt(before + kStep) - lossAt(before - kStep)) / (2 * kStep);
            values[i] = before;
            if (const double is = found->second[i]; !(std::abs(is - want) <= 2e-6 * std::max(1.0, std::abs(want))))
                return found->first + "[" + std::to_string(i) + "] = " + std::to_string(is) +
                       ", expected by differences " + std::to_string(want);
        }
    }
    return {};
}

/// Compares the results of the names that both have.
std::string compareArrays(const Arrays& got, const Arrays& want, DataType type)
{
    for (const auto& [name, values] : want) {
        const bool rounds = StreamRun::isOfData(name);
        const double most = type == DataType::float64 ? 1e-12 : rounds && type == DataType::bfloat16 ? 0x1p-8 : 1e-5;
        const auto found = got.find(name);
        if (found == got.end())
            continue;
        if (std::string text = difference(name, found->second, values, most); !text.empty())
            return text;
    }
    return {};
}

std::string checkStreamCase(const TransformerKernels& kernels, const StreamCase& streams, DataType type)
{
    const Arrays inputs = streamInputsOf(streams, type);
    StreamRun run(kernels, streams, type, inputs);
    run.forward(nullptr);
    run.backward();
    const Arrays got = run.results();
    if (streams.branches > 0)
        if (std::string text = compareArrays(got, Equations(streams, inputs).written(), type); !text.empty())
            return text;
    const TransformerKernels cpu = cpuTransformerKernels();
    StreamRun exact(cpu, streams, DataType::float64, inputs);
    exact.forward(&got);
    exact.backward();
    Arrays want = exact.results();
    if (std::string text = compareArrays(got, want, type); !text.empty())
        return text;
    for (int s = 0; s < streams.streams && streams.branches > 0; ++s)
        want[numbered("stream", s)] = got.at(numbered("stream", s));
    Arrays given = inputs;
    given.insert(want.begin(), want.end());
    if (std::string text = compareArrays(want, Equations(streams, inputs).readFrom(given), DataType::float64);
        !text.empty())
        return "the CPU in float64: " + text;
    std::string text = type == DataType::float64 ? checkStreamDifferences(streams, inputs, want) : "";
    return text.empty() ? text : "the CPU in float64: " + text;
}

constexpr StreamCase kStreamCases[] = {
    {"mHC", 4, 1, 1, 24, 64, 19, StreamNorm::all, StreamRead::sigmoid, false},
    {"mHC of odd width", 3, 1, 1, 15, 37, 9, StreamNorm::all, StreamRead::sigmoid, false},
    {"mHC, entry", 4, 0, 1, 24, 40, 35, StreamNorm::all, StreamRead::sigmoid},
    {"mHC-lite", 4, 1, 1, 32, 260, 17, StreamNorm::all, StreamRead::sigmoid, false, true, true},
    {"identity", 2, 1, 1, 4, 1100, 5, StreamNorm::all, StreamRead::sigmoid, false},
    {"mHC of eight streams", 8, 1, 1, 80, 24, 10, StreamNorm::all, StreamRead::sigmoid, false},
    {"a head", 4, 1, 1, 4, 32, 150, StreamNorm::all, StreamRead::sigmoid, true, false},
    {"Hyper-Connections", 4, 1, 1, 6, 64, 18, StreamNorm::centred, StreamRead::tanh},
    {"Hyper-Connections, RMS", 2, 1, 1, 4, 129, 21, StreamNorm::each, StreamRead::tanh, true, true, true},
    {"one stream", 1, 1, 1, 3, 20, 3, StreamNorm::centred, StreamRead::tanh},
    {"fractions", 4, 4, 4, 9, 16, 33, StreamNorm::centred, StreamRead::tanh},
    {"fractions, entry", 2, 0, 2, 5, 48, 6, StreamNorm::each, StreamRead::tanh},
    {"eight fractions", 8, 8, 8, 17, 8, 5, StreamNorm::centred, StreamRead::tanh},
    {"static", 4, 1, 1, 0, 64, 300, StreamNorm::all, StreamRead::fixed, true, false},
    {"given reads", 3, 1, 3, 7, 12, 9, StreamNorm::each, StreamRead::fixed},
    {"only a write", 5, 1, 0, 0, 28, 9, StreamNorm::all, StreamRead::fixed},
    {"only logits", 4, 1, 0, 3, 28, 70, StreamNorm::all, StreamRead::fixed},
};

/// Empty, or the invalid call that is not refused as it should be.
std::string checkStreamRefusals(const TransformerKernels& kernels)
{
    const auto forward = [&](auto change) {
        StreamsForward call;
        call.site.tokens = call.site.width = 4;
        call.site.streams = 2;
        change(call.site);
        return kernels.streamsForward(call);
    };
    const Status shapes[] = {
        forward([](StreamSite& site) { site.streams = 9; }), forward([](StreamSite& site) { site.streams = 0; }),
        forward([](StreamSite& site) { site.logits = 200; }), forward([](StreamSite& site) { site.reads = 3; }),
        forward([](StreamSite& site) { site.read = StreamRead::tanh, site.reads = 1; })};
    for (const Status status : shapes)
        if (status != Status::badShape)
            return "a shape that is not supported is not refused";
    if (forward([](StreamSite&) {}) != Status::missingPointer)
        return "missing streams are not refused";
    if (forward([](StreamSite& site) { site.tokens = 0; }) != Status::ok)
        return "no tokens are refused";
    if (forward([](StreamSite& site) { site.logits = 4, site.eps = -1; }) != Status::badEpsilon)
        return "a negative epsilon is not refused";
    return {};
}

} // namespace

std::string checkStreams(const TransformerKernels& kernels)
{
    for (const StreamCase& streams : kStreamCases)
        for (const DataType type : kTypes)
            if (std::string text = checkStreamCase(kernels, streams, type); !text.empty())
                return std::string("streams, ") + streams.name + ", " + nameOf(type) + ": " + text;
    return checkStreamRefusals(kernels);
}

} // namespace residua::tests
