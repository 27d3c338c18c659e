// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/model/stack.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Shortcuts of a stack with loops: between all visits of two modules, and as people type and read them.
namespace residua::projects {

/// The modules of a stack by numbers that visits share.
class VisitedModules {
public:
    /// `layers` has the number of each executed layer, from 1; a layer has `perLayer` modules.
    VisitedModules(const std::vector<std::int64_t>& layers, std::int64_t perLayer);

    /// Returns the number of executed module `module`: 0 for the stack's input, last() for the final output, or −1 if
    /// there is no such module.
    [[nodiscard]] std::int64_t numberOf(std::int64_t module) const;
    /// Returns the executed modules with this number, ascending. Empty for a number of no module.
    [[nodiscard]] std::vector<std::int64_t> visitsOf(std::int64_t number) const;
    /// Returns the last visit of `number` before executed module `target`.
    [[nodiscard]] std::optional<std::int64_t> latestBefore(std::int64_t number, std::int64_t target) const;
    /// Returns the shortcuts to every visit of `numbers.target`, each from the latest visit of `numbers.source` before
    /// it, in ascending order. A visit without such a source, or that `mix` gives no shortcut, has none. The source
    /// may be the target or come after it: its latest visit is then one of the round before.
    [[nodiscard]] std::vector<Shortcut> everyVisit(const DepthMix& mix, const Shortcut& numbers) const;
    [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(m_visits.size()) - 1; }

private:
    std::vector<std::int64_t> m_numbers;             ///< of each executed module, from the input to the final output
    std::vector<std::vector<std::int64_t>> m_visits; ///< of each number
};
/// Returns the modules of `stack`, `perLayer` in each layer, by their stored layers.
[[nodiscard]] VisitedModules storedModules(const Stack& stack, std::int64_t perLayer);

/// True if the document names shortcuts of the mix one by one.
[[nodiscard]] bool listsShortcuts(const DepthMix& mix);
/// Moves the listed shortcuts and the states of a mix to another execution of its layers. A shortcut that is at every
/// visit of a module that is visited several times, or comes from the last visit of one, is at every visit again; a
/// state does so if it is the same for all visits. `storedTo` maps the numbers of `before` to those of `after`, and
/// `moved` any other shortcut; both give nullopt for what is removed.
void moveShortcuts(DepthMix& mix, const VisitedModules& before, const VisitedModules& after,
                   const std::function<std::optional<std::int64_t>(std::int64_t)>& storedTo,
                   const std::function<std::optional<Shortcut>(const Shortcut&)>& moved);

/// Parses shortcuts i:j of `mix` as people type them. Without loops, as shortcutsFrom(text, depth) of graph.h does, up
/// to the final output if it has a mix. In a stack with loops i and j are stored: "2:4" leads to every visit of 4 from
/// the latest visit of 2 before it (VisitedModules::everyVisit), "2@1:4@3" names the visits, and either end may.
/// A span such as "i:i+2" counts executed modules. "3a" and "3f" are attention and FFN of layer 3 if both are modules.
[[nodiscard]] Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, const Stack& stack,
                                                          const DepthMix& mix);
/// Parses one end of a shortcut as shortcutsFrom() does. Returns the executed modules that it names: one, or all visits
/// of one, ascending. Empty if `text` names none.
[[nodiscard]] std::vector<std::int64_t> modulesFrom(std::string_view text, const Stack& stack, const DepthMix& mix);
/// Returns the entry that one end of a shortcut names as the source of executed module `target`; nullopt if none.
[[nodiscard]] std::optional<std::int64_t> sourceFrom(std::string_view text, const Stack& stack, const DepthMix& mix,
                                                     std::int64_t target);
/// Returns the name of a shortcut that shortcutsFrom() reads: "3:7", or in a stack with loops "2@1:4@3".
[[nodiscard]] std::string shortcutName(const Project& project, const Shortcut& shortcut);

} // namespace residua::projects
