// SPDX-License-Identifier: GPL-3.0-or-later
// Loads the tensors of a safetensors file as the first weights of a run if their names and shapes match.
#include "engine/compute/queries/base/query.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/models/first_weights_query.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "engine/compute/transfer/file_tensors.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/runs/store/new_run.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

class LoadWeightsQuery final : public FirstWeightsQuery<LoadWeightsQuery, LoadWeightsRequest, LoadWeightsReady> {
public:
    using FirstWeightsQuery::FirstWeightsQuery;
    LoadWeightsQuery(const LoadWeightsQuery&) = delete;
    LoadWeightsQuery& operator=(const LoadWeightsQuery&) = delete;
    /// Destroys the writer before the folder where it writes.
    ~LoadWeightsQuery() override { m_writing.reset(); }

private:
    /// A query that is cancelled before the last stage leaves no files. A dry run ends when it has listed what fits.
    std::span<const Stage> stages() const override
    {
        constexpr std::size_t kDryStages = 3;
        static constexpr Stage kStages[] = {
            &LoadWeightsQuery::open,       &LoadWeightsQuery::fit,         &LoadWeightsQuery::tell,
            &LoadWeightsQuery::initialise, &LoadWeightsQuery::readTensor,  &LoadWeightsQuery::identify,
            &LoadWeightsQuery::beginRun,   &LoadWeightsQuery::writeTensor, &LoadWeightsQuery::endRun};
        return std::span<const Stage>(kStages).first(m_request.dryRun ? kDryStages : std::size(kStages));
    }

    Status open()
    {
        RESIDUA_TRY(checkProject(m_request.project));
        const std::size_t tower = RESIDUA_TRY(projects::chosenTower(m_request.project, m_request.tower));
        m_scope = tower == 0 ? std::string() : m_request.tower + ".";
        TensorFiles files = RESIDUA_TRY(TensorFiles::openFile(m_request.file));
        m_files.emplace(std::move(files));
        std::vector<std::string> classes = RESIDUA_TRY(classesOfData());
        TrainerParts parts =
            RESIDUA_TRY(openParts(m_request.project, m_request.projectDirectory, "cpu", FirstWeights::Loaded,
                                  {.data = watch(), .weights = {}}, {kNewestReading, std::move(classes)}));
        m_parts.emplace(std::move(parts));
        return Done{};
    }

    /// Returns the names of the classes that number the labels of the data: those beside the file, if the data have no
    /// others; else empty.
    Result<std::vector<std::string>> classesOfData()
    {
        std::vector<std::string> classes = classesBesideFile();
        const std::int64_t* const outputs = projects::classCountOf(m_request.project.data.source);
        if (classes.empty() || outputs == nullptr) {
            return classes;
        }
        const auto labels = RESIDUA_TRY(labelsIn(m_request.project.data.source, m_request.projectDirectory, watch()));
        const Result<ClassNumbers> numbers = ClassNumbers::of(labels, *outputs, {kNewestReading, classes});
        Status fits = numbers ? Status(Done{}) : Status(numbers.error());
        for (auto label = labels.begin(); fits && label != labels.end(); ++label) {
            const Result<std::int64_t> number = numbers->numberOf(*label);
            fits = number ? Status(Done{}) : Status(number.error());
        }
        if (!fits) {
            m_ready.notes.push_back("the data number the classes, because those of config.json beside the file are "
                                    "others: " +
                                    fits.error().text());
            classes.clear();
        }
        return classes;
    }

    /// Returns the names of the classes that the outputs of a classifier's file stand for; empty if they are unknown.
    std::vector<std::string> classesBesideFile()
    {
        const std::filesystem::path path = m_request.file.parent_path() / "config.json";
        if (m_request.project.network.objective != projects::Objective::Classification || !isFile(path)) {
            return {};
        }
        const Result<std::string> text = readFile(path);
        const auto names =
            text ? projects::classNamesIn(*text, path.string()) : Result<std::vector<std::string>>(text.error());
        if (!names) {
            m_ready.notes.push_back("the names of the classes are not read: " + names.error().text());
        }
        return names ? *names : std::vector<std::string>();
    }

    /// Matches tensors by their names in this program, and those of a whole network by its architecture's.
    Status fit()
    {
        std::vector<NamedParameter>& parameters = m_parts->network->parameters();
        TransferPlan own;
        for (const NamedParameter& parameter : parameters) {
            if (parameter.name.starts_with(m_scope)) {
                own.copy(parameter.name, Moments::Fresh);
            }
        }
        take(own.match(*m_files, parameters, m_scope));
        const auto unmet = std::ranges::find_if(parameters, [&](const NamedParameter& parameter) {
            const auto row = m_rows.find(parameter.name);
            return parameter.name.starts_with(m_scope) && (row == m_rows.end() || !row->second.fits);
        });
        if (!m_scope.empty() && unmet != parameters.end()) {
            return Error{m_request.file.string(), "has no tensor with the name and the shape of " + unmet->name +
                                                      "; a tower takes the weights of the whole network"};
        }
        RESIDUA_TRY(m_scope.empty() ? fitKnown() : Done{});
        if (m_steps.empty()) {
            const std::string first = m_files->tensors().empty() ? "none" : m_files->tensors().begin()->first;
            return Error{m_request.file.string(), "no tensor has the name and the shape of a parameter of the network; "
                                                  "the first of the file is " +
                                                      first + ", the first of the network " + parameters.front().name};
        }
        return Done{};
    }

    /// Matches tensors by the names of the network's architecture.
    Status fitKnown()
    {
        std::vector<NamedParameter>& parameters = m_parts->network->parameters();
        const auto sound = projects::soundProject(m_request.project);
        const auto found = sound ? projects::knownModelOf(*sound) : Result<projects::FoundModel>(sound.error());
        if (found) {
            const auto named = [&](const std::string& name) { return found->parameter(name); };
            take(matchModel(*m_files, found->model, named, parameters));
            m_model = found->model;
            const bool tied = RESIDUA_TRY(tieHolds(*m_files, *m_model));
            if (!tied) {
                m_ready.notes.push_back(
                    projects::headTensorOf(*m_model) +
                    " is left out: it differs from the embedding, to which the project ties the head");
            }
        }
        return Done{};
    }

    void take(TransferReport report)
    {
        for (TransferStep& step : report.steps) {
            for (const std::string& parameter : step.row.tensor.parameters) {
                m_rows[parameter] = {parameter, step.name, true, ""};
            }
            m_used.insert(step.name);
            m_steps.push_back(std::move(step));
        }
        for (const TransferReport::Contradiction& each : report.contradictions) {
            for (const std::string& parameter : each.row.tensor.parameters) {
                m_rows.try_emplace(parameter, LoadWeightsReady::Row{parameter, each.name, false, each.what});
            }
            m_used.insert(each.name);
        }
    }

    /// Fills the rows of the answer. Edit distances take time, so suggestions compare only the first names and
    /// parameters.
    Status tell()
    {
        constexpr std::size_t kMostCompared = 512;
        constexpr std::size_t kMostGuesses = 32;
        for (const auto& [name, tensor] : m_files->tensors()) {
            if (!m_used.contains(name) && !(m_model && projects::isRedundant(*m_model, name))) {
                m_ready.unused.push_back(name);
            }
        }
        const std::span<const std::string> compared(m_ready.unused.data(),
                                                    std::min(m_ready.unused.size(), kMostCompared));
        std::size_t guesses = 0;
        for (const NamedParameter& parameter : m_parts->network->parameters()) {
            if (!parameter.name.starts_with(m_scope)) {
                continue;
            }
            const auto known = m_rows.find(parameter.name);
            if (known != m_rows.end()) {
                m_ready.rows.push_back(known->second);
                continue;
            }
            const std::string_view meant =
                guesses++ < kMostGuesses ? nearest(parameter.name, compared) : std::string_view();
            m_ready.rows.push_back({parameter.name, "", false,
                                    meant.empty()
                                        ? "the file has no such tensor"
                                        : "the file has no such tensor; the nearest is " + std::string(meant)});
        }
        return Done{};
    }

    Status initialise()
    {
        m_reading.emplace(*m_files, std::move(m_steps));
        return m_parts->network->initialise(watch(), [this](const std::string& name) {
            const auto row = m_rows.find(name);
            return row == m_rows.end() || !row->second.fits;
        });
    }

    Status identify()
    {
        noteNotFinite(m_parts->network->parameters(), m_ready.notes);
        m_data =
            RESIDUA_TRY(fingerprintOf(m_request.project, m_request.projectDirectory, watch(), LargeFiles::AsKnown));
        return Done{};
    }

    Status beginRun()
    {
        NewRun place = RESIDUA_TRY(
            m_request.runDirectory.empty()
                ? NewRun::beginIn(m_request.projectDirectory / projects::kRunsFolder, m_request.project.name)
                : NewRun::begin(m_request.runDirectory));
        m_place.emplace(std::move(place));
        RunInfo info;
        info.name = m_request.project.name;
        info.device = "cpu";
        info.classes = m_parts->dataset->classes();
        info.steps = m_request.project.training.steps;
        RunWriter writer = RESIDUA_TRY(RunWriter::create(m_place->scratch(), info, m_request.project,
                                                         m_request.projectDirectory, std::move(m_data)));
        m_ready.runDirectory = m_place->directory();
        writer.event({0, RunEventKind::Imported, "weights from " + m_request.file.filename().string()});
        m_reading.reset();
        m_writing.emplace(std::move(writer), *m_parts->network);
        return m_writing->begin();
    }

    Status endRun()
    {
        RESIDUA_TRY(m_writing->end());
        m_writing.reset(); // closed before it is renamed
        return m_place->keep();
    }

    std::string m_scope; ///< begins the names of the parameters that may be loaded; may be empty
    std::optional<projects::KnownModel> m_model; ///< the network's architecture, if it is known
    std::optional<TensorFiles> m_files;
    std::optional<TrainerParts> m_parts;
    std::vector<TransferStep> m_steps;
    std::map<std::string, LoadWeightsReady::Row> m_rows; ///< for parameters with a matching tensor in the file
    std::set<std::string> m_used;
    DataFingerprint m_data;
    std::optional<NewRun> m_place;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const LoadWeightsRequest& request)
{
    return std::make_unique<LoadWeightsQuery>(request);
}

} // namespace residua::engine
