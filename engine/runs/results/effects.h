// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "engine/base/api/events.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The results of knock-outs that a run keeps: one file for each key in effects/ of the run's directory. Blocking; any
/// thread.
namespace residua::engine {

/// Identifies a kept result within its run.
struct EffectsKey {
    std::int64_t step = 0; ///< of the checkpoint
    projects::KnockoutBy by = projects::KnockoutBy::Term;
    bool renormalise = false;
    std::int64_t batches = 0; ///< asked for, or those of the run's validations; 0: all
    bool operator==(const EffectsKey&) const = default;
};

/// A complete result: of all subjects, on the run's own data. It has no tag and no notes.
struct KeptEffects {
    EffectsKey key;
    KnockoutReady measured;
};

/// Returns the key of the result that would answer the request: its checkpoint is the last one that the run has here
/// or at its place, and its batches are those of the run's validations unless it names others. nullopt if no kept
/// result can answer it, because it names its data or subjects, and if the run or its checkpoint is missing.
[[nodiscard]] std::optional<EffectsKey> effectsKeyOf(const KnockoutRequest& request);

/// Returns the kept results in the order of their steps. Leaves out damaged files, links, files that are not named by
/// their key, and results of another checkpoint than the one that the run has of their step. Adds a note to `notes`,
/// which may be null, for each of them. Returns an error if the folder cannot be listed.
[[nodiscard]] Result<std::vector<KeptEffects>> readEffects(const std::filesystem::path& runDirectory,
                                                           std::vector<std::string>* notes = nullptr);
/// Returns the result of the key; nullopt if the run has none or readEffects() leaves it out.
[[nodiscard]] std::optional<KeptEffects> keptEffects(const std::filesystem::path& runDirectory, const EffectsKey& key,
                                                     std::vector<std::string>* notes = nullptr);

/// Keeps the result, in place of an earlier one of its key. On error (disk full, run read-only, effects/ is a link, a
/// result of more than 16 MiB) the earlier one is unchanged.
[[nodiscard]] Status keepEffects(const std::filesystem::path& runDirectory, const KeptEffects& effects);
/// Keeps the results of `from` up to a step in `to` too, which has the same weights until then.
[[nodiscard]] Status copyEffects(const std::filesystem::path& from, const std::filesystem::path& to, std::int64_t upTo);

} // namespace residua::engine
