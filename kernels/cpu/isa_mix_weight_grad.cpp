// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad over chunks of tokens. The output gradients of a block of tokens stay in the second-level cache during
// the loop over the sources. The rows of each source are used for their dot products with the gradients and, while
// still cached, for their per-feature products.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

constexpr std::int64_t kBlockBytes = 384 * 1024;
constexpr int kMaxTokens = 16;
constexpr int kColumnRows = 2;

enum class FeatureGrad { none, plain, inside };

template <class T, int O>
class WeightGradChunk {
    using A = Accumulator<T>;

public:
    WeightGradChunk(const MixWeightGrad& mix, const PartialLayout& layout)
        : m_mix(mix), m_stack(mix.stack), m_layout(layout), m_present(mix.stack), m_width(mix.stack.width)
    {
        const bool perFeature = m_stack.weightKind == WeightKind::perFeature;
        m_inside = m_stack.gateKind == GateKind::reluInside;
        m_features = !mix.weightGrad || !perFeature ? FeatureGrad::none
                     : m_inside                     ? FeatureGrad::inside
                                                    : FeatureGrad::plain;
        m_maskedDots = m_inside && perFeature;
        m_needDots = (mix.weightGrad && !perFeature) || mix.tokenGrad || mix.gateVectorGrad;
        for (std::int32_t i = 0; i < m_present.count; ++i) {
            const std::int32_t next = i + kRows;
            m_next[i] = next < m_present.count ? m_present.row[next]
                                               : m_present.row[next % m_present.count] + blockTokens() * m_width;
        }
    }

    void run(std::int64_t chunk)
    {
        A* partial = static_cast<A*>(m_mix.workspace) + chunk * m_layout.chunks.stride;
        for (std::int64_t i = 0; i < m_layout.chunks.stride; ++i)
            partial[i] = 0;
        m_weightPartial = partial;
        m_vectorPartial = partial + m_layout.weightElements;
        const std::int64_t begin = chunk * m_layout.chunks.chunkTokens;
        const std::int64_t end =
            begin + m_layout.chunks.chunkTokens < m_stack.tokens ? begin + m_layout.chunks.chunkTokens : m_stack.tokens;
        clearAbsent(begin, end);
        const std::int64_t tokens = blockTokens();
        for (std::int64_t first = begin; first < end; first += tokens) {
            const std::int64_t last = first + tokens < end ? first + tokens : end;
            forGroups<kRows>(m_present.count, [&]<int R>(std::int64_t i) {
                for (std::int64_t n = first; n < last && m_needDots; ++n)
                    tokenProducts<R>(i, n, n - first);
                forGroups<kColumnRows>(R, [&]<int C>(std::int64_t r) { columnProducts<C>(i + r, r, first, last); });
            });
        }
    }

private:
    std::int64_t blockTokens() const
    {
        return clamp(kBlockBytes / ((O + 2 * kRows) * m_width * std::int64_t(sizeof(T))), 4, kMaxTokens);
    }

    template <class P, class Pointer>
    P* tokenArray(Pointer* base, int o, std::int32_t s) const
    {
        return static_cast<P*>(base) + (std::int64_t(o) * m_stack.sources + s) * m_stack.tokens;
    }

    const T* outGrad(int o, std::int64_t n) const { return static_cast<const T*>(m_mix.outGrad[o]) + n * m_width; }

    const A* featureWeights(int o, std::int32_t s) const
    {
        return static_cast<const A*>(m_stack.weights) + (std::int64_t(o) * m_stack.sources + s) * m_width;
    }

    void clearAbsent(std::int64_t begin, std::int64_t end)
    {
        for (std::int32_t s = 0; s < m_stack.sources && m_mix.tokenGrad; ++s)
            for (int o = 0; o < O && !m_stack.source[s]; ++o)
                for (std::int64_t n = begin; n < end; ++n)
                    tokenArray<A>(m_mix.tokenGrad, o, s)[n] = 0;
    }

    /// Computes the scalars of one token and R sources: adds to scalar weights' gradients, writes tokenGrad, and stores
    /// in m_gateGrad the factors of the sources' rows in gateVectorGrad.
    template <int R>
    void tokenProducts(std::int64_t i, std::int64_t n, std::int64_t slot)
    {
        A products[R][O];
        if (m_maskedDots) {
            for (int r = 0; r < R; ++r)
                for (int o = 0; o < O; ++o)
                    products[r][o] = maskedDot(i + r, o, n);
        } else {
            const T* x[R];
            const T* grads[O];
            for (int r = 0; r < R; ++r)
                x[r] = m_present.row[i + r] + n * m_width;
            for (int o = 0; o < O; ++o)
                grads[o] = outGrad(o, n);
            dots<false>(x, grads, m_width, products);
        }
        for (int r = 0; r < R; ++r)
            for (int o = 0; o < O; ++o)
                takeProduct(m_present.index[i + r], o, n, products[r][o], m_gateGrad[r][slot][o]);
    }

    void takeProduct(std::int32_t s, int o, std::int64_t n, A product, A& gateGrad)
    {
        const A gate = gatePassed(o, s, n) * product;
        if (m_mix.weightGrad && m_stack.weightKind == WeightKind::scalar)
            m_weightPartial[o * m_stack.sources + s] += m_inside ? gate : product;
        if (m_mix.tokenGrad)
            tokenArray<A>(m_mix.tokenGrad, o, s)[n] = gate;
        const bool normalised = m_stack.gateInput == GateInput::normalised;
        gateGrad = normalised ? gate * static_cast<const A*>(m_mix.rstd)[s * m_stack.tokens + n] : gate;
    }

    A logit(int o, std::int32_t s, std::int64_t n) const { return tokenArray<const A>(m_mix.gateLogits, o, s)[n]; }

    /// Returns the gate's derivative if it is one number. A per-feature inside gate has it in its dot product already.
    A gatePassed(int o, std::int32_t s, std::int64_t n) const
    {
        if (!isRelu(m_stack.gateKind) || m_maskedDots)
            return 1;
        A argument = logit(o, s, n);
        if (m_inside && m_stack.weightKind == WeightKind::scalar)
            argument += static_cast<const A*>(m_stack.weights)[o * m_stack.sources + s];
        return reluGrad(argument, m_stack.reluGradAtZero);
    }

    A maskedDot(std::int64_t i, int o, std::int64_t n) const
    {
        const std::int32_t s = m_present.index[i];
        const T* x = m_present.row[i] + n * m_width;
        Vec<T> sum = {};
        forTiles<T, 1>(m_width, [&]<int, bool part>(std::int64_t at, int lanes) {
            const Vec<T> product = loadLanes<part>(x + at, lanes) * loadLanes<part>(outGrad(o, n) + at, lanes);
            sum += masked<part>(product, o, s, n, at, lanes);
        });
        return sumLanes<A>(sum);
    }

    /// Returns the product where relu(a(c) + z) has slope 1, else 0.
    template <bool part>
    Vec<T> masked(Vec<T> product, int o, std::int32_t s, std::int64_t n, std::int64_t at, int lanes) const
    {
        const Vec<T> argument = loadLanes<part>(featureWeights(o, s) + at, lanes) + logit(o, s, n);
        return reluMasked(argument, product, m_stack.reluGradAtZero);
    }

    template <int C>
    void columnProducts(std::int64_t i, std::int64_t r, std::int64_t first, std::int64_t last)
    {
        const bool vectors = m_mix.gateVectorGrad;
        switch (m_features) {
        case FeatureGrad::none:
            return vectors ? columns<FeatureGrad::none, true, C>(i, r, first, last) : void();
        case FeatureGrad::plain:
            return vectors ? columns<FeatureGrad::plain, true, C>(i, r, first, last)
                           : columns<FeatureGrad::plain, false, C>(i, r, first, last);
        case FeatureGrad::inside:
            return vectors ? columns<FeatureGrad::inside, true, C>(i, r, first, last)
                           : columns<FeatureGrad::inside, false, C>(i, r, first, last);
        }
    }

    template <FeatureGrad features, bool vectors, int C>
    void columns(std::int64_t i, std::int64_t r, std::int64_t first, std::int64_t last)
    {
        constexpr int registers = kVectorBytes == 64 || O == 1 ? 2 : 1;
        forTiles<T, registers>(m_width, [&]<int V, bool part>(std::int64_t column, int lanes) {
            columnTile<features, vectors, C, V, part>(i, r, first, last, column, lanes);
        });
    }

    /// Adds the per-feature sums of C sources from i (rows r and on of m_gateGrad) over the block's tokens.
    template <FeatureGrad features, bool vectors, int C, int V, bool part>
    void columnTile(std::int64_t i, std::int64_t r, std::int64_t first, std::int64_t last, std::int64_t column,
                    int lanes)
    {
        Vec<T> weightSums[C][O][V] = {};
        Vec<T> vectorSums[O][V] = {};
        for (std::int64_t n = first; n < last; ++n) {
            for (int v = 0; v < V; ++v) {
                const std::int64_t at = column + v * kLanes<T>;
                Vec<T> x[C];
                for (int c = 0; c < C; ++c) {
                    if constexpr (!part)
                        prefetch(m_next[i + c] + n * m_width + at, kLanes<T> * int(sizeof(T)));
                    x[c] = loadLanes<part>(m_present.row[i + c] + n * m_width + at, lanes);
                }
                for (int o = 0; o < O; ++o) {
                    if constexpr (features != FeatureGrad::none) {
                        const Vec<T> grad = loadLanes<part>(outGrad(o, n) + at, lanes);
                        for (int c = 0; c < C; ++c) {
                            if constexpr (features == FeatureGrad::inside)
                                weightSums[c][o][v] +=
                                    masked<part>(x[c] * grad, o, m_present.index[i + c], n, at, lanes);
                            else
                                weightSums[c][o][v] += x[c] * grad;
                        }
                    }
                    for (int c = 0; c < C && vectors; ++c)
                        vectorSums[o][v] += m_gateGrad[r + c][n - first][o] * x[c];
                }
            }
        }
        for (int o = 0; o < O; ++o) {
            for (int c = 0; c < C && features != FeatureGrad::none; ++c) {
                const std::int64_t row = std::int64_t(o) * m_stack.sources + m_present.index[i + c];
                addTile<V, part>(m_weightPartial + row * m_width + column, weightSums[c][o], lanes);
            }
            if constexpr (vectors)
                addTile<V, part>(m_vectorPartial + o * m_width + column, vectorSums[o], lanes);
        }
    }

    template <int V, bool part>
    static void addTile(A* to, const Vec<T> (&sums)[V], int lanes)
    {
        for (int v = 0; v < V; ++v)
            storeLanes<part>(to + v * kLanes<T>, loadLanes<part>(to + v * kLanes<T>, lanes) + sums[v], lanes);
    }

    const MixWeightGrad& m_mix;
    const MixStack& m_stack;
    const PartialLayout& m_layout;
    const Present<T> m_present;
    const std::int64_t m_width;
    FeatureGrad m_features;
    bool m_inside;
    bool m_maskedDots;
    bool m_needDots;
    A* m_weightPartial = nullptr;
    A* m_vectorPartial = nullptr;
    const T* m_next[kMaxSources]; // the rows to prefetch during the loop over a source's rows: those of the next group
    A m_gateGrad[kRows][kMaxTokens][O];
};

} // namespace

void mixWeightGrad(const MixWeightGrad& mix, const PartialLayout& layout, std::int64_t beginChunk,
                   std::int64_t endChunk)
{
    withType(mix.stack.dataType, [&]<class T>() {
        withOutputs(mix.stack.outputs, [&]<int O>() {
            WeightGradChunk<T, O> chunks(mix, layout);
            for (std::int64_t chunk = beginChunk; chunk < endChunk; ++chunk)
                chunks.run(chunk);
        });
    });
}

} // namespace residua::kernels::RESIDUA_ISA
