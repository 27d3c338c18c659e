// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/project.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace residua::report {

/// Escapes text for HTML or SVG. Invalid characters, as from a damaged file, are replaced (U+FFFD).
[[nodiscard]] std::string escapeHtml(std::string_view text);

/// Returns Markdown (resources/markdown.h) as HTML in which all text is escaped. Links lead to web pages and mail
/// addresses alone; others are text. Headings are below the page's own.
[[nodiscard]] std::string htmlMarkdown(std::string_view markdown);

/// Estimates the width of `text` in SVG units in the page's 12-unit font, rather too large than too small.
[[nodiscard]] double textWidth(std::string_view text);
/// Returns `text`, with its middle omitted if it is wider than `width`.
[[nodiscard]] std::string elided(const std::string& text, double width);
/// Returns at most `bytes` bytes of `text`, followed by its size.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t bytes);

/// Returns a matrix over its recorded steps: a grid of coloured cells with their numbers and, for several frames, a
/// slider. `frames` have one shape, are ascending, and are coloured by `scale`. Rows are targets and columns are
/// sources, or both are the classes of a confusion matrix, with these names. Without scripts the last frame is shown.
[[nodiscard]] std::string htmlHeatmap(const std::string& title, const std::vector<engine::Matrix>& frames,
                                      const projects::WeightScale& scale, const std::vector<std::string>& classes = {});

/// Returns pictures over their recorded steps, with a slider if there are several. The cells of `frames` are pixels
/// (engine::matrix::kSamples). Without scripts the last one is shown.
[[nodiscard]] std::string htmlPictures(const std::string& title, const std::vector<engine::Matrix>& frames);

/// Removes paths of this machine from a page, because it may be shown to anybody.

/// Returns the project with names instead of absolute paths of its data and tokeniser.
[[nodiscard]] projects::Project withoutPlaces(projects::Project project);
/// Returns the text with names instead of paths below `folder` and its parent folder.
[[nodiscard]] std::string withoutPlaces(std::string text, const std::filesystem::path& folder);

/// The number of curve colours of a page, as the classes c0, c1, …; further curves repeat them, dashed and then dotted.
inline constexpr std::size_t kPageColours = 8;

/// Returns the beginning of a page up to <body>: its title, and the style that all pages share, light and dark.
[[nodiscard]] std::string pageHead(const std::string& title);

/// Returns the style of plots in a file of their own.
[[nodiscard]] std::string svgStyle();
/// Replaces the colour variables of the style by the values of the light theme. Programs other than browsers do not
/// know variables.
[[nodiscard]] std::string withLightColours(std::string text);

/// Returns a box that lists what a page leaves out, and why; empty if it is complete.
[[nodiscard]] std::string faultList(const std::vector<std::string>& faults);

} // namespace residua::report
