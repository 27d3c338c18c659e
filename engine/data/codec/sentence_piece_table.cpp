// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/codec/sentence_piece_table.h"

#include <sentencepiece_processor.h>

#include <memory>
#include <new>
#include <vector>

namespace residua::engine {
namespace {

using sentencepiece::SentencePieceProcessor;
using Model = SentencePieceTable::Model;
using Answer = SentencePieceAnswer;

const SentencePieceProcessor& processorOf(const Model* model)
{
    return *static_cast<const SentencePieceProcessor*>(model);
}

/// Calls `work` and converts its exceptions to answers.
template <class Work>
Answer answered(Work&& work)
{
    try {
        return work() ? Answer::Done : Answer::Refused;
    } catch (const std::bad_alloc&) {
        return Answer::NoMemory;
    } catch (...) {
        return Answer::Refused;
    }
}

Answer open(const char* bytes, std::size_t size, Model** model)
{
    return answered([&] {
        auto processor = std::make_unique<SentencePieceProcessor>();
        if (!processor->LoadFromSerializedProto({bytes, size}).ok()) {
            return false;
        }
        *model = processor.release();
        return true;
    });
}

void close(Model* model)
{
    delete static_cast<SentencePieceProcessor*>(model);
}

std::int32_t pieces(const Model* model)
{
    return processorOf(model).GetPieceSize();
}

std::int32_t endOfText(const Model* model)
{
    return processorOf(model).eos_id();
}

std::int32_t unknown(const Model* model)
{
    return processorOf(model).unk_id();
}

Answer encode(const Model* model, const char* text, std::size_t size, void* to,
              void (*put)(void* to, const int* ids, std::size_t count))
{
    return answered([&] {
        std::vector<int> ids;
        if (!processorOf(model).Encode({text, size}, &ids).ok()) {
            return false;
        }
        put(to, ids.data(), ids.size());
        return true;
    });
}

Answer decode(const Model* model, const int* ids, std::size_t count, void* to,
              void (*put)(void* to, const char* text, std::size_t size))
{
    return answered([&] {
        std::string text;
        if (!processorOf(model).Decode(std::vector<int>(ids, ids + count), &text).ok()) {
            return false;
        }
        put(to, text.data(), text.size());
        return true;
    });
}

Answer piece(const Model* model, int id, void* to, void (*put)(void* to, const char* text, std::size_t size))
{
    return answered([&] {
        const std::string& text = processorOf(model).IdToPiece(id);
        put(to, text.data(), text.size());
        return true;
    });
}

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) const residua::engine::SentencePieceTable* residuaSentencePiece()
{
    using namespace residua::engine;
    static const SentencePieceTable table{.version = kSentencePieceTableVersion,
                                          .open = &open,
                                          .close = &close,
                                          .pieces = &pieces,
                                          .endOfText = &endOfText,
                                          .unknown = &unknown,
                                          .encode = &encode,
                                          .decode = &decode,
                                          .piece = &piece};
    return &table;
}
