// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/streams.h"

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/parallel.h"

#include <algorithm>

namespace residua::kernels {
namespace {

std::int64_t numberBytes(const StreamSite& site)
{
    return site.dataType == DataType::float64 ? 8 : 4;
}

ChunkLayout layoutOf(const StreamsBackward& streams)
{
    const ChunkLayout tokens = chunksOf(streams.site.tokens);
    const std::int64_t elements = streams.rowsGrad ? streamRowElements(streams.site) : 0;
    return {tokens.chunkTokens, tokens.chunks, (elements + 15) / 16 * 16};
}

} // namespace

Status streamsForward(const StreamsForward& streams, const Parallel& parallel)
{
    if (const Status status = validate(streams); status != Status::ok)
        return status;
    const StreamSite& site = streams.site;
    forRange(parallel, site.tokens, grainFor(site.width * 2 * site.streams * numberBytes(site)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().streamsForward(streams, begin, end); });
    return Status::ok;
}

std::size_t streamsBackwardWorkspace(const StreamsBackward& streams)
{
    const ChunkLayout layout = layoutOf(streams);
    return std::size_t(layout.chunks * layout.stride * numberBytes(streams.site));
}

Status streamsBackward(const StreamsBackward& streams, const Parallel& parallel)
{
    if (const Status status = validate(streams); status != Status::ok)
        return status;
    const std::size_t needed = streamsBackwardWorkspace(streams);
    if (needed > streams.workspaceBytes || (needed > 0 && !streams.workspace))
        return Status::workspaceTooSmall;
    const StreamSite& site = streams.site;
    const ChunkLayout layout = layoutOf(streams);
    const std::int64_t partialBytes = layout.stride * numberBytes(site);
    forRange(parallel, layout.chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            void* partial = partialBytes > 0 ? static_cast<char*>(streams.workspace) + chunk * partialBytes : nullptr;
            isaTable().streamsBackward(streams, chunk * layout.chunkTokens,
                                       std::min(site.tokens, (chunk + 1) * layout.chunkTokens), partial);
        }
    });
    if (partialBytes > 0)
        sumChunks(site.dataType, streams.workspace, 0, layout, streamRowElements(site), streams.rowsGrad, parallel);
    return Status::ok;
}

} // namespace residua::kernels
