// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/data/pictures/picture_files.h"

#include "tests/support/file_bytes.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <jpeglib.h> // needs <cstdio> before it

#include <png.h>
#include <webp/encode.h>

namespace residua::engine {

using tests::littleEndian;

namespace {

std::string pngOf(const void* values, std::int64_t height, std::int64_t width, png_uint_32 format)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = format;
    png_alloc_size_t size = 0;
    png_image_write_to_memory(&image, nullptr, &size, 0, values, 0, nullptr);
    std::string bytes(size, '\0');
    png_image_write_to_memory(&image, bytes.data(), &size, 0, values, 0, nullptr);
    bytes.resize(size);
    return bytes;
}

std::string jpegOf(const Picture& picture, J_COLOR_SPACE space)
{
    jpeg_compress_struct encoder{};
    jpeg_error_mgr errors{};
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&encoder, &buffer, &size);
    encoder.image_height = static_cast<JDIMENSION>(picture.form.height);
    encoder.image_width = static_cast<JDIMENSION>(picture.form.width);
    encoder.input_components = static_cast<int>(picture.form.channels);
    encoder.in_color_space = space;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, 95, TRUE);
    jpeg_start_compress(&encoder, TRUE);
    std::vector<std::uint8_t> values = picture.values;
    while (encoder.next_scanline < encoder.image_height) {
        JSAMPROW row = values.data() +
                       static_cast<std::int64_t>(encoder.next_scanline) * picture.form.width * picture.form.channels;
        jpeg_write_scanlines(&encoder, &row, 1);
    }
    jpeg_finish_compress(&encoder);
    std::string bytes(reinterpret_cast<const char*>(buffer), size);
    jpeg_destroy_compress(&encoder);
    std::free(buffer);
    return bytes;
}

} // namespace

void writeFile(const std::filesystem::path& path, const std::string& bytes)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

Picture ramp(std::int64_t height, std::int64_t width, std::int64_t channels)
{
    Picture picture{{height, width, channels}, {}};
    for (std::int64_t i = 0; i < picture.form.values(); ++i) {
        picture.values.push_back(static_cast<std::uint8_t>(i * 7 % 251));
    }
    return picture;
}

std::string pngOf(const Picture& picture)
{
    const auto& [height, width, channels] = picture.form;
    return pngOf(picture.values.data(), height, width,
                 channels == 1   ? PNG_FORMAT_GRAY
                 : channels == 3 ? PNG_FORMAT_RGB
                                 : PNG_FORMAT_RGBA);
}

std::string deepPng()
{
    const std::vector<std::uint16_t> values{0, 60000, 30000, 3};
    return pngOf(values.data(), 2, 2, PNG_FORMAT_LINEAR_Y);
}

std::string jpegOf(const Picture& picture)
{
    return jpegOf(picture, picture.form.channels == 1 ? JCS_GRAYSCALE : JCS_RGB);
}

std::string cmykJpegOf(const Picture& picture)
{
    return jpegOf(picture, JCS_CMYK);
}

std::string webpOf(const Picture& picture)
{
    std::uint8_t* bytes = nullptr;
    const std::size_t size =
        WebPEncodeLosslessRGB(picture.values.data(), static_cast<int>(picture.form.width),
                              static_cast<int>(picture.form.height), static_cast<int>(picture.form.width * 3), &bytes);
    std::string text(reinterpret_cast<const char*>(bytes), size);
    WebPFree(bytes);
    return text;
}

std::string animatedWebp()
{
    const std::string extended = "VP8X" + littleEndian(10, 4) + "\2" + std::string(3, '\0') + littleEndian(3, 3) +
                                 littleEndian(3, 3) + "ANIM" + littleEndian(6, 4) + std::string(6, '\0');
    return "RIFF" + littleEndian(4 + extended.size(), 4) + "WEBP" + extended;
}

} // namespace residua::engine
