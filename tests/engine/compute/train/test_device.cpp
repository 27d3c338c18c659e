// SPDX-License-Identifier: GPL-3.0-or-later
#include "test_device.h"

#include "engine/compute/runtime/device.h"

#include <QtGlobal>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace residua::tests {
namespace {

constexpr const char* kCpu = "cpu";

bool isSet(const char* variable)
{
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

} // namespace

std::string testDevice()
{
    return isSet("RESIDUA_TEST_DEVICE") ? std::getenv("RESIDUA_TEST_DEVICE") : "cuda:0";
}

std::string secondDevice()
{
    const std::string device = testDevice();
    return device == kCpu ? kCpu : device == "cuda:1" ? "cuda:0" : "cuda:1";
}

std::string deviceProblem(const std::string& device)
{
    const std::vector<engine::DeviceInfo> devices = engine::listDevices();
    const auto found = std::ranges::find(devices, device, &engine::DeviceInfo::key);
    if (found == devices.end()) {
        return "there is no device " + device;
    }
    return found->usable ? "" : device + " cannot be used: " + found->reason;
}

std::string kernelProblem(const std::string& device)
{
    if (device == kCpu || (!RESIDUA_CUDA_KERNELS && !isSet("RESIDUA_KERNELS"))) {
        return {};
    }
    std::string why;
    return engine::cudaKernels(why) != nullptr ? "" : why;
}

void LargestDistances::add(const std::string& group, double distance, const std::string& where)
{
    Largest& largest = m_groups[group];
    ++largest.count;
    if (!(distance <= largest.distance)) {
        largest.distance = distance;
        largest.where = where;
    }
}

void LargestDistances::print() const
{
    for (const auto& [group, largest] : m_groups) {
        qInfo("%s: largest distance %.2g of %ld, in %s", group.c_str(), largest.distance, largest.count,
              largest.where.c_str());
    }
}

} // namespace residua::tests
