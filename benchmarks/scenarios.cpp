#include "bench.hpp"

namespace semel::bench {

const std::vector<scenario>& scenarios() {
    static const std::vector<scenario> all{
        {"memory", "the memory store beside a bare striped hash map", &memory},
        {"sqlite", "the SQLite store beside its bare statements", &sqlite},
    };
    return all;
}

} // namespace semel::bench
