// SPDX-License-Identifier: GPL-3.0-or-later
// A site of parallel streams. A few tokens share each load of φ; their rows are in a near cache from step to step.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

constexpr int kRowsAtOnce = 4; ///< rows of φ

inline float exponentialOf(float x)
{
    return __builtin_expf(x);
}
inline double exponentialOf(double x)
{
    return __builtin_exp(x);
}
inline float tangentOf(float x)
{
    return __builtin_tanhf(x);
}
inline double tangentOf(double x)
{
    return __builtin_tanh(x);
}
inline float rootOf(float x)
{
    return __builtin_sqrtf(x);
}
inline double rootOf(double x)
{
    return __builtin_sqrt(x);
}

/// The numbers of a site, for data of type T and n streams; n is 0 if only the site says how many.
template <class T, int n>
struct Site {
    using A = Accumulator<T>;
    static constexpr int kMost = n > 0 ? n : kMaxStreams;

    const StreamSite& site;
    const int streams = n > 0 ? n : site.streams;
    const int norms = streamNorms(site);
    const int sources = streams + site.branches;

    const T* row(const void* tensor, std::int64_t token) const
    {
        return static_cast<const T*>(tensor) + token * site.width;
    }
    T* row(void* tensor, std::int64_t token) const { return static_cast<T*>(tensor) + token * site.width; }
    const A* rows(int stream, int m) const
    {
        const int block = site.norm == StreamNorm::all ? stream : 0;
        return static_cast<const A*>(site.rows) + (std::int64_t(block) * site.logits + m) * site.width;
    }
    A number(const void* array, std::int64_t at, A otherwise) const
    {
        return array ? static_cast<const A*>(array)[at] : otherwise;
    }
    /// The index of a number of each token, of `index`.
    std::int64_t at(int index, std::int64_t token) const { return index * site.tokens + token; }

    /// The weights of a token's write, to [kMost][2 kMost].
    void loadWeights(std::int64_t token, A (&weight)[kMost][2 * kMost]) const
    {
        for (int t = 0; t < streams; ++t) {
            for (int k = 0; k < sources; ++k) {
                const int index = t * sources + k;
                weight[t][k] = number(site.weights, index, A(0)) + number(site.tokenWeights, at(index, token), A(0));
            }
        }
    }

    /// The logit of a read's weight, among the numbers of a token.
    int logitOf(int r, int stream) const { return site.norm == StreamNorm::all ? stream : stream * site.logits + r; }
    A argument(int r, int stream, A y) const
    {
        return number(site.gain, 0, A(1)) * y + number(site.bias, r * streams + stream, A(0));
    }
    A activated(A argument) const
    {
        return site.read == StreamRead::tanh ? tangentOf(argument) : 1 / (1 + exponentialOf(-argument));
    }
    /// The weights of a token's reads, [reads][streams].
    void readWeights(std::int64_t token, const A* y, A (&weight)[kMost][kMost]) const
    {
        for (int r = 0; r < site.reads; ++r) {
            for (int s = 0; s < streams; ++s) {
                A value = number(site.base, r * streams + s, A(0)) + A(site.constant);
                if (site.read != StreamRead::fixed)
                    value += number(site.factor, 0, A(1)) * activated(argument(r, s, y[at(logitOf(r, s), token)]));
                weight[r][s] = value;
            }
        }
    }
    /// The derivative of a read's weight by its logit.
    A slope(int r, int stream, A y) const
    {
        const A value = activated(argument(r, stream, y));
        const A derivative = site.read == StreamRead::tanh ? 1 - value * value : value * (1 - value);
        return number(site.factor, 0, A(1)) * number(site.gain, 0, A(1)) * derivative;
    }
};

template <class T, int n>
struct SiteForward {
    using A = Accumulator<T>;
    static constexpr int kMost = Site<T, n>::kMost;

    const StreamsForward& call;
    const Site<T, n> of{call.site};

    void write(std::int64_t token) const
    {
        A weight[kMost][2 * kMost];
        of.loadWeights(token, weight);
        const T* from[2 * kMost];
        for (int k = 0; k < of.sources; ++k)
            from[k] = of.row(k < of.streams ? of.site.old[k] : of.site.branch[k - of.streams], token);
        forTiles<T, 1>(of.site.width, [&]<int, bool part>(std::int64_t column, int lanes) {
            Vec<T> sum[kMost] = {};
            for (int k = 0; k < of.sources; ++k) {
                const Vec<T> value = loadLanes<part>(from[k] + column, lanes);
                for (int t = 0; t < of.streams; ++t)
                    sum[t] += value * weight[t][k];
            }
            for (int t = 0; t < of.streams; ++t)
                storeLanes<part>(of.row(call.stream[t], token) + column, sum[t], lanes);
        });
    }

    void norms(std::int64_t token) const
    {
        A all = 0;
        const std::int64_t width = of.site.width;
        for (int s = 0; s < of.streams; ++s) {
            const T* x = of.row(call.stream[s], token);
            Vec<T> squares = {};
            Vec<T> sums = {};
            forTiles<T, 1>(width, [&]<int, bool part>(std::int64_t column, int lanes) {
                const Vec<T> value = loadLanes<part>(x + column, lanes);
                squares += value * value;
                sums += value;
            });
            const A square = sumLanes<A>(squares);
            if (of.site.norm == StreamNorm::all) {
                all += square;
                continue;
            }
            A variance = square / A(width);
            if (of.site.norm == StreamNorm::centred) {
                const A mean = sumLanes<A>(sums) / A(width);
                static_cast<A*>(call.mean)[of.at(s, token)] = mean;
                variance = variance - mean * mean > 0 ? variance - mean * mean : A(0);
            }
            static_cast<A*>(call.rstd)[of.at(s, token)] = 1 / rootOf(variance + A(of.site.eps));
        }
        if (of.site.norm == StreamNorm::all)
            static_cast<A*>(call.rstd)[token] = 1 / rootOf(all / A(width * of.streams) + A(of.site.eps));
    }

    /// Adds <x, φ_m> of one stream, for `tokens` tokens and `count` rows.
    template <int tokens, int count>
    void addProducts(int stream, std::int64_t first, int m, Vec<T> (&sums)[tokens][count]) const
    {
        const T* x[tokens];
        const A* phi[count];
        for (int i = 0; i < tokens; ++i)
            x[i] = of.row(call.stream[stream], first + i);
        for (int j = 0; j < count; ++j)
            phi[j] = of.rows(stream, m + j);
        forTiles<T, 1>(of.site.width, [&]<int, bool part>(std::int64_t column, int lanes) {
            Vec<T> row[count];
            for (int j = 0; j < count; ++j)
                row[j] = loadLanes<part>(phi[j] + column, lanes);
            for (int i = 0; i < tokens; ++i) {
                const Vec<T> value = loadLanes<part>(x[i] + column, lanes);
                for (int j = 0; j < count; ++j)
                    sums[i][j] += value * row[j];
            }
        });
    }

    template <int tokens>
    void logits(std::int64_t first) const
    {
        A* const y = static_cast<A*>(call.y);
        const A* const rstd = static_cast<const A*>(call.rstd);
        const int perNorm = of.streams / of.norms;
        for (int norm = 0; norm < of.norms; ++norm) {
            forGroups<kRowsAtOnce>(of.site.logits, [&]<int count>(std::int64_t m) {
                Vec<T> sums[tokens][count] = {};
                for (int s = norm * perNorm; s < (norm + 1) * perNorm; ++s)
                    addProducts<tokens, count>(s, first, int(m), sums);
                for (int i = 0; i < tokens; ++i)
                    for (int j = 0; j < count; ++j)
                        y[of.at(norm * of.site.logits + int(m) + j, first + i)] =
                            sumLanes<A>(sums[i][j]) * rstd[of.at(norm, first + i)];
            });
        }
    }

    void read(std::int64_t token) const
    {
        A weight[kMost][kMost];
        of.readWeights(token, static_cast<const A*>(call.y), weight);
        const T* x[kMost];
        for (int s = 0; s < of.streams; ++s)
            x[s] = of.row(call.stream[s], token);
        for (int r = 0; r < of.site.reads; ++r) {
            T* const out = of.row(call.out[r], token);
            forTiles<T, 1>(of.site.width, [&]<int, bool part>(std::int64_t column, int lanes) {
                Vec<T> sum = {};
                for (int s = 0; s < of.streams; ++s)
                    sum += loadLanes<part>(x[s] + column, lanes) * weight[r][s];
                storeLanes<part>(out + column, sum, lanes);
            });
        }
    }

    template <int tokens>
    void group(std::int64_t first) const
    {
        for (int i = 0; i < tokens; ++i) {
            if (of.site.branches > 0)
                write(first + i);
            if (of.site.logits > 0)
                norms(first + i);
        }
        if (of.site.logits > 0)
            logits<tokens>(first);
        for (int i = 0; i < tokens; ++i)
            read(first + i);
    }
};

template <class T, int n>
struct SiteBackward {
    using A = Accumulator<T>;
    static constexpr int kMost = Site<T, n>::kMost;

    const StreamsBackward& call;
    const Site<T, n> of{call.site};

    /// The numbers of a token that its columns share.
    struct Token {
        A weight[kMost][2 * kMost];
        A read[kMost][kMost];
        A product[kMaxStreamLogits]; ///< dz
        A shrink[kMost];             ///< of (x − mean), for each norm
        Vec<T> weightSums[kMost][2 * kMost];
    };

    void readGradients(std::int64_t token) const
    {
        for (int r = 0; r < of.site.reads; ++r) {
            const T* const grad = of.row(call.outGrad[r], token);
            Vec<T> sums[kMost] = {};
            forTiles<T, 1>(of.site.width, [&]<int, bool part>(std::int64_t column, int lanes) {
                const Vec<T> value = loadLanes<part>(grad + column, lanes);
                for (int s = 0; s < of.streams; ++s)
                    sums[s] += loadLanes<part>(of.row(call.stream[s], token) + column, lanes) * value;
            });
            for (int s = 0; s < of.streams; ++s)
                static_cast<A*>(call.readGrad)[of.at(r * of.streams + s, token)] = sumLanes<A>(sums[s]);
        }
    }

    /// The gradient of a logit through the read.
    A throughRead(int norm, int m, std::int64_t token, A y) const
    {
        const bool isAll = of.site.norm == StreamNorm::all;
        const int r = isAll ? 0 : m;
        const int s = isAll ? m : norm;
        if (of.site.read == StreamRead::fixed || r >= of.site.reads || s >= of.streams)
            return 0;
        return static_cast<const A*>(call.readGrad)[of.at(r * of.streams + s, token)] * of.slope(r, s, y);
    }

    void prepare(std::int64_t token, Token& to) const
    {
        if (of.site.branches > 0)
            of.loadWeights(token, to.weight);
        readGradients(token);
        const A* const y = static_cast<const A*>(call.y);
        of.readWeights(token, y, to.read);
        const std::int64_t features = of.site.width * (of.streams / of.norms);
        for (int norm = 0; norm < of.norms; ++norm) {
            A sum = 0;
            const A rstd = of.number(call.rstd, of.at(norm, token), A(0));
            for (int m = 0; m < of.site.logits; ++m) {
                const int index = norm * of.site.logits + m;
                const A own = y[of.at(index, token)];
                const A grad = of.number(call.yGrad, of.at(index, token), A(0)) + throughRead(norm, m, token, own);
                to.product[index] = grad * rstd;
                sum += to.product[index] * own;
                static_cast<A*>(call.productGrad)[of.at(index, token)] = to.product[index];
            }
            to.shrink[norm] = of.site.logits > 0 ? sum * rstd / A(features) : A(0);
        }
        for (int t = 0; t < of.streams; ++t)
            for (int k = 0; k < of.sources; ++k)
                to.weightSums[t][k] = Vec<T>{};
    }

    /// Returns the gradients of a new stream's columns, of `tokens` tokens.
    template <bool part, int tokens>
    void streamGradients(int stream, std::int64_t first, const Token (&token)[tokens], std::int64_t column, int lanes,
                         Vec<T> (&grad)[tokens]) const
    {
        const int norm = of.norms > 1 ? stream : 0;
        for (int i = 0; i < tokens; ++i) {
            grad[i] = call.streamGrad[stream]
                          ? loadLanes<part>(of.row(call.streamGrad[stream], first + i) + column, lanes)
                          : Vec<T>{};
            for (int r = 0; r < of.site.reads; ++r)
                grad[i] +=
                    loadLanes<part>(of.row(call.outGrad[r], first + i) + column, lanes) * token[i].read[r][stream];
            if (of.site.logits > 0) {
                const A mean = of.site.norm == StreamNorm::centred
                                   ? static_cast<const A*>(call.mean)[of.at(stream, first + i)]
                                   : A(0);
                const Vec<T> x = loadLanes<part>(of.row(call.stream[stream], first + i) + column, lanes);
                grad[i] -= (x - mean) * token[i].shrink[norm];
            }
        }
        const A* row = of.site.logits > 0 ? of.rows(stream, 0) : nullptr;
        for (int m = 0; m < of.site.logits; ++m, row += of.site.width) {
            const Vec<T> value = loadLanes<part>(row + column, lanes);
            for (int i = 0; i < tokens; ++i)
                grad[i] += value * token[i].product[norm * of.site.logits + m];
        }
    }

    /// Goes back through the write of a token's columns.
    template <bool part>
    void writeGradients(std::int64_t n0, Token& token, const Vec<T> (&grad)[kMost], std::int64_t column,
                        int lanes) const
    {
        for (int k = 0; k < of.sources; ++k) {
            const bool isStream = k < of.streams;
            const T* from = of.row(isStream ? of.site.old[k] : of.site.branch[k - of.streams], n0);
            T* to = of.row(isStream ? call.oldGrad[k] : call.branchGrad[k - of.streams], n0);
            const Vec<T> value = loadLanes<part>(from + column, lanes);
            Vec<T> sum = {};
            for (int t = 0; t < of.streams; ++t) {
                token.weightSums[t][k] += value * grad[t];
                sum += grad[t] * token.weight[t][k];
            }
            storeLanes<part>(to + column, sum, lanes);
        }
    }

    template <int tokens>
    void group(std::int64_t first) const
    {
        Token token[tokens];
        for (int i = 0; i < tokens; ++i)
            prepare(first + i, token[i]);
        forTiles<T, 1>(of.site.width, [&]<int, bool part>(std::int64_t column, int lanes) {
            Vec<T> grad[tokens][kMost];
            for (int t = 0; t < of.streams; ++t) {
                Vec<T> each[tokens];
                streamGradients<part, tokens>(t, first, token, column, lanes, each);
                for (int i = 0; i < tokens; ++i)
                    grad[i][t] = each[i];
            }
            for (int i = 0; i < tokens; ++i) {
                if (of.site.branches > 0) {
                    writeGradients<part>(first + i, token[i], grad[i], column, lanes);
                    continue;
                }
                for (int t = 0; t < of.streams; ++t)
                    storeLanes<part>(of.row(call.oldGrad[t], first + i) + column, grad[i][t], lanes);
            }
        });
        for (int i = 0; i < tokens && of.site.branches > 0; ++i)
            for (int t = 0; t < of.streams; ++t)
                for (int k = 0; k < of.sources; ++k)
                    static_cast<A*>(call.weightGrad)[of.at(t * of.sources + k, first + i)] =
                        sumLanes<A>(token[i].weightSums[t][k]);
    }

    /// Writes Σ dz·x over the tokens of a chunk, for `count` rows and the streams from `first` to `last`.
    template <int count>
    void rowSums(int first, int last, int m, std::int64_t begin, std::int64_t end, A* to) const
    {
        forTiles<T, 2>(of.site.width, [&]<int V, bool part>(std::int64_t column, int lanes) {
            Vec<T> sums[count][V] = {};
            for (int s = first; s < last; ++s) {
                const A* grad[count];
                for (int j = 0; j < count; ++j) {
                    const int norm = of.norms > 1 ? s : 0;
                    grad[j] = static_cast<const A*>(call.productGrad) + of.at(norm * of.site.logits + m + j, 0);
                }
                for (std::int64_t token = begin; token < end; ++token) {
                    const T* const x = of.row(call.stream[s], token) + column;
                    for (int v = 0; v < V; ++v) {
                        const Vec<T> value = loadLanes<part>(x + v * kLanes<T>, lanes);
                        for (int j = 0; j < count; ++j)
                            sums[j][v] += value * grad[j][token];
                    }
                }
            }
            for (int j = 0; j < count; ++j)
                for (int v = 0; v < V; ++v)
                    storeLanes<part>(to + j * of.site.width + column + v * kLanes<T>, sums[j][v], lanes);
        });
    }

    void rowsGrad(std::int64_t begin, std::int64_t end, A* partial) const
    {
        const bool isAll = of.site.norm == StreamNorm::all;
        for (int block = 0; block < (isAll ? of.streams : 1); ++block) {
            forGroups<kRowsAtOnce>(of.site.logits, [&]<int count>(std::int64_t m) {
                rowSums<count>(isAll ? block : 0, isAll ? block + 1 : of.streams, int(m), begin, end,
                               partial + (block * of.site.logits + m) * of.site.width);
            });
        }
    }
};

/// Calls body with the number of streams as a constant if it is a usual one, else with 0.
template <class Body>
inline void withStreams(std::int32_t streams, Body&& body)
{
    switch (streams) {
    case 2:
        return body.template operator()<2>();
    case 4:
        return body.template operator()<4>();
    default:
        return body.template operator()<0>();
    }
}

} // namespace

void streamsForward(const StreamsForward& streams, std::int64_t begin, std::int64_t end)
{
    withType(streams.site.dataType, [&]<class T>() {
        withStreams(streams.site.streams, [&]<int n>() {
            const SiteForward<T, n> forward{streams};
            forGroups<kRows>(end - begin,
                             [&]<int tokens>(std::int64_t i) { forward.template group<tokens>(begin + i); });
        });
    });
}

void streamsBackward(const StreamsBackward& streams, std::int64_t begin, std::int64_t end, void* rowsPartial)
{
    withType(streams.site.dataType, [&]<class T>() {
        withStreams(streams.site.streams, [&]<int n>() {
            const SiteBackward<T, n> backward{streams};
            forGroups<kRows>(end - begin,
                             [&]<int tokens>(std::int64_t i) { backward.template group<tokens>(begin + i); });
            if (rowsPartial)
                backward.rowsGrad(begin, end, static_cast<Accumulator<T>*>(rowsPartial));
        });
    });
}

} // namespace residua::kernels::RESIDUA_ISA
