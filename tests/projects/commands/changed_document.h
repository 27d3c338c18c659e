// SPDX-License-Identifier: GPL-3.0-or-later
// Documents that commands change in tests.
#pragma once

#include "projects/commands/commands.h"
#include "projects/library/presets.h"
#include "tests/projects/mix_of.h"

#include <QTest>

#include <algorithm>
#include <string>

namespace residua::tests {

/// Returns four layers of a preset's block that read every layer before them, with learned weights.
inline projects::Document blockOf(const std::string& preset)
{
    projects::Document document;
    document.project.stack().width = 64;
    const auto& presets = projects::blockPresets();
    const auto found = std::ranges::find(presets, preset, &projects::BlockPreset::name);
    document.project.network.blocks.push_back(projects::Block{"b", preset, found->graph});
    document.project.stack().segments = {{"b", 4}};
    projects::DepthMix mix;
    mix.weight = projects::WeightKind::Scalar;
    document.project.stack().topology = {"custom", mix};
    return document;
}

/// True if the shortcut is among the explicit sources.
inline bool isListed(const projects::Document& document, const projects::Shortcut& shortcut)
{
    const auto& shortcuts = std::get<projects::ExplicitSources>(mixOf(document.project).sources).shortcuts;
    return std::ranges::find(shortcuts, shortcut) != shortcuts.end();
}

/// Applies a command's edit.
inline void perform(projects::Document& document, const Result<projects::DocumentChange>& change)
{
    QVERIFY2(change.ok(), change ? "" : change.error().text().c_str());
    const Status applied = projects::applyEdit(document, change->edit);
    QVERIFY2(applied.ok(), applied ? "" : applied.error().text().c_str());
}

} // namespace residua::tests
