// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace residua::tests {

/// While it lives, no file of this process, or of the one with the id `of`, grows beyond `bytes`: writes fail as on a
/// full disk.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes, pid_t of = 0) : m_of(of)
    {
        ::prlimit(m_of, RLIMIT_FSIZE, nullptr, &m_old);
        const rlimit limit{bytes, m_old.rlim_max};
        m_handler = std::signal(SIGXFSZ, SIG_IGN);
        ::prlimit(m_of, RLIMIT_FSIZE, &limit, nullptr);
    }
    ~FullDisk()
    {
        ::prlimit(m_of, RLIMIT_FSIZE, &m_old, nullptr);
        std::signal(SIGXFSZ, m_handler);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    pid_t m_of;
    rlimit m_old{};
    void (*m_handler)(int) = nullptr;
};

} // namespace residua::tests
