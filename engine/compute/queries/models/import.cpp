// SPDX-License-Identifier: GPL-3.0-or-later
// Imports a model saved by transformers as a project with a run, whose checkpoint of step 0 has its weights.
#include "engine/compute/queries/base/query.h"

#include "engine/base/files/tensor_files.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/models/first_weights_query.h"
#include "engine/compute/queries/models/model_data.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "engine/compute/transfer/file_tensors.h"
#include "engine/compute/transfer/new_folder.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/picture_processor.h"

#include <algorithm>
#include <map>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunName = "imported";

class ImportQuery final : public FirstWeightsQuery<ImportQuery, ImportRequest, ImportReady> {
public:
    using FirstWeightsQuery::FirstWeightsQuery;
    ImportQuery(const ImportQuery&) = delete;
    ImportQuery& operator=(const ImportQuery&) = delete;
    /// Destroys m_writing before m_folder, where it writes.
    ~ImportQuery() override { m_writing.reset(); }

private:
    /// Before the last stage, no file is at its final place, so a cancelled import leaves none.
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {
            &ImportQuery::readConfig,  &ImportQuery::makeProject, &ImportQuery::compile,
            &ImportQuery::readTensor,  &ImportQuery::identify,    &ImportQuery::beginRun,
            &ImportQuery::writeTensor, &ImportQuery::endRun,      &ImportQuery::keep};
        return kStages;
    }
    QueryFailed failed(const Error& error) override { return {tag(), error, std::move(m_unfit), m_ready.notes}; }

    Status readConfig()
    {
        if (!isFolder(m_request.folder)) {
            return Error{m_request.folder.string(),
                         "is no folder; expected one with config.json and model.safetensors"};
        }
        const fs::path path = RESIDUA_TRY(fileOf(m_request.folder, "config.json"));
        if (path.empty()) {
            return Error{m_request.folder.string(), "has no config.json; expected a model's folder"};
        }
        std::string config = RESIDUA_TRY(readFile(path));
        projects::ReadModel model = RESIDUA_TRY(projects::readModel(config, path.string()));
        TensorFiles files = RESIDUA_TRY(TensorFiles::openFolder(m_request.folder));
        m_record.source = m_request.folder.filename().string();
        m_record.config = std::move(config);
        m_model = std::move(model.model);
        m_classes = std::move(model.classes);
        m_ready.notes = std::move(model.notes);
        m_files.emplace(std::move(files));
        RESIDUA_TRY(checkTwins(*m_files, m_model, m_ready.notes));
        const bool tied = RESIDUA_TRY(tieHolds(*m_files, m_model));
        if (!tied && projects::findModelKind(m_model.kind)->task != projects::ModelTask::NextToken) {
            return Error{m_request.folder.string(),
                         projects::headTensorOf(m_model) + " differs from the embedding; expected one table for both"};
        }
        if (!tied) {
            m_model.tied = false;
            m_ready.notes.push_back("config.json ties the head to the embedding, but " +
                                    projects::headTensorOf(m_model) +
                                    " differs from it: both are kept, and they are not tied");
        }
        return Done{};
    }

    /// Writes the document with its data into a folder beside its final place.
    Status makeProject()
    {
        NewFolder folder = RESIDUA_TRY(NewFolder::begin(m_request.projectDirectory));
        m_folder.emplace(std::move(folder));
        const projects::Source data = RESIDUA_TRY(
            modelData(m_request.folder, m_folder->path(), m_request.data, m_model, m_classes, m_ready.notes));
        m_document.project = projects::projectOf(m_model, m_request.projectDirectory.filename().string(), data);
        RESIDUA_TRY(takePictureProcessor());
        RESIDUA_TRY(checkProject(m_document.project));
        return projects::saveProject(m_folder->path(), m_document);
    }

    /// Prepares pictures as the model's folder says, if it says so.
    Status takePictureProcessor()
    {
        if (m_model.picture.height == 0) {
            return Done{};
        }
        const Result<fs::path> path = fileOf(m_request.folder, projects::kPictureProcessorFile);
        if (!path || path->empty()) {
            return path ? Status(Done{}) : path.error();
        }
        const std::string text = RESIDUA_TRY(readFile(*path));
        std::vector<std::string> notes =
            RESIDUA_TRY(projects::readPictureProcessor(text, path->string(), m_document.project));
        m_ready.notes.insert(m_ready.notes.end(), notes.begin(), notes.end());
        return Done{};
    }

    Status compile()
    {
        TrainerParts parts =
            RESIDUA_TRY(openParts(m_document.project, m_folder->path(), "cpu", FirstWeights::Loaded,
                                  {.data = watch(), .weights = {}, .ranks = {}}, {kNewestReading, m_classes}));
        m_network = std::move(parts.network);
        auto transfers =
            RESIDUA_TRY(transfersOf(*m_files, m_model, m_network->parameters(), m_request.folder.string(), m_unfit));
        std::map<StoredType, std::int64_t> counts;
        for (const TransferStep& each : transfers) {
            ++counts[each.stored.place.type];
        }
        m_record.type = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
        for (const TransferStep& each : transfers) {
            if (each.stored.place.type != m_record.type) {
                m_record.types[each.row.tensor.name] = each.stored.place.type;
            }
        }
        m_reading.emplace(*m_files, std::move(transfers));
        noteTypes();
        return Done{};
    }

    void noteTypes()
    {
        const auto is = [this](StoredType type) {
            return m_record.type == type ||
                   std::ranges::any_of(m_record.types, [type](const auto& each) { return each.second == type; });
        };
        if (is(StoredType::F64)) {
            m_ready.notes.emplace_back("weights in double precision are rounded to single precision");
        }
    }

    Status identify()
    {
        noteNotFinite(m_network->parameters(), m_ready.notes);
        m_data = RESIDUA_TRY(fingerprintOf(m_document.project, m_folder->path(), watch(), LargeFiles::AsKnown));
        return Done{};
    }

    Status beginRun()
    {
        const projects::Project& project = m_document.project;
        RunInfo info;
        info.name = project.name;
        info.device = "cpu";
        info.classes = m_classes;
        info.steps = project.training.steps;
        const fs::path run = m_folder->path() / projects::kRunsFolder / kRunName;
        RunWriter writer = RESIDUA_TRY(RunWriter::create(run, info, project, m_folder->path(), std::move(m_data)));
        writer.event({0, RunEventKind::Imported, m_model.kind + " from " + m_record.source});
        RESIDUA_TRY(writeImport(run, m_record));
        m_reading.reset();
        m_writing.emplace(std::move(writer), *m_network);
        return m_writing->begin();
    }

    Status endRun()
    {
        const Status ended = m_writing->end();
        m_writing.reset(); // no file of the run may be open when its folder is renamed
        return ended;
    }

    Status keep()
    {
        m_ready.projectDirectory = m_request.projectDirectory;
        m_ready.runDirectory = m_request.projectDirectory / projects::kRunsFolder / kRunName;
        m_ready.architecture = m_model.kind;
        m_ready.layers = m_model.depth();
        m_ready.type = nameOf(m_record.type);
        m_ready.parameters = countOf(m_network->parameters());
        return m_folder->keep();
    }

    ImportRecord m_record;
    projects::KnownModel m_model;
    std::vector<std::string> m_classes; ///< names by number, of a classifier
    std::optional<TensorFiles> m_files;
    std::optional<NewFolder> m_folder;
    projects::Document m_document;
    std::unique_ptr<CompiledNetwork> m_network;
    std::vector<std::string> m_unfit; ///< tensors that prevent the import
    DataFingerprint m_data;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const ImportRequest& request)
{
    return std::make_unique<ImportQuery>(request);
}

} // namespace residua::engine
