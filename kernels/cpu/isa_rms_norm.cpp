// SPDX-License-Identifier: GPL-3.0-or-later
// RMSNorm, row by row: the second pass over a row reads it from the first-level cache.
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

template <class T>
struct RowForward {
    using A = Accumulator<T>;
    const NormForward& norm;

    const T* row(const void* tensor, std::int64_t n) const { return static_cast<const T*>(tensor) + n * norm.width; }
    T* row(void* tensor, std::int64_t n) const { return static_cast<T*>(tensor) + n * norm.width; }

    /// Writes x + residual and normalises the stored values, so that the backward sees the same numbers.
    void addResidual(std::int64_t n) const
    {
        const T* x = row(norm.x, n);
        const T* residual = row(norm.residual, n);
        T* sum = row(norm.sum, n);
        forTiles<T, 1>(norm.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            storeLanes<part>(sum + at, loadLanes<part>(x + at, lanes) + loadLanes<part>(residual + at, lanes), lanes);
        });
    }

    void operator()(std::int64_t n) const
    {
        if (norm.residual)
            addResidual(n);
        const T* x = norm.residual ? row(norm.sum, n) : row(norm.x, n);
        const T* const self[1] = {x};
        A squares[1][1];
        dots<false>(self, self, norm.width, squares);
        const A rstd = inverseRoot(squares[0][0] / A(norm.width) + A(norm.eps));
        if (norm.rstd)
            static_cast<A*>(norm.rstd)[n] = rstd;
        T* y = row(norm.y, n);
        const A* weight = static_cast<const A*>(norm.weight);
        forTiles<T, 1>(norm.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            Vec<T> value = loadLanes<part>(x + at, lanes) * rstd;
            if (weight)
                value *= loadLanes<part>(weight + at, lanes);
            storeLanes<part>(y + at, value, lanes);
        });
        if (norm.largest)
            static_cast<A*>(norm.largest)[n] = largestOf(y, norm.width);
    }
};

template <class T>
struct RowBackward {
    using A = Accumulator<T>;
    const NormBackward& norm;
    const A* weight;
    A* weightPartial;

    /// Returns dy·weight.
    template <bool part>
    Vec<T> scaledGrad(const T* grad, std::int64_t at, int lanes) const
    {
        const Vec<T> value = loadLanes<part>(grad + at, lanes);
        return weight ? value * loadLanes<part>(weight + at, lanes) : value;
    }

    void operator()(std::int64_t n) const
    {
        const std::int64_t row = n * norm.width;
        const T* x = static_cast<const T*>(norm.x) + row;
        const T* grad = static_cast<const T*>(norm.yGrad) + row;
        const T* other = norm.sumGrad ? static_cast<const T*>(norm.sumGrad) + row : nullptr;
        T* xGrad = static_cast<T*>(norm.xGrad) + row;
        const A rstd = static_cast<const A*>(norm.rstd)[n];
        Vec<T> products = {};
        forTiles<T, 1>(norm.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            products += scaledGrad<part>(grad, at, lanes) * loadLanes<part>(x + at, lanes);
        });
        const A shrink = sumLanes<A>(products) * rstd * rstd / A(norm.width);
        forTiles<T, 1>(norm.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            const Vec<T> value = loadLanes<part>(x + at, lanes);
            if (weightPartial)
                storeLanes<part>(weightPartial + at,
                                 loadLanes<part>(weightPartial + at, lanes) +
                                     loadLanes<part>(grad + at, lanes) * value * rstd,
                                 lanes);
            Vec<T> result = (scaledGrad<part>(grad, at, lanes) - value * shrink) * rstd;
            if (other)
                result += loadLanes<part>(other + at, lanes);
            storeLanes<part>(xGrad + at, result, lanes);
        });
    }
};

} // namespace

void normForward(const NormForward& norm, std::int64_t begin, std::int64_t end)
{
    withType(norm.dataType, [&]<class T>() {
        const RowForward<T> forward{norm};
        for (std::int64_t n = begin; n < end; ++n)
            forward(n);
    });
}

void normBackward(const NormBackward& norm, std::int64_t begin, std::int64_t end, void* weightPartial)
{
    withType(norm.dataType, [&]<class T>() {
        using A = Accumulator<T>;
        A* partial = static_cast<A*>(weightPartial);
        for (std::int64_t c = 0; c < norm.width && partial; ++c)
            partial[c] = 0;
        const RowBackward<T> backward{norm, static_cast<const A*>(norm.weight), partial};
        for (std::int64_t n = begin; n < end; ++n)
            backward(n);
    });
}

} // namespace residua::kernels::RESIDUA_ISA
