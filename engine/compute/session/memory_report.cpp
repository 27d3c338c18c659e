// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/memory_report.h"

#include "engine/base/api/rank_position.h"
#include "engine/compute/runtime/device.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"

namespace residua::engine {
namespace {

std::string gibibytes(double bytes)
{
    return fixedText(bytes / (1024.0 * 1024.0 * 1024.0), 2) + " GiB";
}

struct Need {
    double bytes = 0;
    std::string text;
};

Need predicted(const projects::Project& project, const std::string& device)
{
    const Result<std::optional<RankPosition>> place = rankPosition();
    const Result<projects::CostReport> report =
        projects::costOf(project, projects::deviceKindOf(device), place && *place ? (*place)->count : 1);
    if (!report) {
        return {};
    }
    const projects::Cost& total = report->total;
    Need need{total.memoryBytes(), {}};
    need.text = "predicted " + gibibytes(need.bytes) + " (weights " + gibibytes(total.weightBytes) + ", optimiser " +
                gibibytes(total.optimiserBytes) + ", activations " + gibibytes(total.activationBytes) + ", loss " +
                gibibytes(total.lossBytes) + ")";
    return need;
}

/// True if other programs use enough of a GPU's memory to mention it; a driver's own part is a few percent.
bool isFilled(const DeviceMemory& memory)
{
    return memory.othersBytes > memory.totalBytes / 8;
}

std::string available(const DeviceMemory& memory)
{
    return gibibytes(static_cast<double>(memory.freeBytes)) + " of " +
           gibibytes(static_cast<double>(memory.totalBytes)) + " free" +
           (isFilled(memory) ? ", other programs hold " + gibibytes(static_cast<double>(memory.othersBytes)) : "");
}

std::string remedy(const DeviceMemory& memory)
{
    return std::string(isFilled(memory) ? "end those programs, take another device, or " : "") +
           "make the micro-batch, the sequence or the network smaller, or accumulate";
}

} // namespace

std::string memoryWarning(const projects::Project& project, const std::string& device)
{
    const Result<c10::Device> opened = openDevice(device);
    if (!opened) {
        return {};
    }
    const DeviceMemory memory = memoryOf(*opened);
    const Need need = predicted(project, device);
    if (need.bytes <= static_cast<double>(memory.freeBytes)) {
        return {};
    }
    return "memory on " + device + " may not suffice: " + need.text + ", " + available(memory) + "; " + remedy(memory);
}

Error describe(const Failure& failure, const projects::Project& project, const std::string& device)
{
    if (failure.kind == Failure::Kind::Other) {
        return {"engine · " + device, failure.text};
    }
    const Result<c10::Device> opened = openDevice(device);
    std::optional<DeviceMemory> memory;
    // A full GPU may refuse even this query.
    static_cast<void>(attempt([&] { memory = opened ? std::optional(memoryOf(*opened)) : std::nullopt; }));
    return {"device " + device, "out of memory: " + predicted(project, device).text +
                                    (memory ? ", " + available(*memory) : "") + "; " +
                                    remedy(memory.value_or(DeviceMemory{})) + " (" + failure.text + ")"};
}

std::string slowKernelNote(const kernels::CudaKernels* table, std::uint64_t before)
{
    const bool isSlow = table != nullptr && table->singleElementCalls() > before;
    return isSlow
               ? "some mixes move one element at a time, several times slower: widths that are multiples of 8 avoid it"
               : "";
}

} // namespace residua::engine
