// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

struct ImFontAtlas;

namespace residua::app {

/// Fills `atlas` for a screen of `devicePixelRatio`: font 0 is for text (Inter), font 1 for numbers
/// (JetBrains Mono); where the system has neither, Dear ImGui's own. Rasterised at the size at which they
/// are shown unzoomed, so that text is crisp.
void loadCanvasFonts(ImFontAtlas& atlas, float devicePixelRatio);

} // namespace residua::app
