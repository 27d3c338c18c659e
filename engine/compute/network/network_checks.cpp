// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/network_checks.h"

#include "engine/compute/runtime/device.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"

#include <algorithm>

namespace residua::engine {

using projects::Project;

Status checkExamples(const Project& project, const projects::ExampleSchema& examples)
{
    const std::vector<projects::ExampleField> expected = projects::examplesOf(project).fields;
    const auto same = [](const projects::ExampleField& a, const projects::ExampleField& b) {
        return a.role == b.role && a.shape == b.shape;
    };
    if (!std::ranges::equal(expected, examples.fields, same)) {
        return Error{"data", "the data and the document disagree on the fields of the examples"};
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const projects::ExampleField& field = examples.fields[i];
        if (expected[i].vocabulary < field.vocabulary) {
            return Error{"data · vocabulary", "the data has " + std::to_string(field.vocabulary) + " different " +
                                                  field.name + ", the document " +
                                                  std::to_string(expected[i].vocabulary)};
        }
    }
    return Done{};
}

Status checkWeights(const projects::SoundProject& project, const std::string& device)
{
    const c10::Device opened = RESIDUA_TRY(openDevice(device));
    const double needed = projects::costOf(project).total.weightBytes;
    const auto there = static_cast<double>(memoryOf(opened).totalBytes);
    if (there > 0 && needed > there) {
        return Error{"device " + device, "the weights alone take " + bytesText(needed) + ", the device has " +
                                             bytesText(there) + " of memory in all: make the network smaller"};
    }
    return Done{};
}

} // namespace residua::engine
