// SPDX-License-Identifier: GPL-3.0-or-later
// mixGather over a range of tokens. For a tile of columns the sums stay in registers during the loop over all readers,
// so every output gradient is loaded once and the source's gradient is stored once.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

template <class T>
class GatherRange {
    using A = Accumulator<T>;

public:
    explicit GatherRange(const MixGather& mix) : m_mix(mix), m_width(mix.width)
    {
        for (std::int32_t k = 0; k < mix.readers; ++k) {
            const MixReader& reader = mix.reader[k];
            m_normalised = m_normalised || reader.gateInput == GateInput::normalised;
        }
    }

    void run(std::int64_t begin, std::int64_t end)
    {
        for (std::int64_t n = begin; n < end; ++n) {
            setCoefficients(n);
            forTiles<T, 4>(m_width, [&]<int V, bool part>(std::int64_t column, int lanes) {
                gatherTile<V, part>(n * m_width + column, column, lanes);
            });
        }
    }

private:
    static A at(const void* array, std::int64_t index) { return static_cast<const A*>(array)[index]; }

    void setCoefficients(std::int64_t n)
    {
        const A rstd = m_normalised ? at(m_mix.rstd, n) : A(1);
        A self = 0;
        for (std::int32_t k = 0; k < m_mix.readers; ++k) {
            const MixReader& reader = m_mix.reader[k];
            const bool feature = reader.weightKind == WeightKind::perFeature;
            const A a = reader.weightKind == WeightKind::scalar ? at(reader.weight, 0) : A(0);
            const A token = reader.gateKind == GateKind::none ? A(0) : at(reader.token, n);
            m_weight[k] = tokenCoefficient(reader.gateKind, feature, a, token);
            if (!isRelu(reader.gateKind))
                continue;
            const A gateGrad = at(reader.gateGrad, n);
            const bool normalised = reader.gateInput == GateInput::normalised;
            m_gate[k] = normalised ? gateGrad * rstd : gateGrad;
            if (normalised)
                self -= gateGrad * token;
        }
        m_self = self * rstd * rstd / A(m_width);
    }

    template <int V, bool part>
    void gatherTile(std::int64_t row, std::int64_t column, int lanes)
    {
        Vec<T> sums[V];
        for (int v = 0; v < V; ++v)
            sums[v] =
                m_mix.own ? loadLanes<part>(static_cast<const T*>(m_mix.own) + row + v * kLanes<T>, lanes) : Vec<T>{};
        for (std::int32_t k = 0; k < m_mix.readers; ++k)
            addReader<V, part>(m_mix.reader[k], k, row, column, lanes, sums);
        if (m_normalised) {
            const T* x = static_cast<const T*>(m_mix.source) + row;
            for (int v = 0; v < V; ++v)
                sums[v] += m_self * loadLanes<part>(x + v * kLanes<T>, lanes);
        }
        for (int v = 0; v < V; ++v)
            storeLanes<part>(static_cast<T*>(m_mix.sourceGrad) + row + v * kLanes<T>, sums[v], lanes);
    }

    template <int V, bool part>
    inline __attribute__((always_inline)) void addReader(const MixReader& reader, std::int32_t k, std::int64_t row,
                                                         std::int64_t column, int lanes, Vec<T> (&sums)[V])
    {
        constexpr int lane = kLanes<T>;
        const T* grad = static_cast<const T*>(reader.outGrad) + row;
        if constexpr (!part)
            prefetch(grad + kPrefetchTokens * m_width, V * lane * int(sizeof(T)));
        const A weight = m_weight[k];
        if (reader.weightKind != WeightKind::perFeature) {
            for (int v = 0; v < V; ++v)
                sums[v] += weight * loadLanes<part>(grad + v * lane, lanes);
        } else {
            const A* weights = static_cast<const A*>(reader.weight) + column;
            for (int v = 0; v < V; ++v) {
                Vec<T> total = loadLanes<part>(weights + v * lane, lanes) + weight;
                if (reader.gateKind == GateKind::reluInside)
                    total = maximumWithZero(total);
                sums[v] += total * loadLanes<part>(grad + v * lane, lanes);
            }
        }
        if (isRelu(reader.gateKind)) {
            const A* vector = static_cast<const A*>(reader.gateVector) + column;
            for (int v = 0; v < V; ++v)
                sums[v] += m_gate[k] * loadLanes<part>(vector + v * lane, lanes);
        }
    }

    const MixGather& m_mix;
    const std::int64_t m_width;
    bool m_normalised = false;
    A m_weight[kMaxReaders];
    A m_gate[kMaxReaders];
    A m_self = 0;
};

} // namespace

void mixGather(const MixGather& mix, std::int64_t begin, std::int64_t end)
{
    withType(mix.dataType, [&]<class T>() { GatherRange<T>(mix).run(begin, end); });
}

} // namespace residua::kernels::RESIDUA_ISA
