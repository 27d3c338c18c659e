// SPDX-License-Identifier: GPL-3.0-or-later
// How fast text becomes tokens:
//   bench_tokens TEXT TOKENIZER_JSON...
// For each file it prints MB/s (10^6 bytes a second) on one core, the first time and with the words of before still
// known, on all cores, and of decoding, and how many tokens there are. 5 MB/s on one core is the aim.
// peer_tokenizers.py prints the same of the library `tokenizers`.
#include "engine/data/tokens/text_corpus.h"
#include "projects/base/whole_file.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace residua;
using namespace residua::engine;
using Clock = std::chrono::steady_clock;

double rate(std::size_t bytes, Clock::time_point start)
{
    return static_cast<double>(bytes) / 1e6 / std::chrono::duration<double>(Clock::now() - start).count();
}

Status measure(const std::string& text, const char* path)
{
    const auto codec = tokenizerJsonCodec(path);
    if (!codec) {
        return codec.error();
    }
    std::vector<std::uint32_t> ids;
    double rates[2] = {};
    for (double& each : rates) {
        ids.clear();
        const auto start = Clock::now();
        if (Status encoded = (*codec)->encode(text, TextStart::Begins, ids); !encoded) {
            return encoded;
        }
        each = rate(text.size(), start);
    }
    const Bytes bytes = bytesInMemory(text);
    const auto start = Clock::now();
    const auto parts = partsOf({{bytes, 0, bytes->size()}}, **codec, {});
    const auto tokens = parts ? encodeParts(*parts, **codec, {}, path, {}) : Result<TokenSequence>(parts.error());
    if (!tokens) {
        return tokens.error();
    }
    const double all = rate(text.size(), start);
    const std::vector<std::int64_t> wide(ids.begin(), ids.end());
    const auto decoding = Clock::now();
    const std::size_t decoded = (*codec)->decode(wide).size();
    std::printf("%s: %.1f MB/s at first, %.1f MB/s then, %.1f MB/s on all cores, %.1f MB/s back, %zu tokens%s\n", path,
                rates[0], rates[1], all, rate(decoded, decoding), ids.size(),
                static_cast<std::size_t>(tokens->size()) == ids.size() ? "" : " (others in parts)");
    return Done{};
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 3) {
        std::fprintf(stderr, "bench_tokens TEXT TOKENIZER_JSON...\n");
        return 2;
    }
    const auto text = readFile(arguments[1], std::numeric_limits<std::uint64_t>::max());
    if (!text) {
        std::fprintf(stderr, "%s\n", text.error().text().c_str());
        return 1;
    }
    for (int i = 2; i < count; ++i) {
        if (const Status measured = measure(*text, arguments[i]); !measured) {
            std::fprintf(stderr, "%s\n", measured.error().text().c_str());
            return 1;
        }
    }
    return 0;
}
