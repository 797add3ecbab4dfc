#include "pgbench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace semel::bench {

pgbench::pgbench(std::string url, std::filesystem::path folder)
    : url_(std::move(url)), folder_(std::move(folder)) {}

double pgbench::rate(const pgbench_run& what) const {
    const auto file = folder_ / "script.sql";
    std::ofstream{file, std::ios::trunc} << what.script;
    const std::size_t threads = std::min<std::size_t>(2, what.clients);
    const long length = std::max(1L, std::lround(what.most.count()));
    std::string command = "pgbench -n -M prepared -c " + std::to_string(what.clients) + " -j " +
                          std::to_string(threads) + " -T " + std::to_string(length) + " -f '" +
                          file.string() + "'";
    for (const auto& [name, value] : what.parameters) command += " -D '" + name + "=" + value + "'";
    command += " '" + url_ + "' 2>&1";
    FILE* const from = ::popen(command.c_str(), "r");
    if (from == nullptr) throw std::runtime_error{"pgbench does not run"};
    double found = 0;
    std::string all;
    char line[1'024];
    while (std::fgets(line, sizeof line, from) != nullptr) {
        all += line;
        std::sscanf(line, "tps = %lf", &found);
    }
    const bool good = ::pclose(from) == 0 && found > 0;
    if (!good) throw std::runtime_error{"pgbench failed: " + all};
    return found;
}

} // namespace semel::bench
