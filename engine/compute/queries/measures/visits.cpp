// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/base/query.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/queries/measures/loaded_model.h"
#include "engine/compute/train/visit_measures.h"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

class VisitsQuery final : public StagedQuery<VisitsQuery, VisitsRequest, VisitsReady> {
public:
    using StagedQuery::StagedQuery;

private:
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&VisitsQuery::load, &VisitsQuery::measure};
        return kStages;
    }
    bool hasMore(Stage stage) const override { return stage == &VisitsQuery::measure && !m_measures->atEnd(); }

    Status load()
    {
        const RunRef& of = m_request.of;
        LoadedModel model = RESIDUA_TRY(of.runDirectory.empty()
                                            ? startToMeasure(m_request.project, of.projectDirectory, watch(),
                                                             m_request.tower, LoadAs::WithSettledVisits)
                                            : loadToMeasure(of, watch(), m_request.tower, LoadAs::WithSettledVisits));
        RESIDUA_TRY(checkVisits(model.parts.project, m_request.loop));
        m_model.emplace(std::move(model));
        m_ready.step = m_model->step;
        m_ready.notes = m_model->notes;
        TrainerParts& parts = m_model->parts;
        m_measures.emplace(*parts.network, *parts.dataset, parts.project, parts.device,
                           batchesFor(m_request.batches, *m_model), m_model->step,
                           static_cast<std::size_t>(m_request.loop - 1), m_request.apart);
        return Done{};
    }

    Status measure()
    {
        RESIDUA_TRY(m_measures->advance());
        if (m_measures->atEnd()) {
            m_ready.curves = m_measures->curves();
            m_ready.loss = m_measures->loss();
            m_ready.batches = m_measures->batchesDone();
            std::ranges::move(m_measures->notes(), std::back_inserter(m_ready.notes));
        }
        return Done{};
    }

    std::optional<LoadedModel> m_model;
    std::optional<VisitMeasures> m_measures;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const VisitsRequest& request)
{
    return std::make_unique<VisitsQuery>(request);
}

} // namespace residua::engine
