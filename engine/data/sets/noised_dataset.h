// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from hiding_dataset.h, because only dataset.cpp makes one.

#include "engine/data/sets/hiding_dataset.h"
#include "engine/maths/theory/noise_schedule.h"
#include "projects/model/diffusion.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// The labelled images of another data set with noise (projects::Diffusion). Field 0 has √ᾱ · x + √(1 − ᾱ) · ε, field 1
/// ε, field 2 the step, and field 3 the class. In evaluation no class is dropped.
class NoisedDataset : public HidingDataset {
public:
    /// `images` must have float values with a label each.
    NoisedDataset(std::unique_ptr<Dataset> images, const projects::Diffusion& diffusion, std::int64_t dataSeed);
    [[nodiscard]] projects::ExampleSchema schema() const override;
    [[nodiscard]] std::vector<std::string> classes() const override { return windows().classes(); }
    [[nodiscard]] const Dataset& withoutNoise() const override { return windows(); }

private:
    [[nodiscard]] Status hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const override;

    projects::Diffusion m_diffusion;
    NoiseSchedule m_schedule;
};

} // namespace residua::engine
