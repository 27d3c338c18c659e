// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/records/run_loader.h"
#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/edit/edit.h"
#include "projects/edit/history.h"
#include "projects/nodes/towers.h"
#include "projects/schema/method_keys.h"
#include "projects/studies/sweep_grid.h"
#include "visualizers/gap/gap_model.h"
#include "visualizers/gap/gap_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace residua::app {

namespace {

class GapCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(GapCommands)
public:
    explicit GapCommands(const WindowParts& parts);

private:
    void compute();
    void showRecorded(const std::string& run);
    void begin(engine::GapRequest request);
    void end(const QString& told);
    void noticeEdit();
    void noticeFront();
    void openAnew();
    [[nodiscard]] const projects::Block* blockOf(const visualizers::WeightPlace& place) const;
    void choose(const visualizers::WeightPlace& place);
    void mark();
    void train();

    visualizers::GapView& m_view;
    engine::QueryTag m_tag{};          ///< of the running request; 0: none
    projects::ProjectSnapshot m_drawn; ///< the project whose initial weights are shown; null: none
    std::string m_run;                 ///< the run whose gap is shown; empty: no run
    bool m_notedFront = false;         ///< true if the view notes that another run is in front
    std::uint64_t m_asked = 0;         ///< answers to older requests are dropped
};

using visualizers::GapView;
using visualizers::WeightPlace;

constexpr const char* kSweep = "starts";

/// Returns a sweep of each method over several seeds, with an axis over the tower's rank if the view requests one that
/// the project lacks.
projects::Sweep sweepOf(const GapView::Asked& asked, std::size_t tower)
{
    projects::Sweep sweep{kSweep, {}};
    if (asked.rankShare) {
        const std::string share = numberText(*asked.rankShare);
        sweep.axes.push_back({projects::pointerOfView(tower, "/network/rank"),
                              "rank scale",
                              {{share, {R"({"kind": "scale", "scale": )" + share + "}"}}}});
    }
    projects::SweepAxis starts{"/initialisation/low_rank", "start", {}};
    for (const projects::LowRankMethod method : asked.methods) {
        const std::string key = projects::keyOf(method);
        starts.values.push_back({key, {"\"" + key + "\""}});
    }
    projects::SweepAxis draws{"/seeds/init", "seed", {}};
    for (int seed = 1; seed <= asked.seeds; ++seed) {
        draws.values.push_back({std::to_string(seed), {std::to_string(seed)}});
    }
    sweep.axes.push_back(std::move(starts));
    sweep.axes.push_back(std::move(draws));
    return sweep;
}

/// True if both draw the same weights and factors, fitted over the same data.
bool drawAlike(const projects::Project& a, const projects::Project& b)
{
    projects::Network network = b.network;
    network.stack().schedule = a.stack().schedule;
    return a.network == network && a.towers == b.towers && a.data == b.data && a.seeds == b.seeds &&
           a.initialisation == b.initialisation && a.training.batch == b.training.batch;
}

} // namespace

GapCommands::GapCommands(const WindowParts& parts) : CommandGroup(parts), m_view(m_workspace.view<GapView>())
{
    connect(&m_view, &GapView::computeRequested, this, &GapCommands::compute);
    connect(&m_view, &GapView::stopRequested, this, [this] { m_engine.giveUp(m_tag); });
    connect(&m_view, &GapView::trainRequested, this, &GapCommands::train);
    connect(&m_view, &GapView::weightChosen, this, &GapCommands::choose);
    connect(&m_documents, &DocumentViews::placeChanged, this, &GapCommands::mark);
    connect(&m_session, &DocumentSession::opened, this, &GapCommands::openAnew);
    connect(&m_session, &DocumentSession::changed, this, &GapCommands::noticeEdit);
    connect(&m_workspace.shownRuns(), &visualizers::ShownRuns::frontChanged, this, &GapCommands::noticeFront);
}

void GapCommands::compute()
{
    if (!m_session.isOpen()) {
        return;
    }
    m_notedFront = false; // later notes belong to the new request
    const GapView::Asked asked = m_view.asked();
    const std::string& run = m_workspace.shownRuns().front();
    if (asked.subject != GapView::Subject::Drawn && run.empty()) {
        m_view.tell(tr("There is no run in front: train the project, or look at its weights as drawn."));
        return;
    }
    if (asked.subject == GapView::Subject::Started) {
        showRecorded(run);
        return;
    }
    engine::GapRequest request;
    request.methods = asked.methods;
    request.tower = selectedTower();
    if (asked.rankShare) {
        request.rank = projects::RankScale{*asked.rankShare};
    }
    request.of.projectDirectory = m_session.directory();
    m_drawn.reset();
    m_run.clear();
    if (asked.subject == GapView::Subject::Drawn) {
        m_drawn = m_session.history().projectSnapshot();
        request.project = *m_drawn;
    } else {
        m_run = run;
        request.of.runDirectory = run;
    }
    begin(std::move(request));
}

void GapCommands::begin(engine::GapRequest request)
{
    ++m_asked;
    m_view.setGap({});
    m_view.tell({});
    m_tag = m_engine.ask(
        std::move(request), this,
        [this](const engine::GapReady& ready) {
            m_view.setGap(ready.gap);
            end({});
        },
        [this](const engine::QueryFailed& failed) { end(QString::fromStdString(failed.error.text())); },
        [this](const engine::GapProgress& progress) { m_view.setGap(progress.gap); });
    m_view.setWork(GapView::Work::Computes);
}

/// Shows the gap that the run recorded at its start.
void GapCommands::showRecorded(const std::string& run)
{
    m_drawn.reset();
    m_run = run;
    const auto read = [run]() -> Result<std::optional<engine::Gap>> {
        const auto reader = engine::RunReader::open(run);
        return reader ? reader->gap() : Result<std::optional<engine::Gap>>(reader.error());
    };
    inBackground(this, read, [this, asked = ++m_asked](const Result<std::optional<engine::Gap>>& gap) {
        if (asked != m_asked) {
            return;
        }
        m_view.setGap(gap && *gap ? **gap : engine::Gap{});
        m_view.tell(!gap   ? QString::fromStdString(gap.error().text())
                    : *gap ? QString()
                           : tr("The run in front has recorded none: its weights are whole, or its "
                                "factors started as drawn."));
        noticeFront();
    });
}

void GapCommands::end(const QString& told)
{
    m_tag = {};
    m_view.setWork(GapView::Work::Rests);
    m_view.tell(told);
    noticeEdit();
    if (told.isEmpty()) { // otherwise the reason of the failure stays
        noticeFront();
    }
}

/// After an edit the bars stay for comparison, and the view notes that they show the project before it.
void GapCommands::noticeEdit()
{
    if (m_drawn && m_tag == engine::QueryTag{} && m_session.isOpen() &&
        !drawAlike(*m_drawn, m_session.wholeProject())) {
        m_view.tell(tr("The project has changed since: compute again to see its gap now."));
    }
}

/// The bars stay when another run comes to the front, and the view notes which run they belong to.
void GapCommands::noticeFront()
{
    const std::string& front = m_workspace.shownRuns().front();
    if (m_run.empty() || m_tag != engine::QueryTag{}) {
        return;
    }
    if (front != m_run) {
        const visualizers::ShownRuns::Run* const run = m_workspace.shownRuns().find(m_run);
        const QString folder = QString::fromStdString(std::filesystem::path(m_run).filename().string());
        m_view.tell(tr("This is of %1: compute again to see the run in front.").arg(run ? run->facts.name : folder));
        m_notedFront = true;
    } else if (std::exchange(m_notedFront, false)) {
        m_view.tell({});
    }
}

void GapCommands::openAnew()
{
    m_engine.drop(std::exchange(m_tag, engine::QueryTag{}));
    ++m_asked;
    m_drawn.reset();
    m_run.clear();
    m_view.setWork(GapView::Work::Rests);
    m_view.setGap({});
    m_view.tell({});
}

/// Returns the block of the weight's layer in the open project; null if it has no such layer.
const projects::Block* GapCommands::blockOf(const WeightPlace& place) const
{
    const projects::Network& network = m_session.project().network;
    return network.blockOfLayer(network.stack().numberOf({place.layer, 1}));
}

/// Selects the weight's layer with all of its visits, or its node if the block canvas is in front.
void GapCommands::choose(const WeightPlace& place)
{
    if (!m_session.isOpen() || place.layer < 1) {
        return;
    }
    const Result<std::size_t> tower = projects::chosenTower(m_session.wholeProject(), place.tower);
    if (!tower) {
        return; // the project had it
    }
    m_session.showTower(*tower);
    const projects::Project& project = m_session.project();
    const projects::Block* const block = blockOf(place);
    if (block == nullptr) {
        return; // the run had more layers than the project has now
    }
    const auto node = std::ranges::find(block->graph.nodes, place.node, &projects::Node::name);
    const bool inside = m_workspace.frontCanvas() == &m_workspace.block();
    if (inside && node != block->graph.nodes.end()) {
        m_documents.choose(NodePlace{projects::GraphRef::block(block->name), node->id});
    } else {
        const std::vector<std::int64_t> visits = project.stack().visitsOf(place.layer);
        m_documents.select({.layers = {visits.begin(), visits.end()}});
    }
}

void GapCommands::mark()
{
    const projects::Project& project = m_session.project();
    const projects::Selection& selection = m_documents.selection();
    std::set<std::string> nodes;
    std::string block;
    if (const auto* const place = std::get_if<NodePlace>(&m_documents.place()); place && place->graph.isBlock()) {
        const projects::Graph* const graph = projects::findGraph(project, place->graph);
        const projects::Node* const node = graph ? graph->find(place->node) : nullptr;
        if (node) {
            block = place->graph.blockName();
            nodes.insert(node->name);
        }
    }
    std::set<std::int64_t> layers; // stored
    for (const std::int64_t layer : selection.layers) {
        layers.insert(project.stack().visitAt(layer).layer);
    }
    m_view.mark([this, layers, nodes, block](const WeightPlace& place) {
        if (place.tower != selectedTower()) {
            return false;
        }
        const projects::Block* const of = m_session.isOpen() ? blockOf(place) : nullptr;
        return nodes.empty() ? layers.contains(place.layer) : of && of->name == block && nodes.contains(place.node);
    });
}

void GapCommands::train()
{
    if (!m_session.isOpen()) {
        return;
    }
    const GapView::Asked asked = m_view.asked();
    if (!asked.rankShare && !startOfFactors(m_session.project())) {
        m_view.tell(tr("All weights of the project are whole: give its network a rank, or choose one here."));
        return;
    }
    const projects::Sweep sweep = sweepOf(asked, m_session.shownTower());
    const auto members = projects::expand(m_session.wholeProject(), sweep);
    if (!members) {
        refuse(QString::fromStdString(members.error().text()));
        return;
    }
    for (const projects::SweepMember& member : *members) {
        if (member.error) {
            refuse(QString::fromStdString(member.error->text()));
            return;
        }
    }
    std::vector<projects::Sweep> sweeps = withSweep(m_session.wholeProject().sweeps, sweep.name, sweep);
    const bool same = sweeps == m_session.wholeProject().sweeps;
    if (!same &&
        m_documents.applyWholeEdit(projects::SetSweeps{std::move(sweeps)}) == DocumentViews::Applied::Refused) {
        return;
    }
    m_controller.enqueue(*members);
}

void addGapCommands(const WindowParts& parts)
{
    new GapCommands(parts);
}

} // namespace residua::app
