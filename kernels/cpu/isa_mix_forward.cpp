// SPDX-License-Identifier: GPL-3.0-or-later
// mixForward over a range of tokens. Tokens are processed in blocks, so small that the block's rows of all sources stay
// in the second-level cache between the gate's dot products and the mix. The mix keeps its sums in registers: for a
// tile of columns it loops over the sources in order, so every source element is loaded once and every output element
// stored once.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

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
        for (int o = 0; o < O; ++o) {
            m_gateVectors[o] = static_cast<const A*>(m_stack.gateVectors) + o * m_width;
            m_featureWeights[o] = static_cast<const A*>(m_stack.weights) + std::int64_t(o) * m_stack.sources * m_width;
            m_hasBase = m_hasBase || mix.base[o];
        }
    }

    void run(std::int64_t begin, std::int64_t end)
    {
        clearAbsent(begin, end);
        for (std::int64_t n = begin; n < end; ++n) {
            setCoefficients(n);
            mixToken(n);
        }
    }

private:
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

    /// Returns the row [o, s, :] of an [O, t, N] array.
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

    /// Sets m_coefficients[i][o]: the scalar weight, or the γ or z that is combined with a per-feature weight.
    void setCoefficients(std::int64_t n)
    {
        const bool feature = m_stack.weightKind == WeightKind::perFeature;
        if (feature && m_stack.gateKind == GateKind::none)
            return;
        if (isRelu(m_stack.gateKind))
            forGroups<kRows>(m_present.count, [&]<int R>(std::int64_t i) {
                if (m_stack.gateInput == GateInput::normalised)
                    gateLogits<true, R>(i, n, m_coefficients + i);
                else
                    gateLogits<false, R>(i, n, m_coefficients + i);
            });
        for (std::int32_t i = 0; i < m_present.count; ++i) {
            for (int o = 0; o < O; ++o) {
                const std::int32_t s = m_present.index[i];
                A& value = m_coefficients[i][o];
                if (m_stack.gateKind == GateKind::token)
                    value = tokenArray<const A>(m_stack.tokenWeights, o, s)[n];
                value = tokenCoefficient(m_stack.gateKind, feature, scalarWeight(o, s), value);
            }
        }
    }

    /// Computes z for R sources from i, into `logits` and into the caller's array.
    template <bool normalised, int R>
    void gateLogits(std::int64_t i, std::int64_t n, A (*logits)[O])
    {
        const T* x[R];
        for (int r = 0; r < R; ++r)
            x[r] = m_present.row[i + r] + n * m_width;
        A squares[R];
        dots<normalised>(x, m_gateVectors, m_width, logits, squares);
        for (int r = 0; r < R; ++r) {
            const std::int32_t s = m_present.index[i + r];
            A rstd = 1;
            if constexpr (normalised) {
                rstd = inverseRoot(squares[r] / A(m_width) + A(m_stack.eps));
                static_cast<A*>(m_mix.rstd)[s * m_stack.tokens + n] = rstd;
            }
            for (int o = 0; o < O; ++o) {
                logits[r][o] *= rstd;
                tokenArray<A>(m_mix.gateLogits, o, s)[n] = logits[r][o];
            }
        }
    }

    void mixToken(std::int64_t n)
    {
        if (m_stack.weightKind != WeightKind::perFeature)
            return mixTiles<Weighting::scalar>(n);
        switch (m_stack.gateKind) {
        case GateKind::none:
            return mixTiles<Weighting::feature>(n);
        case GateKind::reluInside:
            return mixTiles<Weighting::featureInside>(n);
        default:
            return mixTiles<Weighting::featurePlusToken>(n);
        }
    }

    template <Weighting weighting>
    void mixTiles(std::int64_t n)
    {
        constexpr int vectors = kVectorBytes == 64 || O < 3 ? 4 : 2;
        forTiles<T, vectors>(m_width, [&]<int V, bool part>(std::int64_t column, int lanes) {
            mixTile<weighting, V, part>(n * m_width + column, column, lanes);
        });
    }

    template <Weighting weighting, int V, bool part>
    void mixTile(std::int64_t at, std::int64_t column, int lanes)
    {
        Vec<T> sums[O][V];
        std::int32_t i = 0;
        // The first term is stored instead of added to 0, so that a single -0 keeps its sign, as in a running sum.
        if (m_hasBase || m_present.count == 0)
            startFromBase<V, part>(at, lanes, sums);
        else
            addSource<weighting, true, V, part>(i++, at, column, lanes, sums);
        for (; i < m_present.count; ++i)
            addSource<weighting, false, V, part>(i, at, column, lanes, sums);
        for (int o = 0; o < O; ++o)
            for (int v = 0; v < V; ++v)
                storeLanes<part>(static_cast<T*>(m_mix.out[o]) + at + v * kLanes<T>, sums[o][v], lanes);
    }

    template <int V, bool part>
    void startFromBase(std::int64_t at, int lanes, Vec<T> (&sums)[O][V])
    {
        for (int o = 0; o < O; ++o)
            for (int v = 0; v < V; ++v) {
                const T* base = static_cast<const T*>(m_mix.base[o]) + at + v * kLanes<T>;
                sums[o][v] = m_mix.base[o] ? loadLanes<part>(base, lanes) : Vec<T>{};
            }
    }

    template <Weighting weighting, bool first, int V, bool part>
    inline __attribute__((always_inline)) void addSource(std::int32_t i, std::int64_t at, std::int64_t column,
                                                         int lanes, Vec<T> (&sums)[O][V])
    {
        const T* x = m_present.row[i] + at;
        const std::int64_t row = std::int64_t(m_present.index[i]) * m_width + column;
        if constexpr (!part)
            prefetch(x + kPrefetchTokens * m_width, V * kLanes<T> * int(sizeof(T)));
        for (int v = 0; v < V; ++v) {
            const Vec<T> value = loadLanes<part>(x + v * kLanes<T>, lanes);
            for (int o = 0; o < O; ++o) {
                Vec<T> weight = {};
                if constexpr (weighting != Weighting::scalar)
                    weight = loadLanes<part>(m_featureWeights[o] + row + v * kLanes<T>, lanes);
                weight = combine<weighting>(weight, m_coefficients[i][o]);
                sums[o][v] = first ? weight * value : sums[o][v] + weight * value;
            }
        }
    }

    template <Weighting weighting>
    static Vec<T> combine(Vec<T> weight, A coefficient)
    {
        if constexpr (weighting == Weighting::scalar)
            return splat<Vec<T>>(coefficient);
        else if constexpr (weighting == Weighting::feature)
            return weight;
        else if constexpr (weighting == Weighting::featurePlusToken)
            return weight + coefficient;
        else
            return maximumWithZero(weight + coefficient);
    }

    const MixForward& m_mix;
    const MixStack& m_stack;
    const Present<T> m_present;
    const std::int64_t m_width;
    const A* m_gateVectors[O];
    const A* m_featureWeights[O];
    bool m_hasBase = false;
    A m_coefficients[kMaxSources][O];
};

} // namespace

void mixForward(const MixForward& mix, std::int64_t begin, std::int64_t end)
{
    withType(mix.stack.dataType, [&]<class T>() {
        withOutputs(mix.stack.outputs, [&]<int O>() { ForwardRange<T, O>(mix).run(begin, end); });
    });
}

} // namespace residua::kernels::RESIDUA_ISA
