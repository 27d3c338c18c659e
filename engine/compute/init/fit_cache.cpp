// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/fit_cache.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/safetensors.h"
#include "projects/base/text.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace residua::engine {
namespace {

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
constexpr const char* kEnding = ".safetensors";

template <class T>
void addNumber(ContentDigest& digest, T value)
{
    digest.add(std::as_bytes(std::span(&value, 1)));
}

using Metadata = std::map<std::string, std::string>;

std::string formatText()
{
    return std::string(kFormatWords) + std::to_string(kFormat);
}

/// A matrix of a fit, row-major.
template <class Values>
struct Part {
    const char* name;
    Values* values;
    std::int64_t rows;
    std::int64_t columns;
};
using WrittenPart = Part<const std::vector<double>>;
using ReadPart = Part<std::vector<double>>;

template <class Parts>
std::string sumOf(const Parts& parts)
{
    return joinedText(parts, " ",
                      [](const auto& part) { return std::to_string(crc32c(std::as_bytes(std::span(*part.values)))); });
}

std::string textOf(const Metadata& metadata, const char* key)
{
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
}

/// Returns the measures in full precision, separated by spaces; the bound comes last if it is known.
std::string measuresText(const LowRankMeasures& measures)
{
    std::string text;
    for (const double number : {measures.functionError, measures.fullFunction, measures.relativeFunctionError,
                                measures.weightError, measures.meanCorrelation, measures.seconds}) {
        text += numberText(number) + " ";
    }
    return measures.spectralGapBound ? text + numberText(*measures.spectralGapBound) : text;
}

std::optional<LowRankMeasures> measuresFrom(const std::string& text)
{
    std::istringstream words(text);
    LowRankMeasures measures;
    std::string word;
    for (double* const number : {&measures.functionError, &measures.fullFunction, &measures.relativeFunctionError,
                                 &measures.weightError, &measures.meanCorrelation, &measures.seconds}) {
        const std::optional<double> read = words >> word ? numberFrom<double>(word) : std::nullopt;
        if (!read) {
            return std::nullopt;
        }
        *number = *read;
    }
    measures.spectralGapBound = words >> word ? numberFrom<double>(word) : std::nullopt;
    return measures;
}

/// Returns false if the file has no such tensor.
bool readPart(const SafetensorsFile& file, const ReadPart& part)
{
    const auto found = file.tensors().find(part.name);
    const std::vector<std::int64_t> shape{part.rows, part.columns};
    if (found == file.tensors().end() || found->second.type != StoredType::F64 || found->second.shape != shape) {
        return false;
    }
    part.values->resize(static_cast<std::size_t>(part.rows * part.columns));
    std::memcpy(part.values->data(), found->second.bytes.data(), found->second.bytes.size());
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

/// Reads the parts and returns the metadata; nullopt if the file does not exist.
Result<std::optional<Metadata>> readNumbers(const std::filesystem::path& file, const std::vector<ReadPart>& parts)
{
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) {
        return std::optional<Metadata>();
    }
    const Result<SafetensorsFile> opened = SafetensorsFile::open(file);
    if (!opened) {
        return opened.error();
    }
    const Metadata& metadata = opened->metadata();
    if (const std::string other = otherFormat(metadata); !other.empty()) {
        return Error{file.string(), other};
    }
    const bool whole = std::ranges::all_of(parts, [&](const ReadPart& part) { return readPart(*opened, part); });
    if (!whole || textOf(metadata, kFormatKey) != formatText() || textOf(metadata, kSumKey) != sumOf(parts) ||
        textOf(metadata, kNameKey) != file.filename()) {
        return Error{file.string(), "is damaged, or holds another fit than its name says"};
    }
    return std::optional(metadata);
}

Status writeNumbers(const std::filesystem::path& file, const std::vector<WrittenPart>& parts, Metadata metadata)
{
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (failed) {
        return Error{file.parent_path().string(), "cannot be made: " + failed.message()};
    }
    std::map<std::string, StoredTensor> tensors;
    for (const WrittenPart& part : parts) {
        tensors[part.name] = {StoredType::F64, {part.rows, part.columns}, std::as_bytes(std::span(*part.values))};
    }
    metadata.emplace(kFormatKey, formatText());
    metadata.emplace(kNameKey, file.filename().string());
    metadata.emplace(kSumKey, sumOf(parts));
    return writeSafetensors(file, tensors, metadata);
}

} // namespace

FitCache userFitCache()
{
    return userCache("fits", kFitCache);
}

std::string fitFileName(const LowRankProblem& problem, LowRankMethod method)
{
    ContentDigest digest;
    for (const std::int64_t number :
         {problem.out, problem.in, problem.rank, problem.lfai.batch, problem.lfai.stepsPerEpoch, problem.lfai.epochs}) {
        addNumber(digest, number);
    }
    addNumber(digest, problem.lfai.learningRate);
    addNumber(digest, problem.seed);
    addNumber(digest, static_cast<int>(problem.follows));
    for (const auto* const numbers : {&problem.weight, &problem.covariance}) {
        digest.add(std::as_bytes(std::span(*numbers)));
    }
    // The other methods do not start from the draw.
    if (method == LowRankMethod::Lfai || method == LowRankMethod::Baseline) {
        digest.add(std::as_bytes(std::span(problem.drawnLeft)));
        digest.add(std::as_bytes(std::span(problem.drawnRight)));
    }
    return wordOf(method) + "-" + digest.text() + kEnding;
}

std::string fitFileName(const AttentionProblem& problem)
{
    ContentDigest digest;
    for (const std::int64_t number :
         {problem.sequences, problem.group, problem.length, problem.width, problem.features, problem.course.batch,
          problem.course.stepsPerEpoch, problem.course.epochs, std::int64_t{problem.causal}}) {
        addNumber(digest, number);
    }
    addNumber(digest, problem.course.learningRate);
    for (const auto* const numbers : {&problem.queries, &problem.keys, &problem.start}) {
        digest.add(std::as_bytes(std::span(*numbers)));
    }
    return "features-" + digest.text() + kEnding;
}

Result<std::optional<LowRankFit>> readFit(const std::filesystem::path& file, const LowRankProblem& problem)
{
    LowRankFit fit;
    const Result<std::optional<Metadata>> metadata = readNumbers(
        file, {{"left", &fit.left, problem.out, problem.rank}, {"right", &fit.right, problem.rank, problem.in}});
    if (!metadata) {
        return metadata.error();
    }
    if (!*metadata) {
        return std::optional<LowRankFit>();
    }
    const std::optional<LowRankMeasures> measures = measuresFrom(textOf(**metadata, kMeasuresKey));
    if (!measures) {
        return std::optional<LowRankFit>(); // cached before measures were stored
    }
    fit.measures = *measures;
    fit.note = textOf(**metadata, kNoteKey);
    fit.converged = textOf(**metadata, kConvergedKey) == kTrue;
    return std::optional(std::move(fit));
}

Result<std::optional<AttentionFit>> readFit(const std::filesystem::path& file, const AttentionProblem& problem)
{
    AttentionFit fit;
    std::vector<double> measures;
    const Result<std::optional<Metadata>> metadata = readNumbers(
        file, {{"features", &fit.features, problem.features, problem.width}, {"measures", &measures, 1, 6}});
    if (!metadata) {
        return metadata.error();
    }
    if (!*metadata) {
        return std::optional<AttentionFit>();
    }
    fit.before = {measures[0], measures[2], measures[3]};
    fit.after = {measures[1], measures[2], measures[4]};
    fit.seconds = measures[5];
    fit.note = textOf(**metadata, kNoteKey);
    fit.converged = textOf(**metadata, kConvergedKey) == kTrue;
    return std::optional(std::move(fit));
}

Status writeFit(const std::filesystem::path& file, const LowRankProblem& problem, const LowRankFit& fit)
{
    return writeNumbers(
        file, {{"left", &fit.left, problem.out, problem.rank}, {"right", &fit.right, problem.rank, problem.in}},
        {{kNoteKey, fit.note},
         {kMeasuresKey, measuresText(fit.measures)},
         {kConvergedKey, fit.converged ? kTrue : kFalse}});
}

Status writeFit(const std::filesystem::path& file, const AttentionProblem& problem, const AttentionFit& fit)
{
    const std::vector<double> measures{fit.before.error, fit.after.error, fit.after.full,
                                       fit.before.own,   fit.after.own,   fit.seconds};
    return writeNumbers(file,
                        {{"features", &fit.features, problem.features, problem.width}, {"measures", &measures, 1, 6}},
                        {{kNoteKey, fit.note}, {kConvergedKey, fit.converged ? kTrue : kFalse}});
}

void trimFits(const std::filesystem::path& folder, std::uint64_t mostBytes)
{
    trimCache(folder, kEnding, mostBytes);
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
        trimFits(m_cache.folder, m_cache.mostBytes);
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

void CachedFits::use(const std::string& name) const
{
    std::error_code ignored; // a read-only folder can still be read
    std::filesystem::last_write_time(m_cache.folder / name, std::filesystem::file_time_type::clock::now(), ignored);
}

void CachedFits::fault(std::string text)
{
    const std::scoped_lock lock(m_mutex);
    m_faults.push_back(std::move(text));
}

} // namespace residua::engine
