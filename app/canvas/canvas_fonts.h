// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

struct ImFontAtlas;

namespace residua::app {

/// Fills `atlas` for a screen of `devicePixelRatio`. Font 0 is for text (Inter), font 1 for numbers (JetBrains Mono);
/// if the system lacks them, Dear ImGui's font. Rasterised at the size at zoom 1, so that text is sharp.
void loadCanvasFonts(ImFontAtlas& atlas, float devicePixelRatio);

} // namespace residua::app
