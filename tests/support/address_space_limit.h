// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace residua::tests {

/// While it lives, the address space of this process, or of the one with the id `of`, is at most `bytes` larger than
/// now. The maps of sanitizers take more than any limit.
class AddressSpaceLimit {
public:
    explicit AddressSpaceLimit(std::int64_t bytes, pid_t of = 0) : m_of(of)
    {
        std::int64_t pages = 0;
        std::ifstream("/proc/" + (of == 0 ? "self" : std::to_string(of)) + "/statm") >> pages;
        ::prlimit(m_of, RLIMIT_AS, nullptr, &m_before);
        rlimit limit = m_before;
        limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
        m_set = pages > 0 && ::prlimit(m_of, RLIMIT_AS, &limit, nullptr) == 0;
    }
    ~AddressSpaceLimit() { ::prlimit(m_of, RLIMIT_AS, &m_before, nullptr); }
    AddressSpaceLimit(const AddressSpaceLimit&) = delete;
    AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
    [[nodiscard]] bool isSet() const { return m_set; }

private:
    pid_t m_of;
    rlimit m_before{};
    bool m_set = false;
};

} // namespace residua::tests
