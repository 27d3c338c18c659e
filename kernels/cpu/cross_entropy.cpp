// SPDX-License-Identifier: GPL-3.0-or-later
// Cross entropy in one general form, row by row, for every instruction set.
#include "kernels/transformer.h"

#include "kernels/cpu/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace residua::kernels {
namespace {

struct Bf16 {
    std::uint16_t bits;
};

template <class T>
T widen(T value)
{
    return value;
}
float widen(Bf16 value)
{
    const std::uint32_t bits = std::uint32_t(value.bits) << 16;
    float wide = 0;
    std::memcpy(&wide, &bits, sizeof(wide));
    return wide;
}

template <class T>
void narrow(T& to, T value)
{
    to = value;
}
void narrow(Bf16& to, float value)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    to.bits = std::uint16_t(std::isnan(value) ? 0x7fc0U : rounded);
}

template <class T>
class Rows {
public:
    using A = decltype(widen(T()));

    explicit Rows(const CrossEntropy& entropy) : m_entropy(entropy) {}

    void operator()(std::int64_t n) const
    {
        const std::int64_t target = m_entropy.targetType == IndexType::int64
                                        ? static_cast<const std::int64_t*>(m_entropy.targets)[n]
                                        : static_cast<const std::int32_t*>(m_entropy.targets)[n];
        if (target == m_entropy.ignored)
            return ignore(n);
        const bool valid = target >= 0 && target < m_entropy.classes;
        const A given = m_entropy.rowWeight ? static_cast<const A*>(m_entropy.rowWeight)[n] : A(1);
        const A weight = valid ? given : std::numeric_limits<A>::quiet_NaN();
        const T* logits = static_cast<const T*>(m_entropy.logits) + n * m_entropy.rowStride;
        A most = std::numeric_limits<A>::lowest();
        for (std::int64_t c = 0; c < m_entropy.classes; ++c)
            most = std::max(most, widen(logits[c]));
        A sum = 0;
        for (std::int64_t c = 0; c < m_entropy.classes; ++c)
            sum += std::exp(widen(logits[c]) - most);
        if (m_entropy.loss)
            static_cast<A*>(m_entropy.loss)[n] = weight * (most + std::log(sum) - widen(logits[valid ? target : 0]));
        if (m_entropy.grad)
            differentiate(logits, target, most, sum, weight, gradRow(n));
    }

private:
    T* gradRow(std::int64_t n) const { return static_cast<T*>(m_entropy.grad) + n * m_entropy.gradRowStride; }

    void ignore(std::int64_t n) const
    {
        if (m_entropy.loss)
            static_cast<A*>(m_entropy.loss)[n] = 0;
        for (std::int64_t c = 0; c < m_entropy.classes && m_entropy.grad; ++c)
            narrow(gradRow(n)[c], A(0));
    }

    void differentiate(const T* logits, std::int64_t target, A most, A sum, A weight, T* grad) const
    {
        const A scale = m_entropy.gradScale ? *static_cast<const A*>(m_entropy.gradScale) : A(1);
        const A factor = A(m_entropy.factor) * scale * weight;
        for (std::int64_t c = 0; c < m_entropy.classes; ++c) {
            const A share = std::exp(widen(logits[c]) - most) * (factor / sum);
            narrow(grad[c], c == target ? share - factor : share);
        }
    }

    const CrossEntropy& m_entropy;
};

template <class T>
void run(const CrossEntropy& entropy, const Parallel& parallel)
{
    forRange(parallel, entropy.tokens, grainFor(entropy.classes * std::int64_t(sizeof(T)) * 4),
             [rows = Rows<T>(entropy)](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t n = begin; n < end; ++n)
                     rows(n);
             });
}

} // namespace

Status crossEntropy(const CrossEntropy& entropy, const Parallel& parallel)
{
    if (const Status status = validate(entropy); status != Status::ok)
        return status;
    switch (entropy.dataType) {
    case DataType::float32:
        run<float>(entropy, parallel);
        break;
    case DataType::bfloat16:
        run<Bf16>(entropy, parallel);
        break;
    case DataType::float64:
        run<double>(entropy, parallel);
        break;
    }
    return Status::ok;
}

} // namespace residua::kernels
