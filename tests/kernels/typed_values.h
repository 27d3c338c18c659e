// SPDX-License-Identifier: GPL-3.0-or-later
// Doubles to and from the bytes of a data type, one element at a time.
#pragma once

#include "kernels/types.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace residua::tests {

inline std::size_t elementBytes(kernels::DataType type)
{
    return type == kernels::DataType::float64 ? 8 : type == kernels::DataType::float32 ? 4 : 2;
}

/// Nearest bfloat16, ties to even, by arithmetic: 8 significant bits.
inline float toBfloat16(double value)
{
    if (value == 0 || !std::isfinite(value))
        return float(value);
    int exponent = 0;
    std::frexp(value, &exponent);
    const double unit = std::ldexp(1.0, exponent - 8);
    return float(std::nearbyint(value / unit) * unit);
}

inline std::vector<char> encode(const std::vector<double>& values, kernels::DataType type)
{
    const std::size_t size = elementBytes(type);
    std::vector<char> bytes(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float single = type == kernels::DataType::bfloat16 ? toBfloat16(values[i]) : float(values[i]);
        // A little-endian float's upper half is the bfloat16.
        const char* from = type == kernels::DataType::float64 ? reinterpret_cast<const char*>(&values[i])
                                                              : reinterpret_cast<const char*>(&single) + 4 - size;
        std::memcpy(&bytes[i * size], from, size);
    }
    return bytes;
}

inline std::vector<double> decode(const std::vector<char>& bytes, kernels::DataType type)
{
    const std::size_t size = elementBytes(type);
    std::vector<double> values(bytes.size() / size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == kernels::DataType::float64) {
            std::memcpy(&values[i], &bytes[i * size], size);
            continue;
        }
        float single = 0;
        std::memcpy(reinterpret_cast<char*>(&single) + 4 - size, &bytes[i * size], size);
        values[i] = single;
    }
    return values;
}

inline std::vector<double> rounded(const std::vector<double>& values, kernels::DataType type)
{
    return decode(encode(values, type), type);
}

/// Returns the largest magnitude in each row of `width` numbers.
inline Values largestIn(const Values& values, std::size_t width)
{
    Values largest(values.size() / width);
    for (std::size_t i = 0; i < values.size(); ++i)
        largest[i / width] = std::max(largest[i / width], std::abs(values[i]));
    return largest;
}

} // namespace residua::tests
