// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace residua::fuzz {

/// Changes a run's directory as a failing disk, a user's mistake or malice would: bytes, fields, files and folders that
/// are missing, renamed, of another kind, or links to what lies outside of it.
class RunMutator {
public:
    /// Links lead into `outside`, which nobody may change.
    RunMutator(std::uint64_t seed, std::filesystem::path outside) : m_random(seed), m_outside(std::move(outside)) {}

    /// One to four changes. What was done, in words.
    std::string mutate(const std::filesystem::path& run);

private:
    std::string change(const std::filesystem::path& run);
    std::string changeEntry(const std::filesystem::path& entry);
    std::string changeField(const std::filesystem::path& file);
    std::string changeHeader(const std::filesystem::path& tensors);
    [[nodiscard]] std::string strange();

    std::mt19937_64 m_random;
    std::filesystem::path m_outside;
};

/// Makes the checksums of every checkpoint right again, so that what is wrong in it is looked at.
void reseal(const std::filesystem::path& run);

} // namespace residua::fuzz
