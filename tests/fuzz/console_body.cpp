// Bodies at the console, from an administrator. Each gets one answer, and none a 500.
#include <array>
#include <memory>

#include "edge/console/console.hpp"
#include "semel/store/memory.hpp"
#include "support/manual_runtime.hpp"
#include "target.hpp"

namespace {

using namespace semel;

struct desk {
    support::manual_runtime runtime;
    std::unique_ptr<store> records = open_memory_store();
    edge::console console{*records, runtime, options()};

    ~desk() { runtime.run_posted(); }
    static edge::console_options options() {
        const auto admin = http::grant{"ops", http::scope_set{http::scope::admin}};
        edge::console_options made;
        made.grant_of = [admin](std::string_view) { return std::optional{admin}; };
        made.grant_of_hash = [admin](const fingerprint&) { return std::optional{admin}; };
        made.operations["PAY"] = {.holds = http::result_form::response};
        return made;
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array<const char*, 5> paths = {
        "session", "record/resolve?tenant=acme&operation=PAY&key=k",
        "record/resolve?tenant=acme&operation=ORDER&key=k",
        "record/remove?tenant=acme&operation=PAY&key=k", "outbox/requeue"};
    static desk at;
    std::string_view body = fuzz::text_of(data, size);
    const std::string path = paths[fuzz::choice(body, paths.size())];
    http::request_head head{
        .method = "POST",
        .target = "/admin/api/v1/" + path,
        .headers = {{"Authorization", "Bearer a"}, {"Content-Type", "application/json"}}};
    int answers = 0;
    at.console.requests()({.what = {.head = std::move(head), .body = std::string{body}}},
                          [&answers](http::response made) {
                              SEMEL_ASSERT(made.status != 500);
                              ++answers;
                          });
    at.runtime.run_posted();
    SEMEL_ASSERT(answers == 1);
    return 0;
}
