// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of earlier fits: how large it grows, what goes first, and what a full disk does.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/base/files/safetensors.h"
#include "engine/compute/init/fit_jobs.h"
#include "tests/support/full_disk.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

using namespace residua;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

engine::FitJob jobOf(double weight)
{
    engine::LowRankProblem problem;
    problem.out = 2;
    problem.in = 3;
    problem.rank = 1;
    problem.weight = {weight, 2, 3, 4, 5, 6};
    return fitJob(problem, engine::LowRankMethod::Exact);
}

engine::Fitted fitOf(double left)
{
    return {{{left, 2}, {1, 2, 3}}, {.state = engine::GapFit::State::Fitted, .seconds = left / 3, .note = "a note"}};
}

constexpr const char* kEnding = ".safetensors";

std::set<std::string> namesIn(const fs::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

} // namespace

class TestFitCache : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void trimmingRemovesTheLeastRecentlyUsedFirst()
    {
        write("new.safetensors", 100, 1);
        write("old.safetensors", 100, 3);
        write("left by a kill.safetensors.tmp-1-2", 50, 4);
        write("middle.safetensors", 100, 2);
        write("not ours", 1000, 9);
        fs::create_symlink(m_folder / "not ours", m_folder / "link.safetensors");
        engine::trimCache(m_folder, kEnding, 350);
        QCOMPARE(namesIn(m_folder).size(), std::size_t{6});
        engine::trimCache(m_folder, kEnding, 349);
        QVERIFY(!fs::exists(m_folder / "left by a kill.safetensors.tmp-1-2"));
        QCOMPARE(namesIn(m_folder).size(), std::size_t{5});
        engine::trimCache(m_folder, kEnding, 299);
        QVERIFY(!fs::exists(m_folder / "old.safetensors"));
        engine::trimCache(m_folder, kEnding, 199);
        QCOMPARE(namesIn(m_folder), (std::set<std::string>{"new.safetensors", "not ours", "link.safetensors"}));
        engine::trimCache(m_folder, kEnding, 0);
        QCOMPARE(namesIn(m_folder), (std::set<std::string>{"not ours", "link.safetensors"}));
        engine::trimCache(m_folder / "none", kEnding, 0);
    }

    /// Reading a fit counts as use. The cache is trimmed when it is closed.
    void readingIsUse()
    {
        const auto name = [](double weight) { return jobOf(weight).key; };
        {
            engine::CachedFits cache({.folder = m_folder});
            for (const double weight : {1.0, 2.0, 3.0}) {
                cache.keep(jobOf(weight), fitOf(weight));
                age(name(weight), 5 - static_cast<int>(weight));
            }
            QVERIFY(cache.faults().empty());
        }
        const std::uintmax_t bytes = fs::file_size(m_folder / name(1)) + fs::file_size(m_folder / name(3));
        {
            engine::CachedFits cache({.folder = m_folder, .mostBytes = bytes});
            const auto kept = cache.kept(jobOf(1));
            QVERIFY(kept && kept->matrices == fitOf(1).matrices && kept->gap == fitOf(1).gap);
            QVERIFY(!cache.kept(jobOf(4)));
        }
        QCOMPARE(namesIn(m_folder), (std::set<std::string>{name(1), name(3)}));
    }

    /// A file of another version is reported as older or newer, not as damaged, and is replaced.
    void anotherFormatIsReported()
    {
        for (const auto& [format, said] :
             {std::pair("residua fit 1", "is of an older format of this cache (1, here 3)"),
              std::pair("residua fit 4", "is of a newer format of this cache (4, here 3)"),
              std::pair("residua", "is damaged")}) {
            QVERIFY(engine::writeSafetensors(m_folder / jobOf(1).key, {}, {{"format", format}}).ok());
            engine::CachedFits cache({.folder = m_folder});
            QVERIFY(!cache.kept(jobOf(1)));
            QVERIFY2(cache.faults().find(said) != std::string::npos, cache.faults().c_str());
            cache.keep(jobOf(1), fitOf(1));
            QVERIFY(cache.kept(jobOf(1)).has_value());
        }
    }

    /// Both fits are valid and have the same shapes.
    void aFitUnderAnotherNameIsNotUsed()
    {
        const auto name = [](double weight) { return jobOf(weight).key; };
        engine::CachedFits cache({.folder = m_folder});
        cache.keep(jobOf(1), fitOf(1));
        fs::copy_file(m_folder / name(1), m_folder / name(2));
        QVERIFY(!cache.kept(jobOf(2)));
        QVERIFY2(cache.faults().find("holds another fit than its name says") != std::string::npos,
                 cache.faults().c_str());
        QVERIFY(cache.kept(jobOf(1)).has_value());
    }

    void theSettingIsRead()
    {
        qputenv("XDG_CACHE_HOME", "/somewhere");
        qunsetenv(engine::kFitCache.variable);
        QCOMPARE(engine::userFitCache().folder, fs::path("/somewhere/residua/fits"));
        QCOMPARE(engine::userFitCache().mostBytes, std::uint64_t{1024} << 20U);
        qputenv(engine::kFitCache.variable, "12");
        QCOMPARE(engine::userFitCache().mostBytes, std::uint64_t{12} << 20U);
        qputenv(engine::kFitCache.variable, "0");
        QVERIFY(engine::userFitCache().folder.empty());
        for (const char* const wrong : {"much", "-1", "1.5", "", "99999999999999999999"}) {
            qputenv(engine::kFitCache.variable, wrong);
            const engine::FitCache cache = engine::userFitCache();
            QCOMPARE(cache.mostBytes, engine::kFitCache.bytes());
            QVERIFY(!cache.folder.empty());
            QVERIFY2(engine::CachedFits(cache).faults().find("expected a whole number of MiB") != std::string::npos,
                     wrong);
        }
        qunsetenv(engine::kFitCache.variable);
    }

    /// On a full disk the fits are made, the user is told, and no partial file is left. With free space the fits are
    /// cached.
    void aFullDisk()
    {
        projects::Project project = tinyLanguage("mlp", "plain", 2);
        project.network.rank = projects::FixedRank{3};
        project.initialisation.lowRank = projects::LowRankMethod::Exact;
        const auto started = [&](const fs::path& cache) {
            auto network = *engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
            network->initPlan().setFits({.cache = {cache}});
            return network->initialise({}, {}) ? std::move(network) : nullptr;
        };
        const auto expected = started({});
        QVERIFY(expected);
        const auto isExpected = [&](engine::CompiledNetwork& network) {
            return std::ranges::all_of(network.parameters(), [&](const engine::NamedParameter& each) {
                return at::equal(each.tensor, parameter(*expected, each.name));
            });
        };
        {
            const FullDisk full(64);
            const auto network = started(m_folder);
            QVERIFY(network && isExpected(*network));
            const std::string note = network->initPlan().notes().back();
            QVERIFY2(note.starts_with("cache of fits: ") && note.find("not kept for another time") != std::string::npos,
                     note.c_str());
        }
        QVERIFY(namesIn(m_folder).empty());
        QVERIFY(isExpected(*started(m_folder)));
        QCOMPARE(namesIn(m_folder).size(), std::size_t{4});
    }

private:
    void write(const std::string& name, std::size_t bytes, int days)
    {
        std::ofstream(m_folder / name) << std::string(bytes, 'x');
        age(name, days);
    }
    void age(const std::string& name, int days) const
    {
        fs::last_write_time(m_folder / name, fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestFitCache)
#include "tst_fit_cache.moc"
