// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad over chunks of tokens. A block of tokens keeps its output gradients in the second cache while the
// sources stream past: each source's rows give first their dot products with the gradients, then, still cached, their
// per-feature products.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_kernels.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

constexpr std::int64_t kBlockBytes = 256 * 1024;
constexpr int kMaxTokens = 32;

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
        const std::int64_t tokens = clamp(kBlockBytes / ((O + 2) * m_width * std::int64_t(sizeof(T))), 4, kMaxTokens);
        for (std::int64_t first = begin; first < end; first += tokens) {
            const std::int64_t last = first + tokens < end ? first + tokens : end;
            for (std::int32_t i = 0; i < m_present.count; ++i) {
                if (m_needDots)
                    for (std::int64_t n = first; n < last; ++n)
                        tokenProducts(i, n, m_gateGrad[n - first]);
                columnProducts(i, first, last);
            }
        }
    }

private:
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

    /// The scalars of one (token, source): adds to a scalar weight's gradient, writes tokenGrad, and leaves in gateGrad
    /// what the source's row is multiplied with in gateVectorGrad.
    void tokenProducts(std::int32_t i, std::int64_t n, A (&gateGrad)[O])
    {
        const std::int32_t s = m_present.index[i];
        const T* x = m_present.row[i] + n * m_width;
        A product[O];
        if (m_maskedDots) {
            for (int o = 0; o < O; ++o)
                product[o] = maskedDot(x, outGrad(o, n), featureWeights(o, s), logit(o, s, n));
        } else {
            const T* grads[O];
            for (int o = 0; o < O; ++o)
                grads[o] = outGrad(o, n);
            dots<O>(x, grads, m_width, product);
        }
        const A scale = m_stack.gateInput == GateInput::normalised
                            ? static_cast<const A*>(m_mix.rstd)[s * m_stack.tokens + n]
                            : A(1);
        for (int o = 0; o < O; ++o) {
            const A gate = gatePassed(o, s, n) * product[o];
            if (m_mix.weightGrad && m_stack.weightKind == WeightKind::scalar)
                m_weightPartial[o * m_stack.sources + s] += m_inside ? gate : product[o];
            if (m_mix.tokenGrad)
                tokenArray<A>(m_mix.tokenGrad, o, s)[n] = gate;
            gateGrad[o] = gate * scale;
        }
    }

    A logit(int o, std::int32_t s, std::int64_t n) const { return tokenArray<const A>(m_mix.gateLogits, o, s)[n]; }

    /// The gate's derivative where it is one number; a per-feature inside gate has it in its dot product already.
    A gatePassed(int o, std::int32_t s, std::int64_t n) const
    {
        if (!isRelu(m_stack.gateKind) || m_maskedDots)
            return 1;
        A argument = logit(o, s, n);
        if (m_inside && m_stack.weightKind == WeightKind::scalar)
            argument += static_cast<const A*>(m_stack.weights)[o * m_stack.sources + s];
        return reluGrad(argument, m_stack.reluGradAtZero);
    }

    A maskedDot(const T* x, const T* grad, const A* weights, A z) const
    {
        Vec<T> sum = {};
        forTiles<T, 1>(m_width, [&]<int, bool part>(std::int64_t at, int lanes) {
            sum +=
                reluMasked(loadLanes<part>(weights + at, lanes) + z,
                           loadLanes<part>(x + at, lanes) * loadLanes<part>(grad + at, lanes), m_stack.reluGradAtZero);
        });
        return sumLanes(sum);
    }

    void columnProducts(std::int32_t i, std::int64_t first, std::int64_t last)
    {
        const bool vectors = m_mix.gateVectorGrad;
        switch (m_features) {
        case FeatureGrad::none:
            return vectors ? columns<FeatureGrad::none, true>(i, first, last) : void();
        case FeatureGrad::plain:
            return vectors ? columns<FeatureGrad::plain, true>(i, first, last)
                           : columns<FeatureGrad::plain, false>(i, first, last);
        case FeatureGrad::inside:
            return vectors ? columns<FeatureGrad::inside, true>(i, first, last)
                           : columns<FeatureGrad::inside, false>(i, first, last);
        }
    }

    template <FeatureGrad features, bool vectors>
    void columns(std::int32_t i, std::int64_t first, std::int64_t last)
    {
        constexpr int registers = kVectorBytes == 64 || O == 1 ? 2 : 1;
        forTiles<T, registers>(m_width, [&]<int V, bool part>(std::int64_t column, int lanes) {
            columnTile<features, vectors, V, part>(i, first, last, column, lanes);
        });
    }

    template <FeatureGrad features, bool vectors, int V, bool part>
    void columnTile(std::int32_t i, std::int64_t first, std::int64_t last, std::int64_t column, int lanes)
    {
        const std::int32_t s = m_present.index[i];
        // Without dot products before it this pass is the first to touch a source: fetch the next one meanwhile.
        const T* next = !part && !m_needDots && i + 1 < m_present.count ? m_present.row[i + 1] + column : nullptr;
        Vec<T> weightSums[O][V] = {};
        Vec<T> vectorSums[O][V] = {};
        for (std::int64_t n = first; n < last; ++n) {
            if (next)
                prefetch(next + n * m_width, V * kLanes<T> * int(sizeof(T)));
            for (int v = 0; v < V; ++v) {
                const std::int64_t at = column + v * kLanes<T>;
                const Vec<T> x = loadLanes<part>(m_present.row[i] + n * m_width + at, lanes);
                for (int o = 0; o < O; ++o) {
                    if constexpr (features != FeatureGrad::none) {
                        Vec<T> product = x * loadLanes<part>(outGrad(o, n) + at, lanes);
                        if constexpr (features == FeatureGrad::inside)
                            product = reluMasked(loadLanes<part>(featureWeights(o, s) + at, lanes) + logit(o, s, n),
                                                 product, m_stack.reluGradAtZero);
                        weightSums[o][v] += product;
                    }
                    if constexpr (vectors)
                        vectorSums[o][v] += m_gateGrad[n - first][o] * x;
                }
            }
        }
        for (int o = 0; o < O; ++o) {
            if constexpr (features != FeatureGrad::none)
                addTile<V, part>(m_weightPartial + (std::int64_t(o) * m_stack.sources + s) * m_width + column,
                                 weightSums[o], lanes);
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
    A m_gateGrad[kMaxTokens][O];
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
