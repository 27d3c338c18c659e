// SPDX-License-Identifier: GPL-3.0-or-later
// Uses Zstandard's own library, because libarchive refuses the windows of --long.
#include "engine/data/text/compressed_file.h"

#include "projects/base/text.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <vector>

namespace residua::engine {
namespace {

constexpr int kLeastWindowBits = 27; ///< supported by every decoder of the format's library
constexpr int kMostWindowBits = 31;

class ZstdDecompressor : public Decompressor {
public:
    ZstdDecompressor(InputFile file, std::uint64_t mostWindow)
        : m_file(std::move(file)), m_context(ZSTD_createDCtx(), &ZSTD_freeDCtx), m_buffer(ZSTD_DStreamInSize())
    {
        if (!m_context) {
            throw std::bad_alloc();
        }
        const int bits = std::clamp(static_cast<int>(std::bit_width(mostWindow)), kLeastWindowBits, kMostWindowBits);
        ZSTD_DCtx_setParameter(m_context.get(), ZSTD_d_windowLogMax, bits);
    }

    Result<std::size_t> read(std::span<char> out) override
    {
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        while (output.pos == 0) {
            if (m_input.pos == m_input.size) {
                if (m_done == m_file.size()) {
                    break;
                }
                RESIDUA_TRY(fill());
            }
            m_left = ZSTD_decompressStream(m_context.get(), &output, &m_input);
            if (ZSTD_isError(m_left) != 0) {
                return notDecompressed(m_file, "zstd", ZSTD_getErrorName(m_left));
            }
        }
        if (output.pos == 0 && m_left != 0) {
            return notDecompressed(m_file, "zstd", "the last frame is not complete");
        }
        return output.pos;
    }

private:
    Status fill()
    {
        const std::size_t size = std::min<std::uint64_t>(m_buffer.size(), m_file.size() - m_done);
        const Status read = m_file.read(m_done, std::as_writable_bytes(std::span(m_buffer).first(size)));
        m_done += size;
        m_input = {m_buffer.data(), size, 0};
        return read;
    }

    InputFile m_file;
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> m_context;
    std::vector<char> m_buffer;
    ZSTD_inBuffer m_input{nullptr, 0, 0};
    std::uint64_t m_done = 0; ///< bytes of the file read so far
    std::size_t m_left = 0;   ///< 0 at the end of a frame
};

} // namespace

std::unique_ptr<Decompressor> zstdDecompressor(InputFile file, std::uint64_t mostWindow)
{
    return std::make_unique<ZstdDecompressor>(std::move(file), mostWindow);
}

std::uint64_t windowOf(const std::filesystem::path& path)
{
    // RFC 8878, 3.1.1.1.2: a frame of several segments has a byte with exponent and mantissa after its descriptor.
    constexpr std::size_t kDescriptor = 4;
    constexpr unsigned kSingleSegment = 0x20;
    const auto head = headOf(path, nullptr, kDescriptor + 2);
    if (!head || head->size() < kDescriptor + 2 || !head->starts_with("\x28\xb5\x2f\xfd") ||
        (static_cast<unsigned char>((*head)[kDescriptor]) & kSingleSegment) != 0) {
        return 0;
    }
    const auto window = static_cast<unsigned char>((*head)[kDescriptor + 1]);
    const std::uint64_t base = std::uint64_t{1} << (10 + window / 8);
    return base + base / 8 * (window % 8);
}

} // namespace residua::engine
