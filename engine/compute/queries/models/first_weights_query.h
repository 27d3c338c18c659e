// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/queries/models/first_checkpoint.h"
#include "engine/compute/queries/models/weight_reading.h"

#include <optional>

namespace residua::engine {

/// A staged query that reads weights from elsewhere and writes them as the first checkpoint of a run. `Own` must reset
/// m_writing in its destructor if the writing uses its members.
template <class Own, class Request, class Ready>
class FirstWeightsQuery : public StagedQuery<Own, Request, Ready> {
    using Base = StagedQuery<Own, Request, Ready>;

public:
    using Base::Base;

    std::optional<Event> takeNews() final
    {
        const std::optional<double> share = shareOf(m_reading, m_writing);
        return share ? std::optional<Event>(QueryProgress{this->tag(), *share}) : std::nullopt;
    }

protected:
    using typename Base::Stage;

    Status readTensor() { return m_reading->readNext(); }
    Status writeTensor() { return m_writing->writeNext(); }

    std::optional<WeightReading> m_reading;   ///< refers to the files, which `Own` keeps
    std::optional<FirstCheckpoint> m_writing; ///< set while an incomplete run exists

private:
    [[nodiscard]] bool hasMore(Stage stage) const final
    {
        const Stage reading = &FirstWeightsQuery::readTensor;
        const Stage writing = &FirstWeightsQuery::writeTensor;
        return (stage == reading && !m_reading->atEnd()) || (stage == writing && !m_writing->atEnd());
    }
};

} // namespace residua::engine
