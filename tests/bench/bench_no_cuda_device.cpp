// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_device.h"

namespace residua::tests {

std::unique_ptr<BenchDevice> cudaDevice(std::string& why)
{
    why = "built without nvcc";
    return nullptr;
}

} // namespace residua::tests
