// SPDX-License-Identifier: GPL-3.0-or-later
// Exports a checkpoint as PyTorch code with recorded outputs for a few examples, as a file made from that code, or as a
// model of transformers.
#include "engine/compute/queries/base/query.h"

#include "engine/base/files/safetensors_header.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/queries/models/model_data.h"
#include "engine/compute/queries/models/weight_reading.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/weight_average.h"
#include "engine/compute/transfer/huggingface_folder.h"
#include "engine/compute/transfer/new_folder.h"
#include "engine/compute/transfer/pytorch_folder.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/random.h"
#include "projects/huggingface/custom_model.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/picture_processor.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/transfer/ties.h"

#include <ATen/ops/ones.h>

#include <algorithm>
#include <set>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kRecordedExamples = 2;
constexpr std::int64_t kRecordedTokens = 32; ///< per example

class ExportQuery final : public StagedQuery<ExportQuery, ExportRequest, ExportReady> {
public:
    explicit ExportQuery(ExportRequest request) : StagedQuery(std::move(request)) { m_ready.folder = m_request.folder; }
    bool waits() const override { return m_graph.has_value(); }

    std::optional<Event> takeNews() override
    {
        const std::optional<double> share =
            m_modelWriter  ? m_news.take(m_modelWriter->tensorsDone(), m_modelWriter->tensors())
            : m_codeWriter ? m_news.take(m_codeWriter->tensorsDone(), m_codeWriter->tensors())
                           : std::nullopt;
        return share ? std::optional<Event>(QueryProgress{m_request.tag, *share}) : std::nullopt;
    }

private:
    /// Before the last stage, no file is at its final place, so a cancelled export leaves none.
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&ExportQuery::open,    &ExportQuery::choose, &ExportQuery::openData,
                                            &ExportQuery::compile, &ExportQuery::write,  &ExportQuery::makeGraph,
                                            &ExportQuery::keep};
        return kStages;
    }
    bool hasMore(Stage stage) const override { return m_graph || (stage == &ExportQuery::write && !written()); }

    [[nodiscard]] bool written() const { return m_model ? m_modelWriter->atEnd() : m_codeWriter->atEnd(); }

    Status open()
    {
        NewFolder making = RESIDUA_TRY(NewFolder::begin(m_request.folder));
        m_making.emplace(std::move(making));
        OpenedRun run = RESIDUA_TRY(openRunAlone(m_request.of));
        m_run.emplace(std::move(run));
        CheckpointFiles checkpoint =
            RESIDUA_TRY(findCheckpoint(m_request.of.runDirectory, m_request.of.step, &m_run->notes));
        m_checkpoint.emplace(std::move(checkpoint));
        takeEvaluatedWeights(*m_checkpoint, m_run->project.training);
        RESIDUA_TRY(chooseTower());
        projects::SoundProject sound = RESIDUA_TRY(projects::soundProject(m_run->project));
        m_sound.emplace(std::move(sound));
        return Done{};
    }

    /// Leaves out the losses that exports have not, with the towers that nothing else needs.
    void dropLosses()
    {
        projects::Project& project = m_run->project;
        std::vector<std::string> names;
        std::erase_if(project.losses, [&](const projects::Loss& loss) {
            if (!projects::isExported(loss)) {
                names.push_back(loss.name);
            }
            return !projects::isExported(loss);
        });
        if (names.empty()) {
            return;
        }
        m_run->notes.push_back("without the losses at exits: " + joinedText(names));
        const std::set<std::size_t> used = projects::usedTowers(project);
        m_checkpoint->model.rename([&](const std::string& name) {
            for (std::size_t tower = 1; tower < projects::towerCount(project); ++tower) {
                if (!used.contains(tower) && name.starts_with(projects::towerAt(project, tower).name + ".")) {
                    return std::string();
                }
            }
            return name;
        });
    }

    /// Makes the run that of one tower, if that is wanted.
    Status chooseTower()
    {
        dropLosses();
        projects::Project& project = m_run->project;
        if (!project.towers.empty() && m_request.tower.empty() && m_request.format == ExportFormat::HuggingFace) {
            return Error{"towers", "a model of transformers is one network, and the document has " +
                                       std::to_string(projects::towerCount(project)) +
                                       " towers; expected --tower NAME of one that reads no other, or --to pytorch"};
        }
        if (m_request.format == ExportFormat::HuggingFace) {
            project.losses.clear(); // such a model has none beside its head's
        }
        if (m_request.tower.empty()) {
            return Done{};
        }
        const Result<std::size_t> tower = projects::chosenTower(project, m_request.tower);
        projects::Project alone =
            RESIDUA_TRY(tower ? projects::aloneOf(project, *tower) : Result<projects::Project>(tower.error()));
        nameAsInView(*m_checkpoint, project, *tower);
        m_checkpoint->model.rename([](const std::string& name) {
            const bool isOther = projects::parameterNameFrom(name).part == projects::NetworkPart::Other;
            return isOther ? std::string() : name;
        });
        project = std::move(alone);
        return checkProject(project);
    }

    /// Decides whether a model of transformers has one of its architectures or needs custom code.
    Status choose()
    {
        if (m_request.format != ExportFormat::HuggingFace) {
            return Done{};
        }
        m_type = weightTypeFrom(m_request.type);
        if (!m_type && !m_request.type.empty()) {
            return Error{"type", "got \"" + m_request.type + "\", expected " + weightTypeNames()};
        }
        RESIDUA_TRY(checkTokeniser(m_request.of, *m_run));
        Companions companions = RESIDUA_TRY(tokeniserCompanions(**m_sound, m_run->projectDirectory, m_run->notes));
        m_imported = RESIDUA_TRY(readImport(m_request.of.runDirectory));
        Result<projects::FoundModel> found = findModel();
        if (found) {
            if (found->model.picture.height > 0) {
                projects::WrittenProcessor processor = projects::pictureProcessorOf(m_run->project);
                companions.written[projects::kPictureProcessorFile] = std::move(processor.text);
                std::ranges::move(processor.notes, std::back_inserter(m_run->notes));
            }
            m_model.emplace(Model{std::move(*found), std::move(companions)});
            return Done{};
        }
        const projects::Project& project = m_run->project;
        if (project.network.depth() > project.stack().stored()) {
            found = Error{found.error().place, found.error().message + "; " + onUntying()};
            m_run->notes.push_back(found.error().text());
        }
        if (!projects::continuesText(projects::traitsOf(project.network.objective), projects::examplesOf(project))) {
            return Error{found.error().place, found.error().message +
                                                  "; expected an architecture of transformers, a language model that "
                                                  "continues text, or --to pytorch"};
        }
        if (m_type) {
            return Error{"type", "a model with code of its own keeps the checkpoint's type: " + found.error().text()};
        }
        m_use = CustomModel{found.error().message, std::move(companions)};
        return Done{};
    }

    /// Returns whether the network has an architecture of transformers once its visits are layers of their own.
    [[nodiscard]] std::string onUntying() const
    {
        const Result<projects::RetiedProject> own = projects::untied(m_run->project);
        if (!own) {
            return "it cannot be untied: " + own.error().message;
        }
        const Result<projects::SoundProject> sound = projects::soundProject(own->project);
        const auto found = sound ? projects::knownModelOf(*sound) : Result<projects::FoundModel>(sound.error());
        return found ? "untied, it is a " + found->model.kind +
                           ": residua-cli untie RUN -o NEW, or untie in Tie or untie layers… of the run's menu"
                     : "untied (residua-cli untie), it has none either: " + found.error().message;
    }

    /// Opens the data. An export of weights needs none; without data, outputs are recorded for drawn tokens.
    Status openData()
    {
        if (m_model) {
            return Done{};
        }
        Result<DataFingerprint> data =
            fingerprintOf(m_run->project, m_run->projectDirectory, watch(), LargeFiles::AsKnown, m_run->info.reading);
        if (data) {
            RESIDUA_TRY(takeData(m_request.of, std::move(*data), *m_run));
        }
        Result<std::unique_ptr<Dataset>> dataset =
            data ? Dataset::open(m_run->project, m_run->projectDirectory, watch(), m_run->reading()) : data.error();
        if (dataset) {
            m_dataset = std::move(*dataset);
            return Done{};
        }
        if (!projects::examplesOf(m_run->project).input().isTokens()) {
            return dataset.error();
        }
        m_run->notes.push_back("the outputs that are recorded are of drawn tokens, for the data cannot be read: " +
                               dataset.error().text());
        return Done{};
    }

    /// Compiles the network and chooses the examples for the recorded outputs.
    Status compile()
    {
        if (m_model) {
            return Done{};
        }
        projects::Project project = m_run->project;
        if (projects::roundsToBf16(project.training.precision)) {
            project.training.precision = projects::Precision::Fp32; // its parameters are fp32
        }
        const projects::ExampleSchema schema = m_dataset ? m_dataset->schema() : projects::examplesOf(project);
        m_network = RESIDUA_TRY(CompiledNetwork::compile(project, schema, "cpu"));
        RESIDUA_TRY(loadParameters(m_checkpoint->model, m_network->parameters()));
        RESIDUA_TRY(m_dataset ? fillFromData(*m_dataset, m_batch) : fillDrawn(project, m_batch));
        m_sample = upload(m_batch, schema, at::kCPU, parameterType(project.training.precision));
        if (schema.hasTime()) {
            shorten(m_sample, schema, kRecordedTokens);
        }
        for (const char* const layout : {projects::kLength, projects::kPositions}) {
            m_sample.conditions.erase(layout); // the code reads each row as one text
        }
        if (projects::traitsOf(project.network.objective).denoises) { // and has no prefix but the first token
            m_sample.conditions.emplace(projects::kPrefix, at::ones({m_sample.input.size(0)}, at::kLong));
        }
        return Done{};
    }

    Status write()
    {
        m_ready.step = m_checkpoint->state.step;
        return m_model ? writeModel() : writeCode();
    }

    /// Writes a piece of the model.
    Status writeModel()
    {
        if (!m_modelWriter) {
            m_modelWriter.emplace(m_making->path(),
                                  HuggingFaceSource{*m_sound, m_model->found, m_checkpoint->model,
                                                    std::move(m_imported), m_type, exportedRun(), m_model->companions});
        }
        if (Status done = m_modelWriter->advance(); !done || !m_modelWriter->atEnd()) {
            return done;
        }
        const HuggingFaceFolder& folder = m_modelWriter->folder();
        m_ready.architecture = folder.architecture;
        m_ready.layers = m_model->found.model.depth();
        m_ready.parameters = folder.parameters;
        m_ready.notes.insert(m_ready.notes.end(), folder.notes.begin(), folder.notes.end());
        return Done{};
    }

    /// Writes a piece of the code.
    Status writeCode()
    {
        if (!m_codeWriter) {
            m_ready.ownCode = std::holds_alternative<CustomModel>(m_use);
            m_ready.architecture = m_ready.ownCode ? projects::kOwnArchitecture : "";
            m_codeWriter.emplace(m_making->path(),
                                 PyTorchSource{*m_sound, *m_network, m_sample, exportedRun(), std::move(m_use)});
        }
        if (Status done = m_codeWriter->advance(); !done || !m_codeWriter->atEnd()) {
            return done;
        }
        const PyTorchFolder folder = m_codeWriter->folder();
        m_ready.layers = folder.layers;
        m_ready.parameters = folder.parameters;
        m_ready.leftOut = folder.leftOut;
        return Done{};
    }

    /// Starts the graph's process; later calls check whether it has ended.
    Status makeGraph()
    {
        if (m_request.format != ExportFormat::Onnx) {
            return Done{};
        }
        if (!m_graph) {
            OnnxGraph graph = RESIDUA_TRY(OnnxGraph::begin(m_making->path()));
            m_graph.emplace(std::move(graph));
            return Done{};
        }
        std::optional<Status> ended = m_graph->ended();
        if (!ended) {
            return Done{};
        }
        m_graph.reset();
        return *ended;
    }

    Status keep()
    {
        m_ready.notes.insert(m_ready.notes.begin(), m_run->notes.begin(), m_run->notes.end());
        return m_making->keep();
    }

    /// Returns the model architecture of the network, if the whole network is present. For an imported network, tries
    /// its original architecture first.
    [[nodiscard]] Result<projects::FoundModel> findModel() const
    {
        const projects::StageSchedule& schedule = (*m_sound)->stack().schedule;
        const bool parts = !projects::trainsAll(schedule) && m_checkpoint->state.step < m_run->info.steps;
        const bool byShare = schedule.scaling == projects::DropScaling::Evaluation ||
                             schedule.scaling == projects::DropScaling::EvaluationInverse;
        const bool weighs = byShare && !projects::trainsAll(schedule);
        if (parts || weighs) {
            return Error{"schedule", "its schedule gives layers a part of their own in evaluation"};
        }
        return projects::knownModelOf(*m_sound, m_imported ? projects::modelTypeIn(m_imported->config) : std::string());
    }

    [[nodiscard]] projects::ExportedRun exportedRun() const
    {
        const std::string name = std::filesystem::path(m_request.of.runDirectory).filename().string();
        return {name, m_checkpoint->state.step, m_run->info.steps, 0, 0, m_network && !m_dataset, classes()};
    }

    /// Returns the names of all classes that the network predicts. Empty if it is no classifier, or if the names are
    /// the numbers.
    [[nodiscard]] std::vector<std::string> classes() const
    {
        const projects::Project& project = m_run->project;
        const std::vector<std::string>& known = m_run->info.classes;
        const bool classifies = projects::sampleUseOf(project.network.objective) == projects::SampleUse::Classify;
        if (!classifies || known.empty() || areOrdinals(known)) {
            return {};
        }
        const std::int64_t count = projects::examplesOf(project).target().vocabulary;
        std::vector<std::string> names = projects::defaultClasses(count);
        std::copy_n(known.begin(), std::min(known.size(), names.size()), names.begin());
        return names;
    }

    /// Takes a few examples of the validation split, or of the training split if there is no validation split.
    static Status fillFromData(const Dataset& dataset, Batch& batch)
    {
        const Split split = dataset.size(Split::Validation) > 0 ? Split::Validation : Split::Train;
        RESIDUA_TRY(dataset.fillSequential(batch, split, 0, kRecordedExamples));
        return batch.batch > 0 ? Status(Done{}) : Error{"data", "there is no example to record outputs on"};
    }

    static Status fillDrawn(const projects::Project& project, Batch& batch)
    {
        RandomStream draws(static_cast<std::uint64_t>(project.seeds.data), streamOf(Stream::Inputs));
        batch.batch = kRecordedExamples;
        batch.time = std::min(project.training.sequenceLength, kRecordedTokens);
        const std::vector<projects::ExampleField> fields = projects::examplesOf(project).fields;
        for (std::size_t field = 0; field < fields.size(); ++field) {
            const bool perToken = std::ranges::count(fields[field].shape.dims, projects::kTime) > 0;
            const std::int64_t count = perToken ? batch.batch * batch.time : batch.batch;
            if (!fields[field].isTokens()) {
                batch.values<float>(field).assign(static_cast<std::size_t>(count), 1.0F); // a mask without padding
                continue;
            }
            for (std::int64_t i = 0; i < count; ++i) {
                batch.values<std::int64_t>(field).push_back(
                    draws.below(std::max<std::int64_t>(fields[field].vocabulary, 1)));
            }
        }
        return Done{};
    }

    /// A network with an architecture of transformers.
    struct Model {
        projects::FoundModel found;
        Companions companions;
    };

    std::optional<NewFolder> m_making;
    std::optional<OpenedRun> m_run;
    std::optional<CheckpointFiles> m_checkpoint;
    std::optional<projects::SoundProject> m_sound;
    std::optional<StoredType> m_type;       ///< as requested
    std::optional<ImportRecord> m_imported; ///< the origin of the first weights
    std::optional<Model> m_model;           ///< nullopt: exported as code
    std::variant<PlainPyTorch, CustomModel> m_use = PlainPyTorch{};
    std::unique_ptr<Dataset> m_dataset; ///< for code, if it can be read
    std::unique_ptr<CompiledNetwork> m_network;
    Batch m_batch; ///< owns the memory that the sample may view
    DeviceBatch m_sample;
    std::optional<HuggingFaceWriter> m_modelWriter; ///< refers to the members above, as the next one does
    std::optional<PyTorchWriter> m_codeWriter;
    ShareNews m_news;
    std::optional<OnnxGraph> m_graph; ///< in progress; destroyed before m_making, where it writes
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const ExportRequest& request)
{
    return std::make_unique<ExportQuery>(request);
}

} // namespace residua::engine
