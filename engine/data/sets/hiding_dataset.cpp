// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/hiding_dataset.h"

namespace residua::engine {

Status HidingDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const Status filled = m_windows->fill(batch, split, seed, index, count);
    return filled ? hide(batch, split, seed, index * count) : filled;
}

Status HidingDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const Status filled = m_windows->fillSequential(batch, split, index, count);
    return filled && batch.batch > 0 ? hide(batch, split, m_dataSeed, kEvaluation + index * count) : filled;
}

} // namespace residua::engine
