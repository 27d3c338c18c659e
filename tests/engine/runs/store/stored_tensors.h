// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

/// Tensors as files hold them, and the bytes of files.
namespace residua::tests {

template <class T>
engine::StoredTensor stored(engine::StoredType type, std::vector<std::int64_t> shape, const std::vector<T>& values)
{
    return {type, std::move(shape), std::as_bytes(std::span(values))};
}

inline std::string readAll(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void overwrite(const std::filesystem::path& path, const std::string& bytes)
{
    std::filesystem::remove(path); // some file systems wait for the disk when a file is overwritten
    std::ofstream(path, std::ios::binary) << bytes;
}

/// A small network's tensors, alive as long as this is.
struct ExampleTensors {
    std::vector<float> weight{1.5f, -2.0f, 3.25f, std::numeric_limits<float>::denorm_min(), -0.0f, 1e30f};
    std::vector<double> exact{0.1, -1e-300};
    std::vector<std::int64_t> steps{7};
    std::vector<std::uint8_t> random{1, 2, 3, 4, 5};
    std::vector<std::uint16_t> half{0x3f80, 0x4000};

    [[nodiscard]] std::map<std::string, engine::StoredTensor> model() const
    {
        return {{"a.random", stored(engine::StoredType::U8, {5}, random)},
                {"layers.1.weight", stored(engine::StoredType::F32, {2, 3}, weight)},
                {"exact", stored(engine::StoredType::F64, {2, 1}, exact)},
                {"half", stored(engine::StoredType::Bf16, {2}, half)},
                {"none", engine::StoredTensor{engine::StoredType::F32, {0, 4}, {}}}};
    }
    [[nodiscard]] std::map<std::string, engine::StoredTensor> optimiser() const
    {
        return {{"steps", stored(engine::StoredType::I64, {}, steps)}};
    }
};

inline bool same(const std::map<std::string, engine::StoredTensor>& a,
                 const std::map<std::string, engine::StoredTensor>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.type == y.second.type && x.second.shape == y.second.shape &&
               std::ranges::equal(x.second.bytes, y.second.bytes);
    });
}

inline std::vector<std::filesystem::path> entriesBelow(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> entries;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        entries.push_back(entry.path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

} // namespace residua::tests
