// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/network.h"

#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/graph/row_layout.h"
#include "engine/compute/network/group_runs.h"
#include "engine/compute/network/network_checks.h"
#include "engine/compute/network/tower.h"
#include "engine/compute/network/tower_exits.h"
#include "engine/compute/network/tower_objective.h"
#include "engine/compute/network/value_losses.h"
#include "engine/compute/runtime/rounded_weights.h"
#include "projects/nodes/towers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

namespace residua::engine {
namespace {

using projects::LossGroup;
using projects::Project;

constexpr const char* kLossName = "loss";

class Network final : public CompiledNetwork {
public:
    Network(const Compute& compute, const Project& project, std::size_t judge)
        : m_compute(compute),
          m_groups(projects::lossGroupsOf(project)),
          m_readByFirst(projects::reachOf(project, {0})),
          m_judged(judge),
          m_plan(compute, project.initialisation, project.seeds.init)
    {
    }

    /// Compiles the towers that losses need, in an order in which each reads earlier ones.
    [[nodiscard]] Status addTowers(const Project& project, const projects::ExampleSchema& examples)
    {
        const std::vector<std::size_t> order = RESIDUA_TRY(projects::runOrder(project));
        const std::set<std::size_t> used = projects::usedTowers(project);
        for (const std::size_t index : order) {
            if (!used.contains(index)) {
                continue;
            }
            const std::string& name = projects::towerAt(project, index).name;
            const std::size_t owner = projects::weightsOwner(project, index);
            const std::string scope = owner == 0 ? "" : projects::towerAt(project, owner).name + ".";
            Result<std::unique_ptr<CompiledTower>> tower =
                CompiledTower::compile(projects::viewOf(project, index), examples, scope, m_plan, m_rotaryTables);
            if (!tower) {
                return index == 0 ? tower.error()
                                  : Error{"tower " + name + " · " + tower.error().place, tower.error().message};
            }
            if (index == 0) {
                m_first = tower->get();
            }
            if (index == m_judged) {
                m_judge = tower->get();
            }
            m_towers.push_back({index, *std::move(tower)});
        }
        std::vector<std::size_t> inOrder;
        std::set<std::size_t> regularised;
        for (const Tower& tower : m_towers) {
            inOrder.push_back(tower.index);
            if (tower.compiled->hasRegularisers()) {
                regularised.insert(tower.index);
            }
        }
        m_runs = groupRunsOf(project, m_groups, inOrder, regularised);
        markFrozen();
        setTrained(m_groups.front());
        RESIDUA_TRY(checkNames(project));
        if (m_compute.rounded) {
            for (const NamedParameter& parameter : m_plan.all()) {
                if (!parameter.isBuffer) {
                    m_compute.rounded->add(parameter.tensor);
                }
            }
        }
        return Done{};
    }

    using CompiledNetwork::forward;
    using CompiledNetwork::lossOfGroup;

    [[nodiscard]] at::Tensor stackOutput(const DeviceBatch& batch, const Pass& pass) override
    {
        Pass whole = passFor(batch, pass);
        return statesOfFirst(batch.input, whole).sum();
    }

    [[nodiscard]] std::vector<BatchMean> lossOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                                const Pass& pass) override
    {
        Pass whole = passFor(batch, pass);
        return objectiveMeans(*m_judge, judgedOutputs(stackOutput, batch.input, whole), batch, whole, kLossName);
    }

    [[nodiscard]] at::Tensor outputOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                      const Pass& pass) override
    {
        Pass whole = passFor(batch, pass);
        return judgedOutputs(stackOutput, batch.input, whole).front();
    }

    [[nodiscard]] at::Tensor forward(const DeviceBatch& batch, const Pass& pass) override
    {
        Pass whole = passFor(batch, pass);
        const Residual states = statesOfFirst(batch.input, whole);
        const at::Tensor output = m_first->outputs(states, whole).front();
        return exitsEarly(*m_first, whole) ? outputAtExit(*m_first, output, whole) : output;
    }

    [[nodiscard]] std::map<std::string, at::Tensor> values(const DeviceBatch& batch, const Pass& pass) override
    {
        std::map<std::string, at::Tensor> values;
        Pass whole = passFor(batch, pass);
        runAll(batch.input, whole, [&](const Tower& tower, const std::vector<at::Tensor>& outputs, const Pass&) {
            addOutputs(*tower.compiled, outputs, values);
        });
        for (const auto& [name, value] : whole.inputs) {
            if (!batch.conditions.contains(name)) {
                values.insert_or_assign(name, value);
            }
        }
        return values;
    }

    [[nodiscard]] const projects::Network& judge() const override { return m_judge->network(); }
    [[nodiscard]] std::size_t lossGroups() const override { return m_groups.size(); }

    [[nodiscard]] GroupLoss lossOfGroup(std::size_t group, const DeviceBatch& batch, const Pass& pass,
                                        SharedValues* shared) override
    {
        const LossGroup& losses = m_groups[group];
        const std::vector<GroupRun>& plan = shared == nullptr ? m_runs.alone : m_runs.sharing;
        if (m_groups.size() > 1) {
            setTrained(losses);
        }
        Pass whole = passFor(batch, pass);
        if (shared != nullptr) {
            whole.inputs.insert(shared->begin(), shared->end());
        }
        const bool holdsAll = whole.holdsBuffers;
        GroupLoss result;
        const auto add = [&result](const at::Tensor& term) {
            result.trained = result.trained.defined() ? result.trained + term : term;
        };
        const auto runs = [&](const Tower& tower) {
            // The first group that runs a tower changes its buffers.
            whole.holdsBuffers =
                holdsAll || std::ranges::any_of(plan.begin(), plan.begin() + std::ptrdiff_t(group),
                                                [&](const GroupRun& each) { return each.runs.contains(tower.index); });
            return plan[group].runs.contains(tower.index);
        };
        runSome(batch.input, whole, runs, [&](const Tower& tower, std::vector<at::Tensor> outputs, const Pass& own) {
            const projects::Network& network = tower.compiled->network();
            if (plan[group].measures.contains(tower.index)) {
                const at::AutoGradMode mode(at::GradMode::is_enabled() &&
                                            network.ownLoss == projects::OwnLoss::Trained);
                std::vector<BatchMean> terms =
                    objectiveMeans(*tower.compiled, std::move(outputs), batch, own, kLossName);
                if (batch.weight.defined()) {
                    terms.front().mean = terms.front().mean * batch.weight;
                }
                const at::Tensor sum = sumOf(terms);
                if (tower.index == m_judged) {
                    result.judged = sum;
                }
                if (network.ownLoss == projects::OwnLoss::Trained) {
                    add(network.lossWeight == 1 ? sum : sum * network.lossWeight);
                }
            }
            if (losses.hasObjectives && pass.training()) {
                for (const at::Tensor& term : tower.compiled->regularisers(own)) {
                    add(term);
                }
            }
        });
        for (const projects::Loss& loss : losses.losses) {
            const at::Tensor value = valueOf(loss, batch, whole);
            const bool isWeighted = batch.weight.defined() && isOverTargets(loss, batch.target, whole);
            add((isWeighted ? value * batch.weight : value) * loss.weight);
        }
        if (!result.trained.defined() && result.judged.defined()) {
            result.trained = result.judged.detach(); // nothing of the group is trained
        }
        for (const Tower& tower : m_towers) {
            if (shared != nullptr && plan[group].keeps.contains(tower.index)) {
                keepValues(tower.compiled->network().name + ".", whole, *shared);
            }
        }
        if (result.judged.defined() && (m_towers.size() == 1 && losses.losses.empty())) {
            result.judged = result.trained; // a network alone is judged with its regularisers
        }
        return result;
    }

    [[nodiscard]] BatchQuantities quantities(const DeviceBatch& batch, const Pass& pass) override
    {
        Pass whole = passFor(batch, pass);
        BatchQuantities quantities;
        runAll(batch.input, whole, [&](const Tower& tower, std::vector<at::Tensor> outputs, const Pass& own) {
            if (tower.index == m_judged) {
                addObjectiveQuantities(*tower.compiled, outputs, batch, own, quantities);
            }
            if (tower.compiled->network().ownLoss != projects::OwnLoss::None) {
                std::ranges::move(objectiveMeans(*tower.compiled, std::move(outputs), batch, own, ownLossOf(tower)),
                                  std::back_inserter(quantities.means));
            }
        });
        for (const LossGroup& group : m_groups) {
            for (const projects::Loss& loss : group.losses) {
                if (loss.kind == projects::LossKind::ExpectedExit) {
                    const CompiledTower& gated = gatedTower(loss);
                    std::ranges::move(exitMeans(gated, loss, batch.target, whole, &gated == m_first),
                                      std::back_inserter(quantities.means));
                } else {
                    quantities.means.push_back({loss.name, valueOf(loss, batch, whole)});
                }
            }
        }
        return quantities;
    }

    [[nodiscard]] Status initialise(const PreparationWatch& watch,
                                    const std::function<bool(const std::string& name)>& wanted) override
    {
        return m_plan.fill(watch, wanted);
    }
    [[nodiscard]] InitPlan& initPlan() override { return m_plan; }
    [[nodiscard]] std::vector<LayerUse> layersOf(const Pass& pass) override { return m_first->layersOf(pass); }
    [[nodiscard]] std::vector<LayerUse> layersOf(const Pass& pass, std::size_t index) override
    {
        const auto tower = std::ranges::find(m_towers, index, &Tower::index);
        return tower == m_towers.end() ? std::vector<LayerUse>()
               : index == 0            ? layersOf(pass)
                                       : passOf(*tower, pass).layers;
    }
    [[nodiscard]] bool drops() const override
    {
        return std::ranges::any_of(m_towers, [](const Tower& tower) { return tower.compiled->drops(); });
    }
    [[nodiscard]] bool isRecordable() const override
    {
        return m_groups.size() == 1 && std::ranges::none_of(m_towers, [](const Tower& tower) {
                   return tower.index > 0 && tower.compiled->drawsLayers();
               });
    }
    void noteTraining(const Pass& pass) override
    {
        m_first->noteTraining(pass);
        if (m_compute.rounded) {
            m_compute.rounded->refresh();
        }
    }
    [[nodiscard]] std::string withoutKernels() const override { return m_compute.withoutKernels; }
    [[nodiscard]] std::vector<NamedParameter>& parameters() override { return m_plan.all(); }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        std::vector<Matrix> matrices = m_first->coefficients(step);
        for (const Tower& tower : m_towers) {
            const bool isOwn = tower.index > 0 && tower.compiled->network().weights.empty();
            for (Matrix& matrix : isOwn ? tower.compiled->coefficients(step) : std::vector<Matrix>()) {
                matrix.name.kind = tower.compiled->network().name + "." + matrix.name.kind;
                matrices.push_back(std::move(matrix));
            }
        }
        return matrices;
    }

private:
    struct Tower {
        std::size_t index = 0; ///< in the document
        std::unique_ptr<CompiledTower> compiled;
    };

    /// Returns an error if a further loss is named like another recorded quantity, because means of one name are added.
    [[nodiscard]] Status checkNames(const Project& project) const
    {
        std::set<std::string> taken = objectiveQuantityNames(*m_judge);
        for (const Tower& tower : m_towers) {
            taken.insert(ownLossOf(tower));
        }
        for (const projects::Loss& loss : project.losses) {
            if (loss.kind == projects::LossKind::ExpectedExit) {
                taken.merge(exitMeanNames(gatedTower(loss), loss));
            }
        }
        for (const projects::Loss& loss : project.losses) {
            if (taken.contains(loss.name)) {
                return Error{"loss " + loss.name, "has the name of another recorded quantity; expected another name"};
            }
        }
        return Done{};
    }

    /// Returns the name by which the objective of a tower is recorded.
    [[nodiscard]] std::string ownLossOf(const Tower& tower) const
    {
        return tower.index == m_judged ? std::string(kLossName) : "loss of " + tower.compiled->network().name;
    }

    /// Adds the values of the pass whose names begin with `scope`, without gradients.
    static void keepValues(const std::string& scope, const Pass& pass, SharedValues& shared)
    {
        for (const auto& [name, value] : pass.inputs) {
            if (name.starts_with(scope)) {
                shared.insert_or_assign(name, value.detach());
            }
        }
    }

    /// Notes the parameters that no group of losses trains.
    void markFrozen()
    {
        for (const Tower& tower : m_towers) {
            const bool isTrained = std::ranges::any_of(
                m_groups, [&](const LossGroup& group) { return group.trains.contains(tower.index); });
            for (std::size_t i = tower.compiled->parameters().first; i < tower.compiled->parameters().second; ++i) {
                m_plan.all()[i].isFrozen = !isTrained;
            }
        }
    }

    /// Makes the parameters of the group's towers require gradients, and no others.
    void setTrained(const LossGroup& group)
    {
        for (const Tower& tower : m_towers) {
            const bool isTrained = group.trains.contains(tower.index);
            for (std::size_t i = tower.compiled->parameters().first; i < tower.compiled->parameters().second; ++i) {
                m_plan.all()[i].tensor.requires_grad_(isTrained && !m_plan.all()[i].isBuffer);
            }
        }
    }

    /// Returns the pass of a tower: that of the first one, or with its own draws and without what changes the
    /// first. A frozen tower runs as in an evaluation.
    [[nodiscard]] Pass passOf(const Tower& tower, const Pass& whole) const
    {
        if (tower.index == 0) {
            Pass first = whole;
            if (whole.training() && tower.compiled->network().frozen) {
                first.mode = Mode::Evaluation;
                first.layers = tower.compiled->layersOf(first);
            }
            return first;
        }
        Pass own = whole.withoutLayers();
        const std::string& name = tower.compiled->network().name;
        own.magnitudes = whole.magnitudes == nullptr ? nullptr : &whole.magnitudes->ofTower(name);
        own.weightInputs = nullptr;
        if (tower.compiled->network().frozen) {
            own.mode = Mode::Evaluation;
        }
        own.layers = tower.compiled->layersOf(own);
        if (own.training()) {
            tower.compiled->noteTraining(own);
        }
        return own;
    }

    /// True if towers or further losses read values.
    [[nodiscard]] bool hasValues() const
    {
        return m_towers.size() > 1 || m_groups.size() > 1 || !m_groups.front().losses.empty();
    }

    /// Returns the tower's states, which become an input of the pass.
    [[nodiscard]] Residual statesOf(CompiledTower& tower, const at::Tensor& input, Pass& whole, Pass& own)
    {
        const std::string& reads = tower.network().input;
        std::vector<at::Tensor> exits;
        const bool hasExits = hasValues() || exitsEarly(tower, own);
        Residual states =
            tower.states(reads.empty() ? input : whole.inputs.at(reads), own, hasExits ? &exits : nullptr);
        if (hasExits) {
            whole.inputs.merge(exitValues(tower, exits, own));
        }
        if (hasValues()) {
            states = {states.sum(), {}};
            whole.inputs.insert_or_assign(projects::statesOf(tower.network()), states.sum());
            for (const std::string& value : tower.stemValues()) {
                whole.inputs.insert_or_assign(value, own.inputs.at(value));
            }
        }
        return states;
    }

    /// Adds the values at the ports of the tower's head.
    static void addOutputs(const CompiledTower& tower, const std::vector<at::Tensor>& outputs,
                           std::map<std::string, at::Tensor>& values)
    {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            values.insert_or_assign(projects::valueOf(tower.network(), tower.outputPorts()[i]), outputs[i]);
        }
    }

    /// Runs every tower; the values become inputs of the pass. `use` may overwrite the outputs.
    template <class Use>
    void runAll(const at::Tensor& input, Pass& whole, const Use& use)
    {
        runSome(
            input, whole, [](const Tower&) { return true; }, use);
    }

    /// Runs the towers for which `runs` returns true.
    template <class Runs, class Use>
    void runSome(const at::Tensor& input, Pass& whole, const Runs& runs, const Use& use)
    {
        for (const Tower& tower : m_towers) {
            if (!runs(tower)) {
                continue;
            }
            Pass own = passOf(tower, whole);
            std::vector<at::Tensor> outputs =
                tower.compiled->outputs(statesOf(*tower.compiled, input, whole, own), own);
            keepLastOutput(*tower.compiled, outputs.front(), whole);
            if (exitsEarly(*tower.compiled, own)) {
                outputs.front() = outputAtExit(*tower.compiled, outputs.front(), whole);
            }
            if (hasValues()) {
                addOutputs(*tower.compiled, outputs, whole.inputs);
            }
            use(tower, std::move(outputs), own);
        }
    }

    /// Runs the towers that the first one of the document reads, also through others.
    void runBefore(const at::Tensor& input, Pass& whole)
    {
        for (const Tower& tower : m_towers) {
            if (tower.index == 0) {
                return;
            }
            if (!m_readByFirst.contains(tower.index)) {
                continue;
            }
            Pass own = passOf(tower, whole);
            const Residual states = statesOf(*tower.compiled, input, whole, own);
            addOutputs(*tower.compiled, tower.compiled->outputs(states, own), whole.inputs);
        }
    }

    /// Returns the outputs of the judged tower for an output of the first stack.
    [[nodiscard]] std::vector<at::Tensor> judgedOutputs(const at::Tensor& stackOutput, const at::Tensor& input,
                                                        Pass& whole)
    {
        for (const Tower& tower : m_towers) {
            Pass own = passOf(tower, whole);
            const Residual states = tower.index == 0 ? takeStates(stackOutput, input, whole, own)
                                                     : statesOf(*tower.compiled, input, whole, own);
            std::vector<at::Tensor> outputs = tower.compiled->outputs(states, own);
            if (tower.index == m_judged) {
                return outputs;
            }
            addOutputs(*tower.compiled, outputs, whole.inputs);
        }
        return {}; // not reached: the judged tower is used
    }

    /// Takes an output of the first stack as its states, and adds the values of its stem to the inputs of the passes.
    [[nodiscard]] Residual takeStates(const at::Tensor& stackOutput, const at::Tensor& input, Pass& whole, Pass& own)
    {
        if (!m_first->stemValues().empty()) {
            (void)m_first->stem(inputOfFirst(input, whole), own);
        }
        for (const std::string& value : m_first->stemValues()) {
            whole.inputs.insert_or_assign(value, own.inputs.at(value));
        }
        whole.inputs.insert_or_assign(projects::statesOf(m_first->network()), stackOutput);
        return {stackOutput, {}};
    }

    [[nodiscard]] at::Tensor inputOfFirst(const at::Tensor& input, const Pass& whole) const
    {
        const std::string& reads = m_first->network().input;
        return reads.empty() ? input : whole.inputs.at(reads);
    }

    [[nodiscard]] Residual statesOfFirst(const at::Tensor& input, Pass& whole)
    {
        runBefore(input, whole);
        std::vector<at::Tensor> exits;
        const bool hasExits = exitsEarly(*m_first, whole);
        Residual states = m_first->states(inputOfFirst(input, whole), whole, hasExits ? &exits : nullptr);
        if (hasExits) {
            whole.inputs.merge(exitValues(*m_first, exits, whole));
        }
        return states;
    }

    /// Returns a further loss of values that the pass has as inputs.
    [[nodiscard]] at::Tensor valueOf(const projects::Loss& loss, const DeviceBatch& batch, const Pass& whole) const
    {
        if (loss.kind == projects::LossKind::ExpectedExit) {
            return exitLossesOf(gatedTower(loss), batch.target, whole).expected(loss.entropy);
        }
        return valueLossOf(loss, batch.target, whole);
    }

    /// Returns the tower whose exits the loss weighs.
    [[nodiscard]] const CompiledTower& gatedTower(const projects::Loss& loss) const
    {
        const std::string name = projects::valueNameFrom(loss.output).value().tower;
        return *std::ranges::find_if(m_towers, [&](const Tower& tower) {
                    return tower.compiled->network().name == name;
                })->compiled;
    }

    [[nodiscard]] static at::Tensor sumOf(const std::vector<BatchMean>& terms)
    {
        at::Tensor sum = terms.front().mean;
        for (std::size_t i = 1; i < terms.size(); ++i) {
            sum = sum + terms[i].mean;
        }
        return sum;
    }

    /// Returns the pass of the first tower, with the batch's conditions as its inputs, and with the document's use of
    /// its layers unless the caller has set them.
    [[nodiscard]] Pass passFor(const DeviceBatch& batch, const Pass& pass)
    {
        Pass inside = pass;
        inside.inputs.insert(batch.conditions.begin(), batch.conditions.end());
        if (projects::traitsOf(m_first->objective().objective).denoises && batch.target.defined()) {
            inside.inputs.emplace(projects::kPrefix, prefixBefore(batch.target));
        }
        if (std::shared_ptr<RowLayout> rows = RowLayout::of(inside.inputs)) {
            inside.rows = std::move(rows);
        }
        inside.draws = batch.draws.defined() ? batch.draws : pass.draws;
        if (pass.layers.empty()) {
            inside.layers = layersOf(pass);
        }
        m_first->alter(inside);
        if (pass.training()) {
            noteTraining(inside);
        }
        return inside;
    }

    Compute m_compute;
    RotaryTables m_rotaryTables;
    std::vector<LossGroup> m_groups;
    GroupRuns m_runs;
    std::vector<Tower> m_towers; ///< in the order in which they run
    CompiledTower* m_first = nullptr;
    std::set<std::size_t> m_readByFirst; ///< with the first one
    std::size_t m_judged = 0;            ///< index of the judged tower
    CompiledTower* m_judge = nullptr;
    InitPlan m_plan;
};

} // namespace

Result<std::unique_ptr<CompiledNetwork>> CompiledNetwork::compile(const Project& project,
                                                                  const projects::ExampleSchema& examples,
                                                                  const std::string& device, SumOrder sums)
{
    const Result<projects::SoundProject> sound = projects::soundProject(project);
    return sound ? compile(*sound, examples, device, sums, {})
                 : Result<std::unique_ptr<CompiledNetwork>>(sound.error());
}

Result<std::unique_ptr<CompiledNetwork>> CompiledNetwork::compile(const projects::SoundProject& document,
                                                                  const projects::ExampleSchema& examples,
                                                                  const std::string& device, SumOrder sums,
                                                                  const About& about)
{
    RESIDUA_TRY(checkWeights(document, device));
    Compute compute =
        RESIDUA_TRY(Compute::create(device, document->training.precision, projects::carriedPrecision(*document)));
    compute.sums = sums;
    RESIDUA_TRY(checkExamples(*document, examples));
    const projects::SoundProject view = viewOf(document, about.tower);
    const std::size_t judge = about.judge.value_or(projects::judgingTower(*document));
    const std::size_t judgeInView = judge == 0 ? about.tower : judge == about.tower ? 0 : judge;
    auto network = std::make_unique<Network>(compute, *view, judgeInView);
    RESIDUA_TRY(network->addTowers(*view, examples));
    return std::unique_ptr<CompiledNetwork>(std::move(network));
}

} // namespace residua::engine
