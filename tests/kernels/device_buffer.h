// SPDX-License-Identifier: GPL-3.0-or-later
// The common parts of the case tables of all kernels: tensors in a backend's memory, and texts.
#pragma once

#include "tests/kernels/mix_harness.h"
#include "tests/kernels/typed_values.h"

#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace residua::tests {

inline void check(kernels::Status status)
{
    if (status != kernels::Status::ok)
        throw std::runtime_error(kernels::describe(status));
}

/// A tensor in a backend's memory.
class DeviceBuffer {
public:
    DeviceBuffer(MixBackend& backend, const Values& values, kernels::DataType type)
        : m_backend(backend), m_type(type), m_count(values.size())
    {
        const std::vector<char> bytes = encode(values, type);
        m_data = backend.upload(bytes.data(), bytes.size());
    }
    /// Filled with NaN, which no kernel may leave.
    DeviceBuffer(MixBackend& backend, std::size_t count, kernels::DataType type)
        : DeviceBuffer(backend, Values(count, std::nan("")), type)
    {
    }

    [[nodiscard]] void* data() const { return m_data; }
    [[nodiscard]] void* at(std::size_t element) const
    {
        return static_cast<char*>(m_data) + element * elementBytes(m_type);
    }
    [[nodiscard]] Values values() const
    {
        std::vector<char> bytes(m_count * elementBytes(m_type));
        m_backend.download(bytes.data(), m_data, bytes.size());
        return decode(bytes, m_type);
    }

private:
    MixBackend& m_backend;
    kernels::DataType m_type;
    std::size_t m_count;
    void* m_data;
};

/// The first of `texts` that is not empty, after the case's name.
inline std::string first(const std::string& name, std::initializer_list<std::string> texts)
{
    for (const std::string& text : texts)
        if (!text.empty())
            return name + ": " + text;
    return {};
}

inline std::string nameOf(kernels::DataType type)
{
    return type == kernels::DataType::float64 ? "float64" : type == kernels::DataType::float32 ? "float32" : "bfloat16";
}

} // namespace residua::tests
