// SPDX-License-Identifier: GPL-3.0-or-later
// The group of ranks with a GPU each, with a stand-in for NCCL: ranks are threads, values are on the host.
#include "engine/compute/ranks/nccl_group.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

/// Carries bytes from rank 0 to rank 1, a thread each, as NCCL's identity needs.
class HostGroup final : public RankGroup {
public:
    struct Parcel {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<char> bytes; ///< empty: taken
    };
    HostGroup(Parcel& parcel, int rank) : m_parcel(parcel), m_rank(rank) {}
    void sum(float*, std::size_t) override {}
    void sum(double*, std::size_t) override {}
    void mean(std::span<const Numbers<float>>) override {}
    void mean(std::span<const Numbers<double>>) override {}
    void share(void* bytes, std::size_t size, int) override
    {
        std::unique_lock lock(m_parcel.mutex);
        m_parcel.changed.wait(lock, [this] { return m_parcel.bytes.empty() == (m_rank == 0); });
        auto* const own = static_cast<char*>(bytes);
        m_rank == 0 ? m_parcel.bytes.assign(own, own + size)
                    : static_cast<void>(std::ranges::copy(std::exchange(m_parcel.bytes, {}), own));
        m_parcel.changed.notify_all();
    }
    void share(std::span<const SharedBytes>) override {}
    void abort() override {}

private:
    Parcel& m_parcel;
    int m_rank;
};

/// Joins two ranks and calls `use` in a thread of each. Returns what rank 0 threw.
std::string withTwoRanks(const std::function<void(int rank, RankGroup& group)>& use)
{
    const auto nccl = openNccl(RESIDUA_FAKE_NCCL_LIBRARY);
    HostGroup::Parcel parcel;
    std::string errors[2];
    const auto rankOf = [&](int rank) {
        HostGroup host(parcel, rank);
        int stream = 0;
        try {
            use(rank, *joinNccl(*nccl, rank, 2, host, &stream));
        } catch (const std::runtime_error& error) {
            errors[rank] = error.what();
        }
    };
    std::thread other(rankOf, 1);
    rankOf(0);
    other.join();
    return errors[0];
}

void compareText(const std::string& got, const std::string& expected)
{
    QVERIFY2(got.find(expected) != std::string::npos, got.c_str());
}

} // namespace

class TestNcclGroup : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cleanup() { qunsetenv("RESIDUA_FAKE_NCCL"); }

    void sumsAndSharesValues()
    {
        std::vector<float> singles[2] = {{1, 2}, {10, 20}};
        std::vector<double> doubles[2] = {{0.5}, {0.25}};
        std::vector<char> bytes[2] = {{'a'}, {'b'}};
        std::vector<char> shared[2] = {{'a', 'b'}, {'c', 'd'}};
        std::vector<float> means[2] = {{1, 2, 3}, {3, 4, 5}};
        std::vector<double> doubleMeans[2] = {{0.5}, {0.25}};
        const std::string error = withTwoRanks([&](int rank, RankGroup& group) {
            group.sum(singles[rank].data(), singles[rank].size());
            group.sum(doubles[rank].data(), doubles[rank].size());
            group.share(bytes[rank].data(), bytes[rank].size(), 1);
            const Numbers<float> arrays[] = {{means[rank].data(), 1}, {means[rank].data() + 1, 2}};
            group.mean(arrays);
            const SharedBytes pieces[] = {{&shared[rank][0], 1, 1}, {&shared[rank][1], 1, 0}};
            group.share(pieces);
            const Numbers<double> array[] = {{doubleMeans[rank].data(), 1}};
            group.mean(array);
        });
        QCOMPARE(error, std::string());
        QCOMPARE(means[0], (std::vector<float>{2, 3, 4}));
        QCOMPARE(means[1], means[0]);
        QCOMPARE(shared[0], (std::vector<char>{'c', 'b'}));
        QCOMPARE(shared[1], shared[0]);
        QCOMPARE(doubleMeans[0], std::vector<double>{0.375});
        QCOMPARE(doubleMeans[1], doubleMeans[0]);
        for (const int rank : {0, 1}) {
            QCOMPARE(singles[rank], (std::vector<float>{11, 22}));
            QCOMPARE(doubles[rank], std::vector<double>{0.75});
            QCOMPARE(bytes[rank], std::vector<char>{'b'});
        }
    }

    void aMissingLibraryIsNamed()
    {
        const auto nccl = openNccl("/nowhere/libnccl.so.2");
        QVERIFY(!nccl);
        compareText(nccl.error().text(), "/nowhere/libnccl.so.2");
        compareText(nccl.error().message, "does not load");
        compareText(nccl.error().message, "run packaging/setup.sh --cuda");
    }

    void aMissingFunctionIsNamed()
    {
        const auto nccl = openNccl(RESIDUA_FAKE_DRIVER);
        QVERIFY(!nccl);
        compareText(nccl.error().message, "lacks ncclGetUniqueId");
    }

    void codesBecomeTexts_data()
    {
        QTest::addColumn<QByteArray>("call");
        QTest::addColumn<QString>("text");
        QTest::newRow("identity") << QByteArray("ncclGetUniqueId") << "ncclGetUniqueId: unhandled cuda error";
        QTest::newRow("one GPU") << QByteArray("ncclCommInitRank")
                                 << "invalid usage, Duplicate GPU detected : rank 0 and rank 1 both on CUDA device "
                                    "1b000; NCCL needs a GPU for each rank: start as many ranks as there are GPUs";
        QTest::newRow("sum") << QByteArray("ncclAllReduce") << "ncclAllReduce: unhandled cuda error";
        QTest::newRow("begin of a group") << QByteArray("ncclGroupStart") << "ncclGroupStart: unhandled cuda error";
        QTest::newRow("end of a group") << QByteArray("ncclGroupEnd") << "ncclGroupEnd: unhandled cuda error";
    }
    void codesBecomeTexts()
    {
        QFETCH(QByteArray, call);
        QFETCH(QString, text);
        qputenv("RESIDUA_FAKE_NCCL", call);
        float values[2] = {1, 1};
        compareText(withTwoRanks([&](int rank, RankGroup& group) {
                        if (call == "ncclGroupEnd" || rank == 0) {
                            const Numbers<float> array[] = {{&values[rank], 1}};
                            group.mean(array);
                        }
                    }),
                    text.toStdString());
    }

    /// Rank 0 waits for a rank that does not come.
    void abortEndsACallThatWaits()
    {
        float value = 1;
        const std::string error = withTwoRanks([&](int rank, RankGroup& group) {
            if (rank == 0) {
                std::thread watch([&] { group.abort(); });
                const auto join = qScopeGuard([&] { watch.join(); });
                group.sum(&value, 1);
            }
        });
        QVERIFY2(error.find("remote process exited") != std::string::npos ||
                     error.find("a rank has ended") != std::string::npos,
                 error.c_str());
    }
};

RESIDUA_TEST(TestNcclGroup)
#include "tst_nccl_group.moc"
