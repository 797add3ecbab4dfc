// Bodies at the center, from a client whose token is known. Each gets one answer, and none a 500.
#include <array>
#include <memory>

#include "edge/center/center.hpp"
#include "semel/store/memory.hpp"
#include "support/manual_runtime.hpp"
#include "target.hpp"

namespace {

using namespace semel;

struct desk {
    support::manual_runtime runtime;
    std::unique_ptr<store> records = open_memory_store();
    edge::center center{*records, runtime, options()};

    ~desk() {
        center.stop_waiting();
        runtime.run_posted();
    }
    static edge::center_options options() {
        return {.grant_of = [](std::string_view) -> std::optional<http::grant> {
            return http::grant{"acme", http::scope_set{http::scope::use}};
        }};
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array<const char*, 8> paths = {"/v1/begin",      "/v1/complete", "/v1/fail",
                                                  "/v1/release",    "/v1/abandon",  "/v1/renew",
                                                  "/v1/checkpoint", "/v1/batch"};
    static std::unique_ptr<desk> at;
    static int served = 0;
    if (served++ % 1'000 == 0) at = std::make_unique<desk>(); // its records take memory
    std::string_view body = fuzz::text_of(data, size);
    http::request_head head{.method = "POST",
                            .target = paths[fuzz::choice(body, paths.size())],
                            .headers = {{"Authorization", "Bearer a"}}};
    int answers = 0;
    at->center.serve({.what = {.head = std::move(head), .body = std::string{body}}},
                     [&answers](http::response made) {
                         SEMEL_ASSERT(made.status != 500);
                         ++answers;
                     });
    at->center.stop_waiting();
    at->runtime.run_posted();
    SEMEL_ASSERT(answers == 1);
    return 0;
}
