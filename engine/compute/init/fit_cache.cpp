// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/fit_cache.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/safetensors.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormatWords = "residua fit ";
constexpr int kFormat = 3; ///< increase it if any method's results change
constexpr const char* kFormatKey = "format";
constexpr const char* kNameKey = "name";
constexpr const char* kSumKey = "crc32c";
constexpr const char* kNoteKey = "note";
constexpr const char* kConvergedKey = "converged";
constexpr const char* kMeasuresKey = "measures";
constexpr const char* kTrue = "true";
constexpr const char* kFalse = "false";

using Metadata = std::map<std::string, std::string>;

std::string formatText()
{
    return std::string(kFormatWords) + std::to_string(kFormat);
}

std::string sumOf(const Fitted& fit)
{
    return joinedText(fit.matrices, " ", [](const std::vector<double>& values) {
        return std::to_string(crc32c(std::as_bytes(std::span(values))));
    });
}

std::string textOf(const Metadata& metadata, const char* key)
{
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
}

/// Returns the errors in full precision, separated by spaces; the bound comes last if it is known.
std::string measuresText(const GapFit& gap)
{
    std::string text;
    for (const double number : {gap.functionError, gap.fullFunction, gap.relativeError(), gap.weightError,
                                gap.meanCorrelation, gap.seconds}) {
        text += numberText(number) + " ";
    }
    return gap.spectralGapBound ? text + numberText(*gap.spectralGapBound) : text;
}

/// Reads measuresText(); returns false for another text.
bool readMeasures(const std::string& text, GapFit& gap)
{
    std::istringstream words(text);
    std::string word;
    double relative = 0;
    for (double* const number :
         {&gap.functionError, &gap.fullFunction, &relative, &gap.weightError, &gap.meanCorrelation, &gap.seconds}) {
        const std::optional<double> read = words >> word ? numberFrom<double>(word) : std::nullopt;
        if (!read) {
            return false;
        }
        *number = *read;
    }
    gap.spectralGapBound = words >> word ? numberFrom<double>(word) : std::nullopt;
    return true;
}

/// Returns an error text if the file has another version of the format; empty if it has this one or no readable
/// version.
std::string otherFormat(const Metadata& metadata)
{
    const std::string format = textOf(metadata, kFormatKey);
    const auto number =
        format.starts_with(kFormatWords) ? numberFrom<int>(format.substr(kFormatWords.size())) : std::nullopt;
    if (!number || *number == kFormat) {
        return {};
    }
    return "is of " + std::string(*number < kFormat ? "an older" : "a newer") + " format of this cache (" +
           std::to_string(*number) + ", here " + std::to_string(kFormat) + "): it is fitted anew and replaced";
}

/// Appends the job's matrices to the fit. Returns false if the file lacks one of them.
bool readMatrices(const SafetensorsFile& file, const FitJob& job, Fitted& fit)
{
    return std::ranges::all_of(job.matrices, [&](const FitJob::Matrix& matrix) {
        const auto found = file.tensors().find(matrix.name);
        const std::vector<std::int64_t> shape{matrix.rows, matrix.columns};
        if (found == file.tensors().end() || found->second.type != StoredType::F64 || found->second.shape != shape) {
            return false;
        }
        auto& values = fit.matrices.emplace_back(static_cast<std::size_t>(matrix.rows * matrix.columns));
        std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
        return true;
    });
}

/// Returns nullopt if the file does not exist, and an error if it is damaged or belongs to another fit.
Result<std::optional<Fitted>> readFit(const fs::path& path, const FitJob& job)
{
    if (!isThere(path)) {
        return std::optional<Fitted>();
    }
    const SafetensorsFile file = RESIDUA_TRY(SafetensorsFile::open(path));
    const Metadata& metadata = file.metadata();
    if (const std::string other = otherFormat(metadata); !other.empty()) {
        return Error{path.string(), other};
    }
    Fitted fit;
    if (!readMatrices(file, job, fit) || textOf(metadata, kFormatKey) != formatText() ||
        textOf(metadata, kSumKey) != sumOf(fit) || textOf(metadata, kNameKey) != path.filename()) {
        return Error{path.string(), "is damaged, or holds another fit than its name says"};
    }
    if (!readMeasures(textOf(metadata, kMeasuresKey), fit.gap)) {
        return std::optional<Fitted>(); // cached before measures were stored
    }
    fit.gap.state = GapFit::State::Fitted;
    fit.gap.note = textOf(metadata, kNoteKey);
    fit.gap.converged = textOf(metadata, kConvergedKey) == kTrue;
    return std::optional(std::move(fit));
}

Status writeFit(const fs::path& path, const FitJob& job, const Fitted& fit)
{
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) {
        return Error{path.parent_path().string(), "cannot be made: " + failed.message()};
    }
    std::map<std::string, StoredTensor> tensors;
    for (std::size_t i = 0; i < job.matrices.size(); ++i) {
        const FitJob::Matrix& matrix = job.matrices[i];
        tensors[matrix.name] = {
            StoredType::F64, {matrix.rows, matrix.columns}, std::as_bytes(std::span(fit.matrices[i]))};
    }
    return writeSafetensors(path, tensors,
                            {{kFormatKey, formatText()},
                             {kNameKey, path.filename().string()},
                             {kSumKey, sumOf(fit)},
                             {kNoteKey, fit.gap.note},
                             {kMeasuresKey, measuresText(fit.gap)},
                             {kConvergedKey, fit.gap.converged ? kTrue : kFalse}});
}

} // namespace

FitCache userFitCache()
{
    return userCache("fits", kFitCache);
}

CachedFits::CachedFits(FitCache cache) : m_cache(std::move(cache))
{
    if (!m_cache.fault.empty()) {
        m_faults.push_back(m_cache.fault);
    }
}

CachedFits::~CachedFits()
{
    if (!m_cache.folder.empty()) {
        trimCache(m_cache.folder, ".safetensors", m_cache.mostBytes);
    }
}

Result<Fitted> CachedFits::fit(const FitJob& job, const LowRankWatch& watch)
{
    if (std::optional<Fitted> earlier = kept(job)) {
        return *std::move(earlier);
    }
    Result<Fitted> fit = job.compute(watch);
    if (fit) {
        keep(job, *fit);
    }
    return fit;
}

std::optional<Fitted> CachedFits::kept(const FitJob& job)
{
    if (!keeps(job)) {
        return std::nullopt;
    }
    const fs::path path = m_cache.folder / job.key;
    Result<std::optional<Fitted>> found = readFit(path, job);
    if (!found) {
        fault(found.error().text() + ": fitted again");
        return std::nullopt;
    }
    if (*found) {
        std::error_code ignored; // a read-only folder can still be read
        fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    }
    return *std::move(found);
}

void CachedFits::keep(const FitJob& job, const Fitted& fit)
{
    const Status written = keeps(job) ? writeFit(m_cache.folder / job.key, job, fit) : Status(Done{});
    if (!written) {
        fault(written.error().text() + ": the fit is not kept for another time");
    }
}

std::string CachedFits::faults() const
{
    const std::scoped_lock lock(m_mutex);
    if (m_faults.empty()) {
        return {};
    }
    const std::size_t more = m_faults.size() - 1;
    return "cache of fits: " + m_faults.front() + (more == 0 ? "" : " (and " + std::to_string(more) + " more)");
}

void CachedFits::fault(std::string text)
{
    const std::scoped_lock lock(m_mutex);
    m_faults.push_back(std::move(text));
}

} // namespace residua::engine
