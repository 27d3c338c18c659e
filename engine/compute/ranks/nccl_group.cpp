// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/nccl_group.h"

#include "engine/base/machine/machine.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace residua::engine {

// The part of NCCL 2's stable C interface that is used, so that its header is not needed.
struct Nccl {
    static constexpr int kSuccess = 0;
    static constexpr int kInvalidUsage = 5;
    static constexpr int kBytes = 1; ///< ncclUint8
    static constexpr int kFloat = 7;
    static constexpr int kDouble = 8;
    static constexpr int kSum = 0;
    static constexpr int kMean = 4; ///< ncclAvg
    struct Identity {
        std::array<char, 128> bytes;
    };
    struct Group; ///< ncclComm

    int (*getUniqueId)(Identity* identity) = nullptr;
    int (*commInitRank)(Group** group, int count, Identity identity, int rank) = nullptr;
    int (*commDestroy)(Group* group) = nullptr;
    int (*commAbort)(Group* group) = nullptr;
    int (*allReduce)(const void* from, void* to, std::size_t count, int type, int operation, Group* group,
                     void* stream) = nullptr;
    int (*groupStart)() = nullptr;
    int (*groupEnd)() = nullptr;
    int (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, Group* group,
                     void* stream) = nullptr;
    const char* (*errorString)(int code) = nullptr;
    const char* (*lastError)(Group* group) = nullptr;

    /// Throws unless `code` is a success.
    void check(int code, const char* call, Group* group = nullptr) const
    {
        if (code == kSuccess) {
            return;
        }
        const std::string last = lastError(group);
        std::string text = std::string(call) + ": " + errorString(code) + (last.empty() ? "" : ", " + last);
        if (code == kInvalidUsage) {
            text += "; NCCL needs a GPU for each rank: start as many ranks as there are GPUs (--nproc-per-node), each "
                    "with its LOCAL_RANK, or train on CPUs";
        }
        throw std::runtime_error(text);
    }
};

namespace {

class NcclGroup final : public RankGroup {
public:
    NcclGroup(std::shared_ptr<const Nccl> nccl, Nccl::Group* group, void* stream)
        : m_nccl(std::move(nccl)), m_group(group), m_stream(stream)
    {
    }
    ~NcclGroup() override
    {
        if (Nccl::Group* const group = m_group) {
            (void)m_nccl->commDestroy(group);
        }
    }

    void sum(float* values, std::size_t count) override { sum(values, count, Nccl::kFloat); }
    void sum(double* values, std::size_t count) override { sum(values, count, Nccl::kDouble); }

    void mean(std::span<const Numbers<float>> arrays) override { mean(arrays, Nccl::kFloat); }
    void mean(std::span<const Numbers<double>> arrays) override { mean(arrays, Nccl::kDouble); }

    void share(void* bytes, std::size_t count, int root) override
    {
        m_nccl->check(m_nccl->broadcast(bytes, bytes, count, Nccl::kBytes, root, sound(), m_stream), "ncclBroadcast",
                      m_group);
    }

    void share(std::span<const SharedBytes> pieces) override
    {
        asOne("ncclBroadcast", pieces, [this](const SharedBytes& piece) {
            return m_nccl->broadcast(piece.bytes, piece.bytes, piece.count, Nccl::kBytes, piece.root, m_group,
                                     m_stream);
        });
    }

    void abort() override
    {
        if (Nccl::Group* const group = m_group.exchange(nullptr)) {
            (void)m_nccl->commAbort(group);
        }
    }

private:
    void sum(void* values, std::size_t count, int type)
    {
        m_nccl->check(m_nccl->allReduce(values, values, count, type, Nccl::kSum, sound(), m_stream), "ncclAllReduce",
                      m_group);
    }
    template <class Real>
    void mean(std::span<const Numbers<Real>> arrays, int type)
    {
        asOne("ncclAllReduce", arrays, [&](const Numbers<Real>& array) {
            return m_nccl->allReduce(array.values, array.values, array.count, type, Nccl::kMean, m_group, m_stream);
        });
    }
    /// Enqueues the exchanges of all `pieces` as one. `enqueue` returns a code of `call`.
    template <class Piece>
    void asOne(const char* call, std::span<const Piece> pieces, const auto& enqueue)
    {
        Nccl::Group* const group = sound();
        m_nccl->check(m_nccl->groupStart(), "ncclGroupStart", group);
        int code = Nccl::kSuccess;
        for (const Piece& piece : pieces) {
            code = code == Nccl::kSuccess ? enqueue(piece) : code;
        }
        const int ended = m_nccl->groupEnd(); // also after an error, which the thread would keep
        m_nccl->check(code, call, group);
        m_nccl->check(ended, "ncclGroupEnd", group);
    }
    [[nodiscard]] Nccl::Group* sound() const
    {
        Nccl::Group* const group = m_group;
        if (group == nullptr) {
            throw std::runtime_error("NCCL was aborted, because a rank has ended");
        }
        return group;
    }

    std::shared_ptr<const Nccl> m_nccl;
    std::atomic<Nccl::Group*> m_group; ///< null after abort()
    void* m_stream;
};

} // namespace

Result<std::shared_ptr<const Nccl>> openNccl(const std::string& library)
{
    const Result<void*> opened = openLibrary(library, SymbolScope::Program);
    if (!opened) {
        return Error{library, "does not load (" + opened.error().message + "): run packaging/setup.sh --cuda"};
    }
    auto nccl = std::make_shared<Nccl>();
    std::string missing;
    const auto bind = [&](auto*& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(*opened, name));
        missing = function == nullptr && missing.empty() ? name : missing;
    };
    bind(nccl->getUniqueId, "ncclGetUniqueId");
    bind(nccl->commInitRank, "ncclCommInitRank");
    bind(nccl->commDestroy, "ncclCommDestroy");
    bind(nccl->commAbort, "ncclCommAbort");
    bind(nccl->allReduce, "ncclAllReduce");
    bind(nccl->groupStart, "ncclGroupStart");
    bind(nccl->groupEnd, "ncclGroupEnd");
    bind(nccl->broadcast, "ncclBroadcast");
    bind(nccl->errorString, "ncclGetErrorString");
    bind(nccl->lastError, "ncclGetLastError");
    if (!missing.empty()) {
        return Error{library, "lacks " + missing + ", which NCCL 2.13 has: run packaging/setup.sh --cuda"};
    }
    return std::shared_ptr<const Nccl>(std::move(nccl));
}

std::unique_ptr<RankGroup> joinNccl(std::shared_ptr<const Nccl> nccl, int rank, int count, RankGroup& host,
                                    void* stream)
{
    // Every rank takes part in the exchange, even if rank 0 has no identity to give.
    Nccl::Identity identity{};
    int code = rank == 0 ? nccl->getUniqueId(&identity) : Nccl::kSuccess;
    host.share(&code, sizeof code, 0);
    nccl->check(code, "ncclGetUniqueId");
    host.share(&identity, sizeof identity, 0);
    Nccl::Group* group = nullptr;
    nccl->check(nccl->commInitRank(&group, count, identity, rank), "ncclCommInitRank");
    return std::make_unique<NcclGroup>(std::move(nccl), group, stream);
}

} // namespace residua::engine
