// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The files that the data of the tests of divisions are read from.

#include "tests/support/file_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace residua::tests {

inline constexpr std::int64_t kLatentSide = 16; ///< of the pictures that the network reads

/// Words of several pieces, so that the number of hidden tokens differs by example.
inline std::string wordPieces()
{
    std::string text = "{'version':'1.0','added_tokens':["
                       "{'id':0,'content':'[UNK]','special':true,'single_word':false,'lstrip':false,'rstrip':false,"
                       "'normalized':false},"
                       "{'id':1,'content':'[MASK]','special':true,'single_word':false,'lstrip':false,'rstrip':false,"
                       "'normalized':false}],"
                       "'normalizer':null,'pre_tokenizer':{'type':'Whitespace'},'post_processor':null,"
                       "'decoder':{'type':'WordPiece','prefix':'##','cleanup':true},"
                       "'model':{'type':'WordPiece','unk_token':'[UNK]','continuing_subword_prefix':'##',"
                       "'max_input_chars_per_word':100,"
                       "'vocab':{'[UNK]':0,'[MASK]':1,'a':2,'b':3,'c':4,'##a':5,'##b':6,'##c':7}}}";
    std::ranges::replace(text, '\'', '"');
    return text;
}

/// Returns 40 latents of three channels as numpy.save writes them.
inline std::string latents()
{
    const std::string side = std::to_string(kLatentSide);
    const std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 3, " + side + ", " + side + "), }\n";
    std::vector<float> values(static_cast<std::size_t>(40 * 3 * kLatentSide * kLatentSide));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<float>(i * i % 97));
    }
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return std::string("\x93NUMPY\x01\x00", 8) + littleEndian(header.size(), 2) + header + bytes;
}

/// Writes words.json, a tokeniser of pieces; text.txt and more.txt; table.csv, texts of two classes; lines.jsonl;
/// ids.bin; and latents/latents.npy.
inline void writeDivisionFiles(const std::filesystem::path& folder)
{
    const auto write = [](const std::filesystem::path& file, const std::string& bytes) {
        std::ofstream(file, std::ios::binary) << bytes;
    };
    write(folder / "words.json", wordPieces());
    std::string text;
    for (int i = 0; i < 900; ++i) {
        text += i % 7 == 0 ? "abcab " : i % 3 == 0 ? "bca " : i % 2 == 0 ? "a " : "cb ";
    }
    write(folder / "text.txt", text);
    write(folder / "more.txt", std::string(text.rbegin(), text.rend()));
    std::string table = "text,label\n";
    std::string lines;
    for (int i = 0; i < 60; ++i) {
        table += text.substr(static_cast<std::size_t>(i), static_cast<std::size_t>(3 + i % 11)) + "," +
                 (i % 2 == 0 ? "x" : "y") + "\n";
        lines += "{\"text\":\"" + text.substr(static_cast<std::size_t>(i), 40) + "\"}\n";
    }
    write(folder / "table.csv", table);
    write(folder / "lines.jsonl", lines);
    std::string ids;
    for (int i = 0; i < 3000; ++i) {
        ids += {static_cast<char>(i * i % 23), '\0'};
    }
    write(folder / "ids.bin", ids);
    std::filesystem::create_directories(folder / "latents");
    write(folder / "latents/latents.npy", latents());
}

} // namespace residua::tests
