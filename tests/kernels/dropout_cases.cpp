// SPDX-License-Identifier: GPL-3.0-or-later
// Cases of dropout, against Philox as its authors describe it.
#include "tests/kernels/device_buffer.h"
#include "tests/kernels/transformer_cases.h"

#include <array>
#include <bit>
#include <cstdint>

namespace residua::tests {
namespace {

using kernels::DataType;
using kernels::Dropout;
using kernels::Status;

/// Returns the four words of Philox 4x32-10 at a counter of 128 bits.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t low, std::uint64_t high)
{
    std::array<std::uint32_t, 4> x{std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high),
                                   std::uint32_t(high >> 32)};
    std::uint32_t k0 = std::uint32_t(key);
    std::uint32_t k1 = std::uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t(0xD2511F53) * x[0];
        const std::uint64_t b = std::uint64_t(0xCD9E8D57) * x[2];
        x = {std::uint32_t(b >> 32) ^ x[1] ^ k0, std::uint32_t(b), std::uint32_t(a >> 32) ^ x[3] ^ k1,
             std::uint32_t(a)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return x;
}

struct DropoutCase {
    DataType type;
    int examples, width;
    std::uint64_t key, first, stream;
    std::uint32_t threshold;
    bool inPlace;
};

/// Returns the words as numbers that a buffer of float64 holds.
Values asNumbers(std::initializer_list<std::uint64_t> words)
{
    Values numbers;
    for (const std::uint64_t word : words)
        numbers.push_back(std::bit_cast<double>(word));
    return numbers;
}

std::string checkDropoutCase(const TransformerKernels& kernels, const DropoutCase& dropout)
{
    const auto memory = kernels.memory();
    const auto width = std::size_t(dropout.width);
    const std::size_t count = std::size_t(dropout.examples) * width;
    const Values x = randomValues(count, dropout.type, 21);
    const DeviceBuffer in(*memory, x, dropout.type), apart(*memory, count, dropout.type);
    const DeviceBuffer draws(*memory, asNumbers({dropout.key, dropout.first}), DataType::float64);
    const DeviceBuffer& out = dropout.inPlace ? in : apart;
    constexpr double kScale = 1.25;
    check(
        kernels.dropout({dropout.type, dropout.examples, dropout.width, in.data(), out.data(),
                         static_cast<const std::uint64_t*>(draws.data()), dropout.stream, dropout.threshold, kScale}));
    Values want(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t element = i % width;
        const auto words =
            philox(dropout.key ^ dropout.stream, element / 64 * 16 + element % 16, dropout.first + i / width);
        want[i] = words[element % 64 / 16] < dropout.threshold ? 0 : x[i] * kScale;
    }
    return first("dropout " + nameOf(dropout.type) + " " + std::to_string(dropout.examples) + "x" +
                     std::to_string(dropout.width) + (dropout.inPlace ? " in place" : ""),
                 {difference("out", out.values(), want, tolerance(dropout.type))});
}

/// The first word of Philox under the key 0 at the counter 0, from the test vectors of Random123.
std::string checkKnownWord(const TransformerKernels& kernels)
{
    constexpr std::uint32_t kWord = 0x6627e8d5;
    Values kept;
    for (const std::uint32_t threshold : {kWord, kWord + 1}) {
        const auto memory = kernels.memory();
        const DeviceBuffer in(*memory, Values{1}, DataType::float32), out(*memory, 1, DataType::float32);
        const DeviceBuffer draws(*memory, asNumbers({0, 0}), DataType::float64);
        check(kernels.dropout({DataType::float32, 1, 1, in.data(), out.data(),
                               static_cast<const std::uint64_t*>(draws.data()), 0, threshold, 2}));
        kept.push_back(out.values()[0]);
    }
    return difference("known word", kept, {2, 0}, 0);
}

} // namespace

std::string checkDropout(const TransformerKernels& kernels)
{
    if (std::string text = checkKnownWord(kernels); !text.empty())
        return text;
    constexpr std::uint64_t kLarge = 0x1234'5678'9abc'def0;
    for (const DataType type : kTypes)
        for (const auto& [examples, width] : {std::pair{1, 1}, {3, 15}, {2, 64}, {5, 67}, {7, 130}, {2, 4097}})
            for (const bool inPlace : {false, true}) {
                const DropoutCase small{type, examples, width, 5, 0, 7, 0x40000000, inPlace};
                const DropoutCase large{type, examples, width, kLarge, 0x1'0000'0003, ~kLarge, 0xe0000000, inPlace};
                for (const DropoutCase& each : {small, large})
                    if (std::string text = checkDropoutCase(kernels, each); !text.empty())
                        return text;
            }
    const std::uint64_t draws[] = {0, 0};
    float number = 1;
    if (kernels.dropout({DataType::float32, 1, 0, &number, &number, draws, 0, 0, 1}) != Status::badShape ||
        kernels.dropout({DataType::float32, 1, 1, &number, &number, nullptr, 0, 0, 1}) != Status::missingPointer)
        return "dropout takes bad arguments";
    return {};
}

} // namespace residua::tests
