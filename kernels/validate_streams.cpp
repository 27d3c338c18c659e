// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/streams.h"

#include <cmath>

namespace residua::kernels {
namespace {

template <class Pointer>
bool allPresent(const Pointer (&pointers)[kMaxStreams], std::int32_t count)
{
    for (std::int32_t i = 0; i < count; ++i)
        if (!pointers[i])
            return false;
    return true;
}

bool isPart(std::int32_t count, std::int32_t streams)
{
    return count == 0 || count == 1 || count == streams;
}

Status validate(const StreamSite& site)
{
    if (site.dataType < DataType::float32 || site.dataType > DataType::float64 || site.norm < StreamNorm::all ||
        site.norm > StreamNorm::centred || site.read < StreamRead::fixed || site.read > StreamRead::tanh)
        return Status::badKind;
    if (site.tokens < 0 || site.width < 1 || site.logits < 0 || !fitsStreams(site.streams, site.logits, site.norm) ||
        !isPart(site.branches, site.streams) || !isPart(site.reads, site.streams))
        return Status::badShape;
    if (site.read != StreamRead::fixed) {
        if (site.norm == StreamNorm::all && site.reads > 1)
            return Status::badKind;
        if (site.logits < (site.norm == StreamNorm::all ? site.streams : site.reads))
            return Status::badShape;
    }
    if (site.logits > 0 && !(std::isfinite(site.eps) && site.eps >= 0))
        return Status::badEpsilon;
    if (site.tokens == 0)
        return Status::ok;
    const bool writes =
        site.branches == 0 || (allPresent(site.old, site.streams) && allPresent(site.branch, site.branches) &&
                               (site.weights || site.tokenWeights));
    return writes && (site.logits == 0 || site.rows) ? Status::ok : Status::missingPointer;
}

} // namespace

Status validate(const StreamsForward& streams)
{
    const StreamSite& site = streams.site;
    if (const Status status = validate(site); status != Status::ok || site.tokens == 0)
        return status;
    const bool normed =
        site.logits == 0 || (streams.y && streams.rstd && (site.norm != StreamNorm::centred || streams.mean));
    return normed && allPresent(streams.stream, site.streams) && allPresent(streams.out, site.reads)
               ? Status::ok
               : Status::missingPointer;
}

Status validate(const StreamsBackward& streams)
{
    const StreamSite& site = streams.site;
    if (const Status status = validate(site); status != Status::ok || site.tokens == 0)
        return status;
    const bool normed = site.logits == 0 || (streams.y && streams.rstd && streams.productGrad &&
                                             (site.norm != StreamNorm::centred || streams.mean));
    const bool written = site.branches == 0 || (streams.weightGrad && allPresent(streams.branchGrad, site.branches));
    const bool read = site.reads == 0 || (streams.readGrad && allPresent(streams.outGrad, site.reads));
    return normed && written && read && allPresent(streams.stream, site.streams) &&
                   allPresent(streams.oldGrad, site.streams)
               ? Status::ok
               : Status::missingPointer;
}

} // namespace residua::kernels
