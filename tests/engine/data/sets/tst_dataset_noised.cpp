// SPDX-License-Identifier: GPL-3.0-or-later
// Images with noise, and latents that the user made.
#include "dataset_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/base/files/safetensors.h"
#include "engine/maths/theory/noise_schedule.h"
#include "projects/check/validate.h"
#include "projects/commands/new_project.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/file_bytes.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

/// An array as numpy.save writes it.
std::string numpyFile(const std::string& type, const std::string& shape, const std::string& bytes)
{
    const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
    return std::string("\x93NUMPY\x01\x00", 8) + littleEndian(header.size(), 2) + header + bytes;
}

projects::LatentData smallLatents(const std::string& path)
{
    return {.path = path, .validationPath = {}, .height = 2, .width = 1, .channels = 3, .classes = 4, .scale = 0.5};
}

/// Six latents of 3 × 2 × 1 values 0, 1, 2, … with the labels 0, 1, 2, 3, 0, 1.
std::vector<float> latentValues()
{
    std::vector<float> values(36);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i);
    }
    return values;
}
const std::vector<std::int64_t> kLatentLabels{0, 1, 2, 3, 0, 1};

} // namespace

class TestDatasetNoised : public DatasetHarness {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        newFolder();
        m_project.data = {projects::DrawnPictures{.size = 8, .samples = 40}, 0.25, 0.0};
        m_project.training.batch = 4;
        m_project.network.objective = projects::Objective::Classification;
        m_images = opened(m_project);
        m_project.network.objective = projects::Objective::Diffusion;
    }

    void examplesHaveTheFieldsOfTheDocument()
    {
        const auto noised = opened(m_project);
        QVERIFY(noised->schema() == projects::examplesOf(m_project));
        QVERIFY(noised->schema().isNoised() && !m_images->schema().isNoised());
        QCOMPARE(noised->schema().output().features(), std::int64_t{2 * 3 * 8 * 8});
        QCOMPARE(noised->classes().size(), std::size_t{10});
        const auto outline = Dataset::outline(m_project);
        QVERIFY(outline.has_value() && outline->ok() && (*outline)->schema == noised->schema());
        Batch batch;
        QVERIFY(noised->fill(batch, Split::Train, 1, 0, 4).ok());
        const FedBatch fed = fedBatch(*noised, batch, m_project.data, 4);
        QCOMPARE(fed.examples.size(), std::size_t{4});
        QVERIFY(!fed.sheet.empty() && fed.examples[0].target.find(", step ") != std::string::npos);
    }

    /// √ᾱ x + √(1 − ᾱ) ε, of the image that is drawn without noise.
    void noiseIsMixedByTheSchedule()
    {
        const auto noised = opened(m_project);
        const NoiseSchedule schedule(m_project.data.diffusion);
        Batch clean;
        Batch batch;
        QVERIFY(m_images->fill(clean, Split::Train, 7, 3, 4).ok());
        QVERIFY(noised->fill(batch, Split::Train, 7, 3, 4).ok());
        const std::size_t each = 3 * 8 * 8;
        for (std::size_t row = 0; row < 4; ++row) {
            const double alphaBar = schedule.alphaBar(static_cast<std::size_t>(batch.values<std::int64_t>(2)[row]));
            for (std::size_t i = row * each; i < (row + 1) * each; ++i) {
                const double expected = std::sqrt(alphaBar) * double{clean.values<float>(0)[i]} +
                                        std::sqrt(1 - alphaBar) * double{batch.values<float>(1)[i]};
                QVERIFY(std::abs(batch.values<float>(0)[i] - expected) < 1e-6 * (1 + std::abs(expected)));
            }
            const std::int64_t label = batch.values<std::int64_t>(3)[row];
            QVERIFY(label == clean.values<std::int64_t>(1)[row] || label == 10);
        }
    }

    /// Equal numbers give equal examples, however they are divided into batches and whatever was drawn before.
    void drawsDependOnTheNumberAlone()
    {
        const auto noised = opened(m_project);
        Batch whole;
        QVERIFY(noised->fill(whole, Split::Train, 7, 1, 4).ok());
        const auto again = opened(m_project);
        Batch half;
        for (const std::int64_t index : {2, 3}) {
            QVERIFY(again->fill(half, Split::Train, 7, index, 2).ok());
            const auto first = static_cast<std::ptrdiff_t>(index - 2);
            for (const std::size_t field : {0, 1}) {
                const std::vector<float>& all = whole.values<float>(field);
                const std::vector<float>& part = half.values<float>(field);
                QVERIFY(std::equal(part.begin(), part.end(), all.begin() + first * std::ssize(part)));
            }
            for (const std::size_t field : {2, 3}) {
                const auto& all = whole.values<std::int64_t>(field);
                const auto& part = half.values<std::int64_t>(field);
                QVERIFY(std::equal(part.begin(), part.end(), all.begin() + first * std::ssize(part)));
            }
        }
        Batch other;
        QVERIFY(noised->fill(other, Split::Train, 8, 1, 4).ok());
        QVERIFY(other.values<float>(1) != whole.values<float>(1));
    }

    /// Steps are uniform, noise is standard normal, and a tenth of the classes is dropped in training alone.
    void drawsHaveTheirDistributions()
    {
        const auto noised = opened(m_project);
        Batch batch;
        constexpr std::int64_t kCount = 4000;
        QVERIFY(noised->fill(batch, Split::Train, 3, 0, kCount).ok());
        double steps = 0;
        for (const std::int64_t step : batch.values<std::int64_t>(2)) {
            QVERIFY(step >= 0 && step < 1000);
            steps += static_cast<double>(step) / kCount;
        }
        QVERIFY(std::abs(steps - 499.5) < 5 * 289 / std::sqrt(double{kCount}));
        double mean = 0;
        double square = 0;
        const std::vector<float>& noise = batch.values<float>(1);
        for (const float value : noise) {
            mean += double{value} / static_cast<double>(noise.size());
            square += double{value} * double{value} / static_cast<double>(noise.size());
        }
        QVERIFY(std::abs(mean) < 0.01 && std::abs(square - 1) < 0.01);
        const auto dropped = std::ranges::count(batch.values<std::int64_t>(3), 10);
        QVERIFY(std::abs(static_cast<double>(dropped) - 400) < 5 * 19);
        Batch held;
        QVERIFY(noised->fillSequential(held, Split::Validation, 0, 100).ok());
        QCOMPARE(held.batch, std::int64_t{10});
        QCOMPARE(std::ranges::count(held.values<std::int64_t>(3), 10), std::ptrdiff_t{0});
        Batch again;
        QVERIFY(noised->fillSequential(again, Split::Validation, 0, 100).ok());
        QVERIFY(again.fields == held.fields);
    }

    /// A safetensors file of each type and a folder have equal latents.
    void latentsAreRead_data()
    {
        QTest::addColumn<QString>("form");
        for (const char* const form : {"F32", "F64", "F16", "BF16", "npy"}) {
            QTest::newRow(form) << form;
        }
    }
    void latentsAreRead()
    {
        QFETCH(QString, form);
        const auto dataset = opened(onLatents(write(form.toStdString())));
        QVERIFY(dataset);
        QCOMPARE(dataset->size(Split::Train), std::int64_t{6});
        Batch batch;
        QVERIFY(dataset->fillSequential(batch, Split::Train, 0, 10).ok());
        QCOMPARE(batch.values<std::int64_t>(1), kLatentLabels);
        for (std::size_t i = 0; i < 36; ++i) {
            QCOMPARE(batch.values<float>(0)[i], static_cast<float>(i) * 0.5F);
        }
        QVERIFY(dataset->fill(batch, Split::Train, 1, 0, 6).ok()); // each once, in an order of its own
        std::vector<float> firsts;
        for (std::size_t row = 0; row < 6; ++row) {
            firsts.push_back(batch.values<float>(0)[row * 6]);
        }
        std::ranges::sort(firsts);
        QCOMPARE(firsts, (std::vector<float>{0, 3, 6, 9, 12, 15}));
        const FedBatch fed = fedBatch(*dataset, batch, onLatents("x").data, 6);
        QVERIFY(!fed.sheet.empty());
    }

    /// New projects have the form of the file.
    void latentsAreFoundWithTheirForm()
    {
        for (const char* const form : {"F32", "npy"}) {
            const std::string path = (m_folder / write(form)).string();
            const Result<projects::Source> found = dataAt(path, {});
            QVERIFY2(found.ok(), found ? "" : found.error().text().c_str());
            projects::LatentData expected = smallLatents(path);
            expected.scale = projects::LatentData{}.scale;
            QVERIFY(*found == projects::Source(expected));
            for (const char* const recipe : {"", "ancre-dit-s2"}) {
                const auto project = projects::projectFrom(projects::proposalFor(*found, recipe));
                QVERIFY2(project.ok(), project ? "" : project.error().text().c_str());
                QVERIFY(project->data.source == *found);
                QVERIFY2(!projects::hasErrors(projects::validate(*project)), recipe);
            }
        }
        writeAll(m_folder / "npy" / "latents.npy", numpyFile("<f4", "6, 6", packed(latentValues())));
        QVERIFY(isRefusedAt(dataAt(m_folder / "npy", {}), "latents.npy", "[examples, channels, height, width]"));
        std::filesystem::remove(m_folder / "npy" / "latents.npy");
        std::filesystem::remove(m_folder / "npy" / "labels.npy");
        QVERIFY(isRefusedAt(dataAt(m_folder / "npy", {}), "npy", "latents (latents.npy, or a .safetensors file"));
    }

    void otherLatentsAreRefused()
    {
        projects::Project project = onLatents(write("npy"));
        auto& source = std::get<projects::LatentData>(project.data.source);
        source.channels = 4;
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "latents.npy", "[examples, 4, 2, 1]"));
        source.channels = 3;
        source.classes = 3;
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "labels.npy", "the label 3 at row 3"));
        source.classes = 4;
        writeAll(m_folder / "npy" / "labels.npy", numpyFile("<i8", "5,", packed(std::vector<std::int64_t>(5))));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "labels.npy", "[6]"));
        writeAll(m_folder / "npy" / "labels.npy", numpyFile("<f4", "6,", packed(std::vector<float>(6))));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "labels.npy", "F32"));
        writeAll(m_folder / "npy" / "latents.npy", numpyFile("<f4", "6, 3, 2, 1", "short"));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "latents.npy", "truncated"));
        writeAll(m_folder / "npy" / "latents.npy", numpyFile("<c8", "6, 3, 2, 1", std::string(288, '\0')));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "latents.npy", "<c8"));
        writeAll(m_folder / "npy" / "latents.npy", numpyFile("<f4", "9000000000000, 3, 2, 1", "short"));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "latents.npy", "truncated"));
        writeAll(m_folder / "npy" / "latents.npy", std::string(200, 'x'));
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "latents.npy", "not a NumPy array"));
        std::filesystem::remove(m_folder / "npy" / "latents.npy");
        QVERIFY(isRefusedAt(Dataset::open(project, m_folder), "npy", "\"latents\""));
    }

    void valuesThatAreNotFiniteAreRefused()
    {
        const projects::Project project = onLatents(write("npy"));
        std::vector<float> values = latentValues();
        values[20] = NAN;
        writeAll(m_folder / "npy" / "latents.npy", numpyFile("<f4", "6, 3, 2, 1", packed(values)));
        const auto dataset = opened(project);
        Batch batch;
        QVERIFY(dataset && isRefusedAt(dataset->fillSequential(batch, Split::Train, 0, 10), "latents.npy", "row 3"));
    }

    void latentsWithoutLabelsAreOfOneClass()
    {
        const projects::Project project = onLatents(write("npy"));
        std::filesystem::remove(m_folder / "npy" / "labels.npy");
        const auto dataset = opened(project);
        QVERIFY(dataset && dataset->notes().size() == 1);
        Batch batch;
        QVERIFY(dataset->fillSequential(batch, Split::Train, 0, 10).ok());
        QCOMPARE(batch.values<std::int64_t>(1), std::vector<std::int64_t>(6, 0));
    }

private:
    [[nodiscard]] std::unique_ptr<Dataset> opened(const projects::Project& project) const
    {
        Result<std::unique_ptr<Dataset>> dataset = Dataset::open(project, m_folder);
        return dataset ? *std::move(dataset) : nullptr;
    }

    [[nodiscard]] static projects::Project onLatents(const std::string& path)
    {
        projects::Project project;
        project.data = {smallLatents(path), 0.0, 0.0};
        project.network.objective = projects::Objective::Classification;
        return project;
    }

    /// Writes the latents in a form and returns their path.
    [[nodiscard]] std::string write(const std::string& form) const
    {
        const std::vector<float> values = latentValues();
        if (form == "npy") {
            writeAll(m_folder / form / "latents.npy", numpyFile("<f4", "6, 3, 2, 1", packed(values)));
            writeAll(m_folder / form / "labels.npy", numpyFile("<i8", "6,", packed(kLatentLabels)));
            return form;
        }
        const std::map<std::string, StoredType> types{
            {"F32", StoredType::F32}, {"F64", StoredType::F64}, {"F16", StoredType::F16}, {"BF16", StoredType::Bf16}};
        std::string bytes;
        for (const float value : values) {
            const auto number = static_cast<int>(value);
            const int exponent = number == 0 ? 0 : static_cast<int>(std::log2(value));
            const int fraction = number - (number == 0 ? 0 : 1 << exponent); // of 2^exponent
            if (form == "F32") {
                bytes += packed(std::vector{value});
            } else if (form == "F64") {
                bytes += packed(std::vector{double{value}});
            } else if (form == "F16") { // exact: five bits of exponent, ten of the fraction
                const int bits = number == 0 ? 0 : (exponent + 15) << 10 | fraction << (10 - exponent);
                bytes += packed(std::vector{static_cast<std::uint16_t>(bits)});
            } else {
                const int bits = number == 0 ? 0 : (exponent + 127) << 7 | fraction << (7 - exponent);
                bytes += packed(std::vector{static_cast<std::uint16_t>(bits)});
            }
        }
        const std::string labels = packed(kLatentLabels);
        const std::string path = form + ".safetensors";
        const Status written =
            writeSafetensors(m_folder / path,
                             {{"latents", {types.at(form), {6, 3, 2, 1}, std::as_bytes(std::span(bytes))}},
                              {"labels", {StoredType::I64, {6}, std::as_bytes(std::span(labels))}}},
                             {});
        return written ? path : std::string();
    }

    projects::Project m_project;
    std::unique_ptr<Dataset> m_images;
};

RESIDUA_TEST(TestDatasetNoised)
#include "tst_dataset_noised.moc"
