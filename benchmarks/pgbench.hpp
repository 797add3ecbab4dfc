// PostgreSQL's own load generator, as a reference.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "bench.hpp"

namespace semel::bench {

struct pgbench_run {
    std::string script = {};                            // in pgbench's own language
    std::map<std::string, std::string> parameters = {}; // of its statements: :name
    std::size_t clients = 32;
    seconds most{1}; // whole seconds
};

class pgbench {
public:
    // Scripts are kept below `folder`.
    pgbench(std::string url, std::filesystem::path folder);

    // Scripts per second, prepared statements.
    [[nodiscard]] double rate(const pgbench_run& what) const;

private:
    const std::string url_;
    const std::filesystem::path folder_;
};

} // namespace semel::bench
