// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/numpy_array.h"

#include "engine/data/text/data_files.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace residua::engine {
namespace {

/// Returns the value of a key in the header of a NumPy array, up to its comma; empty if the key is missing.
std::string_view valueIn(std::string_view header, std::string_view key)
{
    const std::size_t at = header.find(key);
    if (at == std::string_view::npos) {
        return {};
    }
    header = header.substr(at + key.size());
    const std::size_t begin = header.find_first_not_of(": ");
    header = begin == std::string_view::npos ? std::string_view() : header.substr(begin);
    const std::size_t end = header.find(header.starts_with('(') ? ')' : ',');
    return header.substr(0, end);
}

/// Returns the sizes of a shape such as "(3, 4"; nullopt if the text is no shape, or of more elements than a file has.
std::optional<std::vector<std::int64_t>> sizesOf(std::string_view shape)
{
    if (!shape.starts_with('(')) {
        return std::nullopt;
    }
    std::vector<std::int64_t> sizes;
    std::int64_t elements = 1;
    for (shape.remove_prefix(1); !shape.empty();) {
        const std::size_t comma = std::min(shape.find(','), shape.size());
        const std::string_view digits = shape.substr(0, comma);
        shape.remove_prefix(std::min(comma + 1, shape.size()));
        const std::size_t begin = digits.find_first_not_of(' ');
        if (begin == std::string_view::npos) {
            continue;
        }
        const auto size = numberFrom<std::int64_t>(digits.substr(begin));
        if (!size || *size < 0 || (*size > 0 && elements > (std::int64_t{1} << 50) / *size)) {
            return std::nullopt;
        }
        elements *= *size;
        sizes.push_back(*size);
    }
    return sizes;
}

} // namespace

Result<bool> isNumpy(const Bytes& file)
{
    std::array<char, kNumpyMark.size()> mark{};
    if (file->size() <= mark.size()) {
        return false;
    }
    const Status status = file->read(0, std::as_writable_bytes(std::span(mark)));
    return status ? Result<bool>(std::string_view(mark.data(), mark.size()) == kNumpyMark) : status.error();
}

Result<NumpyArray> readNumpy(const Bytes& file, const std::string& place)
{
    constexpr std::size_t kMostHeader = std::size_t{1} << 16;
    std::string bytes(std::min<std::uint64_t>(file->size(), kMostHeader), '\0');
    RESIDUA_TRY(file->read(0, std::as_writable_bytes(std::span(bytes))));
    if (!bytes.starts_with(kNumpyMark)) {
        return Error{place, "is not a NumPy array, expected a file that numpy.save wrote"};
    }
    const auto number = [&](std::size_t at, std::size_t size) {
        std::size_t value = 0;
        for (std::size_t i = size; i-- > 0 && at + i < bytes.size();) {
            value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
        }
        return value;
    };
    const std::size_t sizeBytes = number(6, 1) == 1 ? 2 : 4; // of the header's length, behind the version
    const std::size_t begin = 8 + sizeBytes;
    const std::size_t end = begin + number(8, sizeBytes);
    if (end > bytes.size()) {
        return Error{place, "is a NumPy array that is truncated, or has a header of more than 64 KiB"};
    }
    const std::string_view header = std::string_view(bytes).substr(begin, end - begin);
    const auto shape = sizesOf(valueIn(header, "'shape'"));
    if (!shape) {
        return Error{place, "is a NumPy array whose header has no shape, or one of too many elements"};
    }
    std::string_view type = valueIn(header, "'descr'");
    if (type.size() >= 2 && type.front() == '\'') {
        type = type.substr(1, type.size() - 2);
    }
    return NumpyArray{std::string(type),
                      *shape,
                      valueIn(header, "'fortran_order'") != "False" && shape->size() > 1,
                      {file, end, file->size() - end}};
}

} // namespace residua::engine
