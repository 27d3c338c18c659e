// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/manifest.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/json_record.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/study_page.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/file/store.h"

#include <algorithm>
#include <set>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "residua bundle";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kLongestPath = 2048;
constexpr std::int64_t kLargestChecksum = 0xffffffff;
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;

RecordJson jsonOf(const BundleContents& contents)
{
    RecordJson data = RecordJson::array();
    for (const BundledPart& part : contents.data) {
        data.push_back({{"name", part.name}, {"files", part.files}, {"bytes", part.bytes}, {"inside", part.inside}});
    }
    RecordJson files = RecordJson::array();
    for (const BundledFile& file : contents.files) {
        files.push_back({{"path", file.path}, {"bytes", file.bytes}, {"crc32c", file.checksum}});
    }
    return {{"format", kFormat},         {"version", kVersion},           {"project", contents.project},
            {"folder", contents.folder}, {"identity", contents.identity}, {"checkpoints", contents.checkpoints},
            {"runs", contents.runs},     {"data", std::move(data)},       {"files", std::move(files)}};
}

bool isTrue(const RecordFields& fields, const char* key)
{
    const RecordJson* const value = fields.find(key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

Result<BundleContents> contentsFrom(const RecordJson& json, const std::string& place)
{
    RecordFields fields(place, json);
    if (const std::string format = fields.text("format"); !fields.error() && format != kFormat) {
        fields.fail("format", "is " + shown(format) + ", expected \"" + kFormat + "\"");
    }
    if (const std::int64_t version = fields.count("version"); !fields.error() && version != kVersion) {
        fields.fail("version", "is " + std::to_string(version) + ", expected " + std::to_string(kVersion) +
                                   ": the bundle is from another version of Residua");
    }
    BundleContents contents;
    contents.project = fields.text("project");
    contents.folder = fields.text("folder");
    contents.identity = fields.text("identity");
    contents.checkpoints = fields.count("checkpoints");
    contents.runs = fields.texts("runs");
    fields.eachOf("data", [&](RecordFields& part) {
        contents.data.push_back({part.text("name"), part.count("files"), part.count("bytes"), isTrue(part, "inside")});
    });
    fields.eachOf("files", [&](RecordFields& entry) {
        BundledFile file{entry.text("path"), entry.count("bytes"), 0};
        const std::int64_t checksum = entry.count("crc32c");
        if (checksum > kLargestChecksum) {
            entry.fail("crc32c", "is no number of 32 bits");
        }
        file.checksum = static_cast<std::uint32_t>(checksum);
        contents.files.push_back(std::move(file));
    });
    return fields.error() ? Result<BundleContents>(*fields.error()) : Result<BundleContents>(std::move(contents));
}

/// Refuses a file that is listed twice, and one at the path of another's folder.
Status checkDistinct(const std::string& place, const std::vector<BundledFile>& files)
{
    std::set<std::string> paths;
    for (const BundledFile& file : files) {
        if (!paths.insert(file.path).second) {
            return Error{place, "lists " + shown(file.path) + " twice: two files of one name"};
        }
    }
    for (const BundledFile& file : files) {
        for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
             slash = file.path.find('/', slash + 1)) {
            if (const std::string folder = file.path.substr(0, slash); paths.contains(folder)) {
                return Error{place, "lists " + shown(folder) + " as a file, and " + shown(file.path) + " within it"};
            }
        }
    }
    return Done{};
}

/// Requires that each run has a folder of its own.
Status checkRuns(const std::string& place, const std::vector<std::string>& runs)
{
    std::set<std::string> paths;
    for (const std::string& run : runs) {
        if (!paths.insert(run).second) {
            return Error{place, "lists the run " + shown(run) + " twice"};
        }
    }
    for (const std::string& run : runs) {
        for (std::size_t slash = run.find('/'); slash != std::string::npos; slash = run.find('/', slash + 1)) {
            if (const std::string outer = run.substr(0, slash); paths.contains(outer)) {
                return Error{place, "lists the run " + shown(run) + " within the run " + shown(outer)};
            }
        }
    }
    return Done{};
}

bool isBelow(const std::string& path, const std::string& folder)
{
    return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

/// True for a page about several runs, and for the file of their groups.
bool isAboutRuns(const BundledFile& file)
{
    const fs::path path = file.path;
    const bool isKnown = path.filename() == kGroupsFile || (isPageFile(path) && pageFile({}, pageName(path)));
    return path.parent_path() == projects::kRunsFolder && isKnown && std::cmp_less_equal(file.bytes, kLargestPage);
}

/// Refuses files that are neither the document, the identity, nor part of a run or of the data, nor about runs.
Status checkBelonging(const std::string& place, const BundleContents& contents)
{
    for (const BundledFile& file : contents.files) {
        const std::string& path = file.path;
        const bool document = path == projects::kProjectFile || path == projects::kLayoutFile || path == kIdentityFile;
        const auto holds = [&](const std::string& folder) { return isBelow(path, folder); };
        const bool data = std::ranges::any_of(contents.data, [&](const BundledPart& part) {
            const fs::path name = fs::path(part.name).lexically_normal();
            return part.inside && holds((name.has_filename() ? name : name.parent_path()).generic_string());
        });
        if (!document && !isAboutRuns(file) &&
            (isHidden(path) || !(data || std::ranges::any_of(contents.runs, holds)))) {
            return Error{place, "holds " + shown(path) + ", which is no file of a project, its runs or its data"};
        }
    }
    return Done{};
}

Status checkPaths(const std::string& place, const BundleContents& contents)
{
    std::int64_t total = 0;
    for (const BundledFile& file : contents.files) {
        RESIDUA_TRY(checkBundledPath(place, file.path));
        if (total += file.bytes; total > kMostBytes) {
            return Error{place, "claims to hold more than a million GB"};
        }
    }
    for (const std::string& run : contents.runs) {
        RESIDUA_TRY(checkBundledPath(place, run));
        if (const std::string folder = std::string(projects::kRunsFolder) + "/"; !run.starts_with(folder)) {
            return Error{place, "has a run at " + shown(run) + ", expected one below " + folder};
        }
    }
    RESIDUA_TRY(checkRuns(place, contents.runs));
    const Status named = checkBundledPath(place, contents.folder);
    if (!named || contents.folder.find('/') != std::string::npos || isHidden(contents.folder)) {
        return Error{place, "names its folder " + shown(contents.folder) + ", expected a single plain name"};
    }
    for (const BundledPart& part : contents.data) {
        if (!isPrintable(part.name)) {
            return Error{place, "has data named " + shown(part.name) + ", expected a name without control characters"};
        }
    }
    if (!isPrintable(contents.project)) {
        return Error{place,
                     "has a project named " + shown(contents.project) + ", expected a name without control characters"};
    }
    if (!contents.identity.empty() && !isIdentity(contents.identity)) {
        return Error{place, "its identity is " + shown(contents.identity) + ", expected 32 hexadecimal digits"};
    }
    const Status distinct = checkDistinct(place, contents.files);
    return distinct ? checkBelonging(place, contents) : distinct;
}

} // namespace

bool isHidden(const std::string& path)
{
    return path.starts_with('.') || path.find("/.") != std::string::npos;
}

std::string shown(const std::string& text)
{
    constexpr std::size_t kShown = 100;
    const std::string_view begin = std::string_view(text).substr(0, kShown);
    const bool cut = text.size() > kShown;
    return "\"" + printable(cut ? begin.substr(0, wholeCodePoints(begin)) : begin, LineEnds::Escape) +
           (cut ? "…" : "") + "\"";
}

std::string manifestText(const BundleContents& contents)
{
    return jsonOf(contents).dump(1, ' ', false, RecordJson::error_handler_t::replace) + "\n";
}

Status checkBundledPath(const std::string& place, const std::string& path)
{
    const auto refused = [&](const std::string& why) {
        return Error{place, "holds the path " + shown(path) + ", " + why};
    };
    if (path.empty() || path.size() > kLongestPath) {
        return refused(path.empty() ? "which is empty" : "which is longer than any that is unpacked");
    }
    if (path.front() == '/') {
        return refused("which is absolute, and would be written outside of its folder");
    }
    if (!isPrintable(path) || path.find_first_of("\\\t") != std::string::npos) {
        return refused("which is no plain name: UTF-8 without control characters, marks of writing direction and "
                       "backslashes is expected");
    }
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (part == "..") {
            return refused("which climbs out of its folder");
        }
        if (part.empty() || part == "." || part.size() > kLongestFileName) {
            return refused("expected names of at most 255 bytes between single slashes");
        }
        begin = end + 1;
    }
    return Done{};
}

Result<BundleContents> manifestFrom(const fs::path& file, std::string_view text)
{
    const std::string place = file.string() + " · " + kManifest;
    const auto json = RESIDUA_TRY(parseRecord(place, text, kLongestManifest));
    auto contents = RESIDUA_TRY(contentsFrom(json, place));
    RESIDUA_TRY(checkPaths(file.string(), contents));
    return contents;
}

} // namespace residua::engine
