// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_folder.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QtTest>

#include <bit>
#include <cstring>

namespace residua::tests {

namespace fs = std::filesystem;
using engine::StoredTensor;
using engine::StoredType;

namespace {

std::uint32_t crc32(const std::string& text)
{
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char c : text) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
        }
    }
    return ~crc;
}

/// As BF16 (cut off) or F16 (a subset of the normal numbers, cut off) where the type says so.
std::vector<std::byte> bytesOf(const std::vector<float>& values, StoredType type)
{
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(engine::bytesOf(type)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(values[i]);
        if (type == StoredType::F32) {
            std::memcpy(bytes.data() + 4 * i, &bits, 4);
            continue;
        }
        const std::uint32_t exponent = (bits >> 23) & 0xFF;
        const std::uint32_t half = exponent < 113 ? 0 : ((exponent - 112) << 10) | ((bits >> 13) & 0x3FF);
        const auto cut = static_cast<std::uint16_t>(type == StoredType::Bf16 ? bits >> 16 : half | (bits >> 31 << 15));
        std::memcpy(bytes.data() + 2 * i, &cut, 2);
    }
    return bytes;
}

void writeText(const fs::path& path, const QByteArray& text)
{
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(text), text.size());
}

/// One token for each of as many words as the models have.
QByteArray wordTokeniser(int vocabulary)
{
    QJsonObject words;
    for (int i = 0; i < vocabulary; ++i) {
        words["w" + QString::number(i)] = i;
    }
    return QJsonDocument(
               QJsonObject{{"version", "1.0"},
                           {"added_tokens", QJsonArray()},
                           {"pre_tokenizer", QJsonObject{{"type", "WhitespaceSplit"}}},
                           {"model", QJsonObject{{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "w0"}}}})
        .toJson();
}

} // namespace

std::vector<float> valuesOf(const std::string& name, const std::vector<std::int64_t>& shape)
{
    std::uint64_t count = 1;
    for (const std::int64_t size : shape) {
        count *= static_cast<std::uint64_t>(size);
    }
    const bool gain = shape.size() == 1 && name.ends_with("weight");
    std::vector<float> values;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t bits = (i + crc32(name)) * 2654435761U;
        bits = (bits ^ (bits >> 13)) * 0x9E3779B97F4A7C15U;
        const double number = static_cast<double>(bits >> 40) / 0x1p24 - 0.5;
        values.push_back(static_cast<float>(gain ? 1 + number : number));
    }
    return values;
}

QJsonObject modelCases()
{
    QFile file(RESIDUA_MODEL_CASES);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

ModelFolder::ModelFolder(const QJsonObject& modelCase) : config(modelCase["config"].toObject())
{
    const QJsonObject tensors = modelCase["tensors"].toObject();
    for (auto tensor = tensors.begin(); tensor != tensors.end(); ++tensor) {
        for (const QJsonValue size : tensor.value().toArray()) {
            shapes[tensor.key().toStdString()].push_back(size.toInt());
        }
    }
}

void ModelFolder::write(const fs::path& folder) const
{
    fs::create_directories(folder);
    writeText(folder / "config.json", QJsonDocument(config).toJson());
    if (config["architectures"].toArray().first().toString().endsWith("ForSequenceClassification")) {
        writeText(folder / "tokenizer.json", wordTokeniser(config["vocab_size"].toInt()));
    }
    std::vector<std::vector<std::string>> names(static_cast<std::size_t>(shards));
    for (const auto& [name, shape] : shapes) {
        names[names.size() * crc32(name) >> 32].push_back(name);
    }
    if (shards == 1) {
        writeTensors(folder / "model.safetensors", names.front());
        return;
    }
    QJsonObject map;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string file = "model-" + std::to_string(i + 1) + ".safetensors";
        writeTensors(folder / file, names[i]);
        for (const std::string& name : names[i]) {
            map[QString::fromStdString(name)] = QString::fromStdString(file);
        }
    }
    writeText(folder / "model.safetensors.index.json", QJsonDocument(QJsonObject{{"weight_map", map}}).toJson());
}

void ModelFolder::writeTensors(const fs::path& file, const std::vector<std::string>& names) const
{
    std::map<std::string, std::vector<std::byte>> bytes;
    std::map<std::string, StoredTensor> tensors;
    for (const std::string& name : names) {
        bytes[name] = bytesOf(valuesOf(name, shapes.at(name)), type);
        tensors[name] = {type, shapes.at(name), bytes[name]};
    }
    QVERIFY(engine::writeSafetensors(file, tensors, {{"format", "pt"}}).ok());
}

} // namespace residua::tests
