// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/content_hash.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_writer.h"
#include "projects/file/store.h"
#include "tests/engine/runs/store/run_files_harness.h"

#include <QTest>

#include <archive.h>
#include <archive_entry.h>

#include <set>

/// A project with a run, and bundles of it or of a stranger.
namespace residua::tests {

/// One entry of a bundle that somebody else has made.
struct Forged {
    std::string path;
    std::string content;
    mode_t type = AE_IFREG;
    std::string link = {};
};

inline void forge(const std::filesystem::path& file, const std::vector<Forged>& entries)
{
    archive* const handle = archive_write_new();
    archive_write_set_format_pax(handle);
    archive_write_add_filter_zstd(handle);
    archive_write_open_filename(handle, file.c_str());
    for (const Forged& forged : entries) {
        archive_entry* const entry = archive_entry_new();
        archive_entry_set_pathname(entry, forged.path.c_str());
        archive_entry_set_filetype(entry, forged.type);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, static_cast<la_int64_t>(forged.content.size()));
        if (forged.type == AE_IFLNK) {
            archive_entry_set_symlink(entry, forged.link.c_str());
        } else if (!forged.link.empty()) {
            archive_entry_set_hardlink(entry, forged.link.c_str());
        }
        archive_write_header(handle, entry);
        archive_write_data(handle, forged.content.data(), forged.content.size());
        archive_entry_free(entry);
    }
    archive_write_close(handle);
    archive_free(handle);
}

inline engine::BundledFile listed(const std::string& path, const std::string& content)
{
    return {path, static_cast<std::int64_t>(content.size()), engine::crc32c(asBytes(content))};
}

/// A bundle whose list has these files, all of them data, and which holds `entries`.
inline void forge(const std::filesystem::path& file, const std::vector<engine::BundledFile>& files,
                  std::vector<Forged> entries)
{
    engine::BundleContents contents;
    contents.project = "forged";
    contents.folder = "forged";
    contents.files = files;
    for (const engine::BundledFile& data : files) {
        contents.data.push_back({data.path, 1, data.bytes, true});
    }
    entries.insert(entries.begin(), Forged{engine::kManifest, engine::manifestText(contents)});
    forge(file, entries);
}

inline std::set<std::string> below(const std::filesystem::path& folder)
{
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        paths.insert(entry.path().lexically_relative(folder).string());
    }
    return paths;
}

inline std::string noteWith(const std::vector<std::string>& notes, const std::string& part)
{
    for (const std::string& note : notes) {
        if (isIn(note, part)) {
            return note;
        }
    }
    return {};
}

class BundleHarness : public QObject {
protected:
    /// A project on a text outside its folder, with a run of 20 steps, checkpoints at 10 (the best) and 20.
    void makeProject()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_root = std::filesystem::canonical(m_folder->path().toStdString());
        m_home = m_root / "home" / "my project";
        m_away = m_root / "away";
        std::filesystem::create_directories(m_away);
        write(m_root / "corpora" / "größe.txt", std::string(300'000, 'a') + "the end");
        projects::Project project;
        project.name = "Mine";
        project.data.source = projects::TextData{(m_root / "corpora" / "größe.txt").string(), {}};
        QVERIFY(projects::saveProject(m_home, {project, {}}).ok());
        addRun(m_home, "first", 20);
        m_file = m_root / "mine.residua";
    }

    void addRun(const std::filesystem::path& project, const std::string& name, std::int64_t steps,
                const std::string& created = {})
    {
        const auto document = projects::loadProject(project);
        QVERIFY(document.ok());
        engine::RunInfo info;
        info.name = name;
        info.created = created;
        info.device = "cpu";
        info.steps = 100;
        info.membership = projects::Membership{"a · b", "seeds", {{"/seeds/init", "seed", name}}};
        const auto data = engine::fingerprintOf(document->project, project);
        QVERIFY(data.ok());
        QVERIFY(engine::RunWriter::create(project / "runs" / name, info, document->project, project, *data).ok());
        train(project / "runs" / name, 1, steps);
    }

    static void train(const std::filesystem::path& run, std::int64_t first, std::int64_t last)
    {
        auto writer = engine::RunWriter::reopen(run, first - 1);
        QVERIFY2(writer.ok(), writer ? "" : writer.error().text().c_str());
        engine::RunInfo info = writer->info();
        for (std::int64_t step = first; step <= last; ++step) {
            const auto x = static_cast<double>(step);
            writer->step({step, 10 / x, 1e-3, 1, step * 8, x});
            if (step % 10 == 0) {
                QVERIFY(engine::writeCheckpoint(run, {step, step * 8, x, {}, x}, {}, {}, {}).ok());
            }
        }
        info.step = last;
        info.status = engine::RunStatus::Stopped;
        QVERIFY(writer->flush().ok());
        QVERIFY(writer->update(info).ok());
    }

    /// Neither the target nor anything beside it is written.
    void refuses(const std::string& why)
    {
        const auto before = below(m_root);
        const auto unpacked = engine::unpack(m_file, m_away / "target");
        QVERIFY(!unpacked.ok());
        QVERIFY2(isIn(unpacked.error().text(), why), unpacked.error().text().c_str());
        QCOMPARE(below(m_root), before);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_root;
    std::filesystem::path m_home; ///< the project
    std::filesystem::path m_away; ///< another machine
    std::filesystem::path m_file; ///< the bundle
};

} // namespace residua::tests
