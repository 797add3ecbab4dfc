// The conformance suite: what every store must do.
//
// Link semel::conformance and GTest, describe your store as a `subject`, and call add_tests()
// before RUN_ALL_TESTS(), in main() or from the initialiser of a global. The suite compares the
// store, command by command, with `apply` (record_machine.hpp) and its searches with `matches`
// (search.hpp), races it from many threads, opens it twice, and checks the promises of the port
// (store.hpp). It passes the time along with each command, so it is quick and does not sleep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/store.hpp"

namespace semel::conformance {

// One place that keeps records: a file, a database, a heap. Fresh and empty when it is made, and
// cleaned up when it is destroyed, after every store that was opened on it.
class backing {
public:
    backing() = default;
    backing(const backing&) = delete;
    backing& operator=(const backing&) = delete;
    virtual ~backing() = default;

    // Called again, beside or after the first store, only where the subject opens many.
    virtual result<std::unique_ptr<store>> open() = 0;

    // How often the store has written so far, where that can be counted.
    virtual std::optional<std::uint64_t> writes() { return std::nullopt; }
};

// May several stores be open on one backing, and does it outlive them?
enum class instances { one, many };

// When does the store remove records that are not needed any more?
enum class purging {
    on_request, // by sweep() and the purge command only
    in_passing, // other commands may remove them, too, judged by the time of that command
};

// Fences must always increase and never be below the store's clock.
enum class fences {
    exact,   // and never exceed the highest of clock, fences so far + 1
    ordered, // nothing more is promised
};

// How often does a record come in the pages of one search, while no record changes?
enum class finding {
    once,
    at_least_once, // again where the store rearranges what it keeps
};

struct subject {
    std::string name; // a C++ identifier: part of the test names
    std::function<std::unique_ptr<backing>()> make;
    instances opens = instances::one;
    purging purges = purging::on_request;
    fences numbers = fences::exact;
    finding pages = finding::once;
    // How far the store's clock may be from this machine's.
    duration clock_tolerance = std::chrono::seconds{5};
};

struct run_options {
    std::uint64_t seed = 1;
    std::size_t commands = 5'000; // of the model-based test
    std::size_t threads = 64;     // of the races
};

// Registers the suite under "Conformance_<name>".
void add_tests(const subject& what, const run_options& how = {});

// The model-based test by itself: random commands at random times, each answer compared.
struct walk_report {
    // Which answers were seen how often, as "begin: started, first".
    std::map<std::string, std::size_t> seen = {};
    // The first difference: seed, step, a shortened history that still shows it.
    std::optional<std::string> difference = {};
};

[[nodiscard]] walk_report walk(const subject& what, const run_options& how);

} // namespace semel::conformance
