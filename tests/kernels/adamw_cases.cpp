// SPDX-License-Identifier: GPL-3.0-or-later
// Cases of AdamW, against the formula in double precision.
#include "tests/kernels/device_buffer.h"
#include "tests/kernels/transformer_cases.h"

#include <cmath>
#include <cstdint>

namespace residua::tests {
namespace {

using kernels::DataType;
using kernels::Status;

constexpr double kRate = 0.01;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.99;
constexpr double kEpsilon = 1e-6;
constexpr double kScale = 1.75;
constexpr int kSkipped = 2; ///< this step is skipped
constexpr double kUnwritten = -77;

/// The pieces of a tensor.
enum class Cut {
    Whole,
    Packs, ///< of each row of 16 elements, elements 4 to 7 and 12 to 15
    Odd    ///< of each row of 16 elements, elements 5 to 7
};

struct UpdateCase {
    DataType type;
    std::vector<std::size_t> sizes; ///< of the tensors; multiples of 16 if they are cut
    int steps;
    Cut cut;
    bool scaled; ///< the gradients by a factor of the device
    bool held;   ///< every third element
    bool deviceRate;
    bool rounded; ///< into copies, at an odd address if elements are held

    [[nodiscard]] std::string name() const
    {
        return "adamw " + nameOf(type) + " of " + std::to_string(sizes.size()) + " tensors, the last of " +
               std::to_string(sizes.back()) +
               (cut == Cut::Packs ? ", packs"
                : cut == Cut::Odd ? ", odd runs"
                                  : "") +
               (scaled ? ", scaled" : "") + (held ? ", held" : "") + (rounded ? ", rounded" : "");
    }
    [[nodiscard]] bool updates(std::size_t element) const
    {
        const std::size_t column = element % 16;
        return cut == Cut::Whole || (cut == Cut::Packs ? column / 4 % 2 == 1 : column >= 5 && column < 8);
    }
    [[nodiscard]] std::size_t firstRounded() const { return held ? 1 : 0; } ///< in its buffer
    [[nodiscard]] bool holds(std::size_t element) const { return held && element % 3 == 0; }
};

double decayOf(std::size_t tensor)
{
    return tensor % 2 == 0 ? 0.5 : 0;
}

Values gradientOf(const UpdateCase& update, std::size_t tensor, int step)
{
    return randomValues(update.sizes[tensor], update.type, unsigned(100 * step) + unsigned(tensor));
}

/// A tensor in a backend's memory, with its moments.
struct UpdatedTensor {
    UpdatedTensor(MixBackend& memory, const UpdateCase& update, std::size_t tensor)
        : parameter(memory, randomValues(update.sizes[tensor], update.type, unsigned(tensor) + 20), update.type),
          mean(memory, Values(update.sizes[tensor]), update.type),
          square(memory, Values(update.sizes[tensor]), update.type),
          rounded(memory, Values(update.sizes[tensor] + 1, kUnwritten), DataType::bfloat16),
          updates(memory, Values{0}, DataType::float32)
    {
        std::vector<std::uint8_t> mask(update.sizes[tensor]);
        for (std::size_t i = 0; i < mask.size(); ++i)
            mask[i] = update.holds(i) ? 1 : 0;
        held = update.held ? memory.upload(mask.data(), mask.size()) : nullptr;
    }

    DeviceBuffer parameter, mean, square, rounded, updates;
    const void* held;
};

/// The pieces of one tensor with this gradient.
void addPieces(const UpdateCase& update, std::size_t tensor, const UpdatedTensor& on, const DeviceBuffer& gradient,
               std::vector<kernels::AdamWPiece>& pieces)
{
    const auto size = std::int64_t(update.sizes[tensor]);
    const auto add = [&](std::size_t at, std::int64_t rows, std::int64_t run) {
        const auto* const held = static_cast<const std::uint8_t*>(on.held);
        pieces.push_back({std::int32_t(tensor), rows, run, 16, on.parameter.at(at), gradient.at(at), on.mean.at(at),
                          on.square.at(at), held ? held + at : nullptr,
                          update.rounded ? on.rounded.at(at + update.firstRounded()) : nullptr});
    };
    switch (update.cut) {
    case Cut::Whole:
        add(0, 1, size);
        break;
    case Cut::Packs:
        add(4, size / 16, 4);
        add(12, size / 16, 4);
        break;
    case Cut::Odd:
        add(5, size / 16, 3);
        break;
    }
}

struct UpdateResult {
    Values parameter, mean, square, updates, rounded;
};

void append(Values& to, const Values& values)
{
    to.insert(to.end(), values.begin(), values.end());
}

UpdateResult runUpdates(const TransformerKernels& kernels, const UpdateCase& update)
{
    const auto memory = kernels.memory();
    std::vector<UpdatedTensor> tensors;
    std::vector<kernels::AdamWTensor> shared;
    for (std::size_t t = 0; t < update.sizes.size(); ++t) {
        tensors.emplace_back(*memory, update, t);
        shared.push_back({tensors.back().updates.data(), decayOf(t)});
    }
    kernels::AdamW adamw;
    adamw.dataType = update.type;
    adamw.tensors = std::int32_t(shared.size());
    adamw.tensor = shared.data();
    adamw.rate = update.deviceRate ? std::nan("") : kRate;
    const DeviceBuffer rate(*memory, Values{kRate}, DataType::float64);
    adamw.deviceRate = update.deviceRate ? rate.data() : nullptr;
    adamw.beta1 = kBeta1;
    adamw.beta2 = kBeta2;
    adamw.epsilon = kEpsilon;
    const DeviceBuffer scale(*memory, Values{kScale}, DataType::float32);
    adamw.scale = update.scaled ? scale.data() : nullptr;
    const DeviceBuffer workspace(*memory, 3 * shared.size(), update.type);
    adamw.workspace = workspace.data();
    adamw.workspaceBytes = kernels::adamwWorkspace(adamw);
    for (int step = 1; step <= update.steps; ++step) {
        std::vector<kernels::AdamWPiece> pieces;
        for (std::size_t t = 0; t < tensors.size(); ++t)
            addPieces(update, t, tensors[t], DeviceBuffer(*memory, gradientOf(update, t, step), update.type), pieces);
        const DeviceBuffer skip(*memory, Values{step == kSkipped ? 1.0 : 0.0}, DataType::float32);
        adamw.skip = skip.data();
        adamw.pieces = std::int32_t(pieces.size());
        adamw.piece = pieces.data();
        check(kernels.adamw(adamw));
    }
    UpdateResult result;
    for (const UpdatedTensor& tensor : tensors) {
        append(result.parameter, tensor.parameter.values());
        append(result.mean, tensor.mean.values());
        append(result.square, tensor.square.values());
        append(result.updates, tensor.updates.values());
        Values rounded = tensor.rounded.values();
        rounded.erase(update.held ? rounded.begin() : rounded.end() - 1);
        append(result.rounded, rounded);
    }
    return result;
}

UpdateResult referenceUpdates(const UpdateCase& update)
{
    UpdateResult result;
    for (std::size_t t = 0; t < update.sizes.size(); ++t) {
        Values p = randomValues(update.sizes[t], update.type, unsigned(t) + 20), m(p.size()), v(p.size());
        for (int step = 1; step <= update.steps; ++step) {
            const Values gradient = gradientOf(update, t, step);
            const double correction1 = 1 - std::pow(kBeta1, step);
            const double correction2 = 1 - std::pow(kBeta2, step);
            for (std::size_t i = 0; i < p.size(); ++i) {
                if (step == kSkipped || !update.updates(i))
                    continue;
                const double g = gradient[i] / (update.scaled ? kScale : 1);
                m[i] = kBeta1 * m[i] + (1 - kBeta1) * g;
                v[i] = kBeta2 * v[i] + (1 - kBeta2) * g * g;
                if (update.holds(i))
                    continue;
                p[i] -= kRate * decayOf(t) * p[i];
                p[i] -= kRate / correction1 * m[i] / (std::sqrt(v[i] / correction2) + kEpsilon);
            }
        }
        append(result.parameter, p);
        append(result.mean, m);
        append(result.square, v);
        result.updates.push_back(update.steps);
    }
    return result;
}

/// Empty, or the element outside the pieces, or held, that does not have its first value.
std::string checkKept(const UpdateCase& update, const UpdateResult& got)
{
    std::size_t begin = 0;
    for (std::size_t t = 0; t < update.sizes.size(); begin += update.sizes[t++]) {
        const Values start = randomValues(update.sizes[t], update.type, unsigned(t) + 20);
        for (std::size_t i = 0; i < start.size(); ++i) {
            const bool kept = !update.updates(i);
            if ((kept || update.holds(i)) && got.parameter[begin + i] != start[i])
                return "parameter " + std::to_string(begin + i) + " changes";
            if (kept && (got.mean[begin + i] != 0 || got.square[begin + i] != 0))
                return "moment " + std::to_string(begin + i) + " changes";
        }
    }
    return {};
}

/// Returns the rounded copies that belong to the parameters of the result.
Values expectedCopies(const UpdateCase& update, const UpdateResult& got)
{
    Values expected = rounded(got.parameter, DataType::bfloat16);
    std::size_t begin = 0;
    for (std::size_t t = 0; t < update.sizes.size(); begin += update.sizes[t++]) {
        for (std::size_t i = 0; i < update.sizes[t]; ++i)
            if (!update.rounded || !update.updates(i))
                expected[begin + i] = kUnwritten;
    }
    return expected;
}

std::string checkUpdates(const TransformerKernels& kernels, const UpdateCase& update)
{
    const UpdateResult got = runUpdates(kernels, update);
    const UpdateResult want = referenceUpdates(update);
    const double most = update.type == DataType::float64 ? 1e-13 : 1e-6;
    return first(update.name(),
                 {checkKept(update, got), difference("parameter", got.parameter, want.parameter, most),
                  difference("mean", got.mean, want.mean, most), difference("square", got.square, want.square, most),
                  difference("updates", got.updates, want.updates, 0),
                  difference("rounded copy", got.rounded, expectedCopies(update, got), 0)});
}

/// Empty, or the invalid call that is not refused as it should be.
std::string checkRefusals(const TransformerKernels& kernels)
{
    const auto memory = kernels.memory();
    const DeviceBuffer some(*memory, Values(16), DataType::float32);
    kernels::AdamWTensor tensor{some.data(), 0};
    kernels::AdamWPiece piece{0, 2, 4, 4, some.data(), some.data(), some.data(), some.data(), nullptr, nullptr};
    kernels::AdamW adamw;
    adamw.tensors = adamw.pieces = 1;
    adamw.tensor = &tensor;
    adamw.piece = &piece;
    adamw.workspace = some.data();
    adamw.workspaceBytes = 8;
    if (kernels.adamw(adamw) != Status::workspaceTooSmall)
        return "adamw: a workspace that is too small is not refused";
    adamw.workspaceBytes = 12;
    piece.stride = 3;
    if (kernels.adamw(adamw) != Status::badShape)
        return "adamw: rows that overlap are not refused";
    piece.stride = 4;
    piece.tensor = 1;
    if (kernels.adamw(adamw) != Status::badShape)
        return "adamw: a piece of no tensor is not refused";
    piece.tensor = 0;
    piece.gradient = nullptr;
    if (kernels.adamw(adamw) != Status::missingPointer)
        return "adamw: a missing gradient is not refused";
    piece.gradient = piece.rounded = some.data();
    adamw.dataType = DataType::float64;
    adamw.workspaceBytes = 24;
    if (kernels.adamw(adamw) != Status::badKind)
        return "adamw: a rounded copy of float64 is not refused";
    adamw.dataType = DataType::bfloat16;
    return kernels.adamw(adamw) == Status::badKind ? "" : "adamw: bfloat16 is not refused";
}

} // namespace

std::string checkAdamW(const TransformerKernels& kernels)
{
    std::vector<UpdateCase> cases;
    for (const DataType type : {DataType::float32, DataType::float64})
        for (const bool scaled : {false, true})
            for (const bool held : {false, true}) {
                const bool rounded = type == DataType::float32 && scaled;
                cases.push_back({type, {1, 3, 64, 130}, 50, Cut::Whole, scaled, held, held, rounded});
                cases.push_back({type, {16, 320}, 4, Cut::Packs, scaled, held, scaled, rounded});
                cases.push_back({type, {16, 320}, 4, Cut::Odd, scaled, held, scaled, rounded});
            }
    // Blocks and their remainders, and rows that reach across blocks.
    cases.push_back({DataType::float32, {8192, 8193, 20'003}, 3, Cut::Whole, true, false, false, true});
    cases.push_back({DataType::float32, {16 * 4099}, 3, Cut::Packs, true, false, false, true});
    // More tensors and pieces than a launch takes.
    cases.push_back({DataType::float32, std::vector<std::size_t>(49, 5), 3, Cut::Whole, false, false, false, true});
    cases.push_back({DataType::float32, std::vector<std::size_t>(290, 16), 3, Cut::Packs, false, true, false, true});
    for (const UpdateCase& update : cases)
        if (std::string text = checkUpdates(kernels, update); !text.empty())
            return text;
    return checkRefusals(kernels);
}

} // namespace residua::tests
