// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// How the window showed the runs of a page. All names are those of the window; readers ignore unknown ones.
struct PageView {
    std::string canvas = {};                                 ///< in front: "depth", "matrix", "block", "schedule"
    std::vector<std::string> panels = {};                    ///< in front
    std::map<std::string, std::string> controls = {};        ///< the text of each choice above a plot: "loss/scale"
    std::map<std::string, std::array<double, 4>> zooms = {}; ///< of zoomed plots: x from, x to, y from, y to
    std::vector<std::string> columns = {};                   ///< of the list of runs, by their keys
    /// The entries of legends whose curves are hidden, by plot: "run PATH" as in StudyPage::runs, "group KEY", "number
    /// TITLE". The list of kLeftOut has the overlaid runs that the filter of the list of runs leaves out.
    std::map<std::string, std::vector<std::string>> hidden = {};
    bool operator==(const PageView&) const = default;
};

inline constexpr const char* kLeftOut = "runs";
/// Begins an entry of a run in PageView::hidden, and one of a group.
inline constexpr std::string_view kHiddenRun = "run ";
inline constexpr std::string_view kHiddenGroup = "group ";

/// A page about several runs of a project, kept as a file in its folder of runs. The notes of a run are in its
/// run.json, those of a group in kGroupsFile.
struct StudyPage {
    /// Directories relative to the folder of runs, with '/' between their parts: "first", "rates/a".
    std::vector<std::string> runs = {};
    std::string sweep = {};     ///< the page has all runs of this sweep besides; empty: of none
    std::string baseline = {};  ///< a run as in `runs`; empty: none
    bool baselineAlone = false; ///< true if the baseline is that run without the other seeds of its group
    std::string front = {};     ///< the run whose matrices are shown; may be empty
    std::string chosen = {};    ///< the selected run; may be empty
    std::string notes = {};     ///< Markdown
    PageView view = {};
    bool operator==(const StudyPage&) const = default;
};

inline constexpr const char* kPageSuffix = ".page.json";
/// The most bytes of a page's name.
inline constexpr std::size_t kLongestPageName = 100;
/// The most bytes of a page's file, and of kGroupsFile.
inline constexpr std::uint64_t kLargestPage = std::uint64_t{1} << 20;
/// The most bytes of one note of a page or of a group.
inline constexpr std::size_t kLongestNote = std::size_t{1} << 16;

/// True if `path` has the name of a page's file.
[[nodiscard]] bool isPageFile(const std::filesystem::path& path);
/// Returns the file of a page in the folder of runs, or an error if the name cannot be that of a file there.
[[nodiscard]] Result<std::filesystem::path> pageFile(const std::filesystem::path& folder, const std::string& name);
/// Returns the name of the page in this file.
[[nodiscard]] std::string pageName(const std::filesystem::path& file);
/// Returns the names of the pages in the folder of runs, sorted.
[[nodiscard]] std::vector<std::string> listPages(const std::filesystem::path& folder);

/// Reads a page from an untrusted file of bounded size. Returns an error for a run outside the folder of runs.
[[nodiscard]] Result<StudyPage> readPage(const std::filesystem::path& file);
/// Replaces the page of this name.
[[nodiscard]] Status writePage(const std::filesystem::path& folder, const std::string& name, const StudyPage& page);

/// Returns the path of a run as a page has it; empty if the run is not below the folder.
[[nodiscard]] std::string pathOnPage(const std::filesystem::path& folder, const std::filesystem::path& run);

/// The runs of a page.
struct PageRuns {
    std::vector<RunInfo> runs = {};   ///< in the order of the list
    std::vector<std::string> missing; ///< what the page names and the list lacks
};
/// Returns those of the `listed` runs in `folder` that are on the page.
[[nodiscard]] PageRuns runsOf(const StudyPage& page, std::span<const RunInfo> listed,
                              const std::filesystem::path& folder);

} // namespace residua::engine
