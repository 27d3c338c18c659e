// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/fit_cache.h"

#include "engine/files/crc32c.h"
#include "engine/files/safetensors.h"
#include "projects/base/number_from.h"
#include "projects/base/text.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <system_error>

namespace residua::engine {
namespace {

constexpr const char* kFormat = "residua fit 1"; ///< a change of what any method finds is a change of this
constexpr const char* kFormatKey = "format";
constexpr const char* kSumKey = "crc32c";
constexpr const char* kNoteKey = "note";
constexpr const char* kConvergedKey = "converged";
constexpr const char* kMeasuresKey = "measures";

/// Two hashes of 64 bits, FNV-1a from different starts.
class Digest {
public:
    void add(std::span<const std::byte> bytes)
    {
        for (const std::byte each : bytes) {
            for (std::uint64_t& hash : m_hashes) {
                hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x100000001b3;
            }
        }
    }
    template <class T>
    void number(T value)
    {
        add(std::as_bytes(std::span(&value, 1)));
    }
    void numbers(const std::vector<double>& values)
    {
        number(static_cast<std::uint64_t>(values.size()));
        add(std::as_bytes(std::span(values)));
    }
    [[nodiscard]] std::string text() const
    {
        constexpr const char* kDigits = "0123456789abcdef";
        std::string text;
        for (const std::uint64_t hash : m_hashes) {
            for (int shift = 60; shift >= 0; shift -= 4) {
                text += kDigits[(hash >> static_cast<unsigned>(shift)) & 15U];
            }
        }
        return text;
    }

private:
    std::array<std::uint64_t, 2> m_hashes{0xcbf29ce484222325, 0x9ae16a3b2f90404f};
};

StoredTensor stored(const std::vector<double>& values, std::int64_t rows, std::int64_t columns)
{
    return {StoredType::F64, {rows, columns}, std::as_bytes(std::span(values))};
}

std::string sumOf(const std::vector<double>& left, const std::vector<double>& right)
{
    return std::to_string(crc32c(std::as_bytes(std::span(left)))) + " " +
           std::to_string(crc32c(std::as_bytes(std::span(right))));
}

std::string textOf(const std::map<std::string, std::string>& metadata, const char* key)
{
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
}

/// To the last digit, a number and a space each; the bound last, where there is one.
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

/// Empty where the file has no such tensor.
std::vector<double> numbersOf(const SafetensorsFile& file, const char* name, std::int64_t rows, std::int64_t columns)
{
    const auto found = file.tensors().find(name);
    const std::vector<std::int64_t> shape{rows, columns};
    if (found == file.tensors().end() || found->second.type != StoredType::F64 || found->second.shape != shape) {
        return {};
    }
    std::vector<double> values(static_cast<std::size_t>(rows * columns));
    std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
    return values;
}

} // namespace

std::filesystem::path userFitCache()
{
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const bool isCache = cache != nullptr && *cache == '/'; // a relative one is to be ignored, by its standard
    const bool isHome = home != nullptr && *home == '/';
    const std::filesystem::path root = isCache  ? std::filesystem::path(cache)
                                       : isHome ? std::filesystem::path(home) / ".cache"
                                                : "";
    return root.empty() ? root : root / "residua" / "fits";
}

std::string fitFileName(const LowRankProblem& problem, LowRankMethod method)
{
    Digest digest;
    for (const std::int64_t number :
         {problem.out, problem.in, problem.rank, problem.lfai.batch, problem.lfai.stepsPerEpoch, problem.lfai.epochs}) {
        digest.number(number);
    }
    digest.number(problem.lfai.learningRate);
    digest.number(problem.seed);
    digest.number(static_cast<int>(problem.follows));
    for (const auto* const numbers : {&problem.weight, &problem.covariance}) {
        digest.numbers(*numbers);
    }
    if (method == LowRankMethod::Lfai || method == LowRankMethod::Baseline) { // the others start elsewhere
        digest.numbers(problem.drawnLeft);
        digest.numbers(problem.drawnRight);
    }
    return std::string(nameOf(method)) + "-" + digest.text() + ".safetensors";
}

Result<std::optional<LowRankFit>> readFit(const std::filesystem::path& file, const LowRankProblem& problem)
{
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) {
        return std::optional<LowRankFit>();
    }
    const Result<SafetensorsFile> opened = SafetensorsFile::open(file);
    if (!opened) {
        return opened.error();
    }
    LowRankFit fit;
    fit.left = numbersOf(*opened, "left", problem.out, problem.rank);
    fit.right = numbersOf(*opened, "right", problem.rank, problem.in);
    const auto& metadata = opened->metadata();
    const bool sound = !fit.left.empty() && !fit.right.empty() && textOf(metadata, kFormatKey) == kFormat &&
                       textOf(metadata, kSumKey) == sumOf(fit.left, fit.right);
    if (!sound) {
        return Error{file.string(), "is damaged, or holds another fit than its name says"};
    }
    const std::optional<LowRankMeasures> measures = measuresFrom(textOf(metadata, kMeasuresKey));
    if (!measures) {
        return std::optional<LowRankFit>(); // kept before fits kept what they had left
    }
    fit.measures = *measures;
    fit.note = textOf(metadata, kNoteKey);
    fit.converged = textOf(metadata, kConvergedKey) == "true";
    return std::optional(std::move(fit));
}

Status writeFit(const std::filesystem::path& file, const LowRankProblem& problem, const LowRankFit& fit)
{
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (failed) {
        return Error{file.parent_path().string(), "cannot be made: " + failed.message()};
    }
    return writeSafetensors(
        file,
        {{"left", stored(fit.left, problem.out, problem.rank)}, {"right", stored(fit.right, problem.rank, problem.in)}},
        {{kFormatKey, kFormat},
         {kSumKey, sumOf(fit.left, fit.right)},
         {kNoteKey, fit.note},
         {kMeasuresKey, measuresText(fit.measures)},
         {kConvergedKey, fit.converged ? "true" : "false"}});
}

} // namespace residua::engine
