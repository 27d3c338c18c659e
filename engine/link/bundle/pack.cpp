// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/pack.h"

#include "engine/base/files/content_hash.h"
#include "engine/link/bundle/archive.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/packing_list.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Reads the files twice: for the checksums, which the list at the front contains, and to write them.
class Packer {
public:
    Packer(const PackingList& list, const BundleWatch& watch) : m_list(list), m_watch(watch)
    {
        for (const ListedFile& file : list.files) {
            m_total += 2 * file.bytes;
        }
    }

    Result<PackedBundle> write(const fs::path& file)
    {
        PackedBundle packed{m_list.contents, 0, m_list.notes};
        for (const ListedFile& listed : m_list.files) {
            const auto checksum =
                RESIDUA_TRY(goOver(listed, [](std::span<const std::byte>) { return Status(Done{}); }));
            packed.contents.files.push_back({listed.path, listed.bytes, checksum});
        }
        auto writer = RESIDUA_TRY(ArchiveWriter::create(file));
        const std::string manifest = manifestText(packed.contents);
        if (manifest.size() > kLongestManifest) {
            return Error{m_list.project.string(), "has too many files for one bundle"};
        }
        RESIDUA_TRY(writer.begin(kManifest, static_cast<std::int64_t>(manifest.size())));
        RESIDUA_TRY(writer.write(asBytes(manifest)));
        for (std::size_t i = 0; i < m_list.files.size(); ++i) {
            RESIDUA_TRY(add(writer, m_list.files[i], packed.contents.files[i].checksum));
        }
        packed.size = RESIDUA_TRY(writer.finish());
        return packed;
    }

private:
    Status add(ArchiveWriter& writer, const ListedFile& listed, std::uint32_t expected)
    {
        RESIDUA_TRY(writer.begin(listed.path, listed.bytes));
        const auto checksum =
            RESIDUA_TRY(goOver(listed, [&](std::span<const std::byte> bytes) { return writer.write(bytes); }));
        return checksum == expected ? Status(Done{})
                                    : Error{listed.source.string(), "was changed while it was packed: pack again"};
    }

    /// Passes the bytes to `take` in pieces and returns their checksum.
    template <class Take>
    Result<std::uint32_t> goOver(const ListedFile& listed, Take take)
    {
        if (listed.text) {
            const Status taken = take(asBytes(*listed.text));
            m_done += listed.bytes;
            return taken ? Result<std::uint32_t>(crc32c(asBytes(*listed.text))) : taken.error();
        }
        const auto file = RESIDUA_TRY(InputFile::open(listed.source));
        if (std::cmp_not_equal(file.size(), listed.bytes)) {
            return Error{listed.source.string(), "was changed while it was packed: pack again"};
        }
        std::uint32_t checksum = 0;
        for (std::uint64_t at = 0; at < file.size();) {
            m_buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file.size() - at)));
            RESIDUA_TRY(file.read(at, m_buffer));
            RESIDUA_TRY(take(m_buffer));
            checksum = crc32c(m_buffer, checksum);
            at += m_buffer.size();
            m_done += static_cast<std::int64_t>(m_buffer.size());
            if (m_watch &&
                !m_watch(static_cast<double>(m_done) / static_cast<double>(std::max<std::int64_t>(m_total, 1)))) {
                return Error{"", "given up: no bundle is written"};
            }
        }
        return checksum;
    }

    const PackingList& m_list;
    const BundleWatch& m_watch;
    std::int64_t m_total = 0;
    std::int64_t m_done = 0;
    std::vector<std::byte> m_buffer;
};

/// Refuses to overwrite a file that is to be packed.
Status checkOther(const PackingList& list, const fs::path& file)
{
    std::error_code code;
    if (!fs::exists(file, code)) {
        return Done{};
    }
    for (const ListedFile& listed : list.files) {
        // A file that is packed as a text replaces the file at its path.
        const fs::path source = listed.text ? list.project / listed.path : listed.source;
        if (fs::equivalent(file, source, code)) {
            return Error{file.string(), "is one of the files that are to be packed; expected the name of a bundle"};
        }
    }
    return Done{};
}

} // namespace

Result<PackedBundle> weighBundle(const PackRequest& request)
{
    auto list = RESIDUA_TRY(packingList(request, Listing::ToWeigh));
    PackedBundle weighed{std::move(list.contents), 0, std::move(list.notes)};
    for (const ListedFile& file : list.files) {
        weighed.contents.files.push_back({file.path, file.bytes, 0});
    }
    return weighed;
}

Result<PackedBundle> pack(const PackRequest& request, const fs::path& file, const BundleWatch& watch)
{
    std::error_code code;
    const fs::file_status there = fs::status(file, code);
    if (fs::exists(there) && !fs::is_regular_file(there)) {
        return Error{file.string(), "is no plain file, expected the name of a bundle to write"};
    }
    const auto list = RESIDUA_TRY(packingList(request, Listing::ToPack));
    RESIDUA_TRY(checkOther(list, file));
    PackedBundle packed;
    const Status written = replaceBy(
        [&](const fs::path& temporary) -> Status {
            packed = RESIDUA_TRY(Packer(list, watch).write(temporary));
            return Done{};
        },
        file);
    return written ? Result<PackedBundle>(std::move(packed)) : written.error();
}

} // namespace residua::engine
