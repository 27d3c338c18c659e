// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "engine/base/api/events.h"
#include "projects/base/result.h"
#include "projects/transfer/weakest.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
    std::string tower = {};   ///< the tower that loses parts; empty: the first
    bool operator==(const EffectsKey&) const = default;
};

/// A complete result: of all subjects, on the run's own data. It has no tag and no notes.
struct KeptEffects {
    EffectsKey key;
    KnockoutReady measured;
};

/// Returns the key of the request's result for a run of this project, or a view of it, and a checkpoint of this
/// step.
[[nodiscard]] EffectsKey effectsKeyFor(const KnockoutRequest& request, const projects::Project& project,
                                       std::int64_t step);

/// Returns the key of the result that would answer the request: its checkpoint is the last one that the run has here
/// or at its place, and its batches are those of the run's validations unless it names others. nullopt if no kept
/// result can answer it, because it names its data or subjects, and if the run or its checkpoint is missing.
[[nodiscard]] std::optional<EffectsKey> effectsKeyOf(const KnockoutRequest& request);

/// The maximum size of the file of a result, in bytes; enough for some 80,000 subjects.
inline constexpr std::size_t kLongestEffects = std::size_t{1} << 24;

/// Returns the kept results in the order of their steps. Leaves out damaged files, links, files that are not named by
/// their key, results of another checkpoint than the one that the run has of their step, and those beyond 64 MiB in
/// all. Adds a note to `notes`, which may be null, for each of them. Returns an error if the folder cannot be listed.
[[nodiscard]] Result<std::vector<KeptEffects>> readEffects(const std::filesystem::path& runDirectory,
                                                           std::vector<std::string>* notes = nullptr);
/// Returns the result of the key; nullopt if the run has none or readEffects() leaves it out.
[[nodiscard]] std::optional<KeptEffects> keptEffects(const std::filesystem::path& runDirectory, const EffectsKey& key,
                                                     std::vector<std::string>* notes = nullptr);
/// Reads a result from the text of its file, named `path`. Returns an error that names it if the text is damaged or of
/// another key than the name's.
[[nodiscard]] Result<KeptEffects> effectsFrom(std::string_view text, const std::filesystem::path& path);
/// Returns the file of the result of the key, whether it is there or not.
[[nodiscard]] std::filesystem::path effectsPath(const std::filesystem::path& runDirectory, const EffectsKey& key);

/// Keeps the result, in place of an earlier one of its key. On error (disk full, run read-only, effects/ is a link, a
/// result of more than 16 MiB) the earlier one is unchanged.
[[nodiscard]] Status keepEffects(const std::filesystem::path& runDirectory, const KeptEffects& effects);
/// Keeps the results of `from` up to a step in `to` too, which has the same weights until then.
[[nodiscard]] Status copyEffects(const std::filesystem::path& from, const std::filesystem::path& to, std::int64_t upTo);

/// Returns Spearman's correlation of the shortcuts' weights, by magnitude, with their effects; NaN for fewer than three
/// shortcuts or if all weights are equal.
[[nodiscard]] double weightAgainstEffect(const KnockoutReady& measured);
/// Returns the weights and effects of the shortcuts; empty for other parts.
[[nodiscard]] std::vector<projects::ShortcutStrength> strengthsOf(const KnockoutReady& measured);
/// Returns one line for each part, below the names of the columns. Unknown numbers are empty.
[[nodiscard]] std::string effectsCsv(const KnockoutReady& measured);

} // namespace residua::engine
