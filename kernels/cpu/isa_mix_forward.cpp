// SPDX-License-Identifier: GPL-3.0-or-later
// mixForward over a range of tokens. Tokens go in blocks small enough that the block's rows of all sources stay in the
// second cache between the gate's dot products and the mix. The mix keeps its sums in registers: for a tile of columns
// it runs over the sources in order, so every source element is loaded once and every output element is stored once.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_kernels.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

constexpr std::int64_t kBlockBytes = 256 * 1024;
constexpr int kPrefetchTokens = 2;

enum class Weighting {
    scalar,           // one number per (token, source), gate included
    feature,          // a(c)
    featurePlusToken, // a(c) + γ
    featureInside,    // relu(a(c) + z)
};

template <class T, int O>
class ForwardRange {
    using A = Accumulator<T>;

public:
    explicit ForwardRange(const MixForward& mix)
        : m_mix(mix), m_stack(mix.stack), m_present(mix.stack), m_width(mix.stack.width)
    {
    }

    void run(std::int64_t begin, std::int64_t end)
    {
        clearAbsent(begin, end);
        const std::int64_t tokens = blockTokens();
        for (std::int64_t first = begin; first < end; first += tokens) {
            const std::int64_t last = first + tokens < end ? first + tokens : end;
            for (std::int64_t n = first; n < last; ++n)
                setCoefficients(n, m_coefficients + (n - first) * m_present.count * O);
            mixBlock(first, last);
        }
    }

private:
    std::int64_t blockTokens() const
    {
        // Scalar weights without a gate have nothing to reuse: one row after the other suits the prefetcher best.
        if (m_stack.weightKind != WeightKind::perFeature && !isRelu(m_stack.gateKind))
            return 1;
        const std::int64_t sources = m_present.count > 0 ? m_present.count : 1;
        const std::int64_t fit = kBlockBytes / (sources * m_width * std::int64_t(sizeof(T)));
        const std::int64_t limit = kMaxBlockCoefficients / sources;
        return clamp(fit, 1, limit < kMaxBlockTokens ? limit : kMaxBlockTokens);
    }

    void clearAbsent(std::int64_t begin, std::int64_t end)
    {
        for (std::int32_t s = 0; s < m_stack.sources; ++s) {
            if (m_stack.source[s])
                continue;
            for (std::int64_t n = begin; n < end; ++n) {
                for (int o = 0; o < O && isRelu(m_stack.gateKind); ++o)
                    tokenArray<A>(m_mix.gateLogits, o, s)[n] = 0;
                if (m_stack.gateInput == GateInput::normalised)
                    static_cast<A*>(m_mix.rstd)[s * m_stack.tokens + n] = 0;
            }
        }
    }

    /// The row [o, s, :] of an [O, t, N] array.
    template <class P, class Pointer>
    P* tokenArray(Pointer* base, int o, std::int32_t s) const
    {
        return static_cast<P*>(base) + (std::int64_t(o) * m_stack.sources + s) * m_stack.tokens;
    }

    A scalarWeight(int o, std::int32_t s) const
    {
        return m_stack.weightKind == WeightKind::scalar
                   ? static_cast<const A*>(m_stack.weights)[o * m_stack.sources + s]
                   : A(0);
    }

    /// coefficients[i·O + o]: the scalar weight, or γ or z that a per-feature weight is combined with.
    void setCoefficients(std::int64_t n, A* coefficients)
    {
        const bool feature = m_stack.weightKind == WeightKind::perFeature;
        if (feature && m_stack.gateKind == GateKind::none)
            return;
        for (std::int32_t i = 0; i < m_present.count; ++i) {
            const std::int32_t s = m_present.index[i];
            A token[O] = {};
            if (isRelu(m_stack.gateKind))
                gateLogits(m_present.row[i] + n * m_width, s, n, token);
            for (int o = 0; o < O; ++o) {
                if (m_stack.gateKind == GateKind::token)
                    token[o] = tokenArray<const A>(m_stack.tokenWeights, o, s)[n];
                coefficients[i * O + o] = tokenCoefficient(m_stack.gateKind, feature, scalarWeight(o, s), token[o]);
            }
        }
    }

    void gateLogits(const T* x, std::int32_t s, std::int64_t n, A (&z)[O])
    {
        const A* vectors[O];
        for (int o = 0; o < O; ++o)
            vectors[o] = static_cast<const A*>(m_stack.gateVectors) + o * m_width;
        dots<O>(x, vectors, m_width, z);
        if (m_stack.gateInput == GateInput::normalised) {
            const T* const self[1] = {x};
            A squares;
            dots<1>(x, self, m_width, &squares);
            const A rstd = inverseRoot(squares / A(m_width) + A(m_stack.eps));
            static_cast<A*>(m_mix.rstd)[s * m_stack.tokens + n] = rstd;
            for (int o = 0; o < O; ++o)
                z[o] *= rstd;
        }
        for (int o = 0; o < O; ++o)
            tokenArray<A>(m_mix.gateLogits, o, s)[n] = z[o];
    }

    void mixBlock(std::int64_t first, std::int64_t last)
    {
        if (m_stack.weightKind != WeightKind::perFeature)
            return mixTiles<Weighting::scalar>(first, last);
        switch (m_stack.gateKind) {
        case GateKind::none:
            return mixTiles<Weighting::feature>(first, last);
        case GateKind::reluInside:
            return mixTiles<Weighting::featureInside>(first, last);
        default:
            return mixTiles<Weighting::featurePlusToken>(first, last);
        }
    }

    template <Weighting weighting>
    void mixTiles(std::int64_t first, std::int64_t last)
    {
        // Columns outside, tokens inside: a tile's per-feature weights stay in the first cache for the whole block.
        constexpr int vectors = kVectorBytes == 64 || O < 3 ? 4 : 2;
        forTiles<T, vectors>(m_width, [&]<int V, bool part>(std::int64_t column, int lanes) {
            for (std::int64_t n = first; n < last; ++n)
                mixTile<weighting, V, part>(n, m_coefficients + (n - first) * m_present.count * O, column, lanes);
        });
    }

    template <Weighting weighting, int V, bool part>
    void mixTile(std::int64_t n, const A* coefficients, std::int64_t column, int lanes)
    {
        const std::int64_t at = n * m_width + column;
        Vec<T> sums[O][V];
        std::int32_t i = 0;
        // The first term is stored, not added to 0, so that a lone -0 keeps its sign like in a running sum.
        bool started = false;
        for (int o = 0; o < O; ++o)
            started = started || m_mix.base[o];
        if (started || m_present.count == 0) {
            for (int o = 0; o < O; ++o)
                for (int v = 0; v < V; ++v)
                    sums[o][v] = m_mix.base[o]
                                     ? loadLanes<part>(static_cast<const T*>(m_mix.base[o]) + at + v * kLanes<T>, lanes)
                                     : Vec<T>{};
        } else {
            addSource<weighting, V, part, true>(i++, coefficients, at, column, lanes, sums);
        }
        for (; i < m_present.count; ++i)
            addSource<weighting, V, part, false>(i, coefficients + i * O, at, column, lanes, sums);
        for (int o = 0; o < O; ++o)
            for (int v = 0; v < V; ++v)
                storeLanes<part>(static_cast<T*>(m_mix.out[o]) + at + v * kLanes<T>, sums[o][v], lanes);
    }

    template <Weighting weighting, int V, bool part, bool first>
    inline __attribute__((always_inline)) void addSource(std::int32_t i, const A* coefficient, std::int64_t at,
                                                         std::int64_t column, int lanes, Vec<T> (&sums)[O][V])
    {
        const T* x = m_present.row[i] + at;
        if constexpr (!part)
            prefetch(x + kPrefetchTokens * m_width, V * kLanes<T> * int(sizeof(T)));
        for (int v = 0; v < V; ++v) {
            const Vec<T> value = loadLanes<part>(x + v * kLanes<T>, lanes);
            for (int o = 0; o < O; ++o) {
                Vec<T> weight;
                if constexpr (weighting == Weighting::scalar) {
                    weight = splat<Vec<T>>(coefficient[o]);
                } else {
                    const A* row = static_cast<const A*>(m_stack.weights) +
                                   (std::int64_t(o) * m_stack.sources + m_present.index[i]) * m_width + column;
                    weight = loadLanes<part>(row + v * kLanes<T>, lanes);
                    if constexpr (weighting != Weighting::feature)
                        weight += coefficient[o];
                    if constexpr (weighting == Weighting::featureInside)
                        weight = maximumWithZero(weight);
                }
                sums[o][v] = first ? weight * value : sums[o][v] + weight * value;
            }
        }
    }

    const MixForward& m_mix;
    const MixStack& m_stack;
    const Present<T> m_present;
    const std::int64_t m_width;
    A m_coefficients[kMaxBlockCoefficients * O];
};

} // namespace

void mixForward(const MixForward& mix, std::int64_t begin, std::int64_t end)
{
    withType(mix.stack.dataType, [&]<class T>() {
        withOutputs(mix.stack.outputs, [&]<int O>() { ForwardRange<T, O>(mix).run(begin, end); });
    });
}

} // namespace residua::kernels::RESIDUA_ISA
