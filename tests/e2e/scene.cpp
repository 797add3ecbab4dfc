#include "e2e/scene.hpp"

#include <csignal>
#include <stdexcept>

#include "semel/open.hpp"

namespace semel::e2e {

using support::eventually;
using support::response_text;

// ---- the shop

shop::shop(stall at)
    : at_(at), behind_([this](const support::seen_request& request, support::socket& to) {
          serve(request, to);
      }) {}

std::string shop::url() const {
    return "http://127.0.0.1:" + std::to_string(behind_.port());
}

void shop::serve(const support::seen_request& request, support::socket& to) {
    if (request.head.path() == "/outcome") {
        const bool made = orders_ > 0;
        to.write(response_text(200, made
                                        ? R"({"outcome":"committed","status":201,"body":"order 1"})"
                                        : R"({"outcome":"not_executed"})"));
        return;
    }
    const int number = ++orders_;
    const std::string whole = response_text(201, "order " + std::to_string(number));
    if (number > 1 || at_ == stall::never) return void(to.write(whole));
    std::size_t sent = 0;
    if (at_ == stall::half_head) sent = whole.find("\r\n\r\n") / 2;
    if (at_ == stall::half_body) sent = whole.size() - 4;
    to.write(whole.substr(0, sent));
    stalled_.open();
    released_.wait();
    to.write(whole.substr(sent));
}

// ---- the gateways

migrated_prefix::migrated_prefix() {
    const auto done = migrate(url(), migrate_mode::run);
    if (!done) throw std::runtime_error(done.error().detail);
}

scene::scene(const scene_options& with)
    : options_(with),
      shop_(with.at),
      first_(arguments(with.first_upstream.empty() ? shop_.url() : with.first_upstream)),
      second_(arguments(shop_.url())),
      client_(std::make_unique<support::client>(first_.port())) {}

std::vector<std::string> scene::arguments(const std::string& upstream) const {
    std::vector<std::string> all = {"--listen",
                                    "127.0.0.1:0",
                                    "--upstream",
                                    upstream,
                                    "--store",
                                    prefix_.url() +
                                        "&lock_timeout_ms=60000&statement_timeout_ms=60000",
                                    "--single-tenant",
                                    "acme",
                                    "--route",
                                    "ORDER=POST:/orders",
                                    "--threads",
                                    "1",
                                    "--lease",
                                    options_.lease,
                                    "--wait",
                                    "0s",
                                    "--on-lease-expiry",
                                    options_.policy};
    if (options_.policy == "probe") all.insert(all.end(), {"--probe", "/outcome"});
    return all;
}

support::post_options scene::order() const {
    return {.key = "k", .body = std::string(body_bytes_, 'x')};
}

void scene::send_order(std::size_t body_bytes) {
    body_bytes_ = body_bytes;
    client_->send(support::post_text(order()));
}

void scene::kill_first() {
    first_.signal(SIGKILL);
    if (first_.wait() != -1) throw std::runtime_error("the first gateway had ended by itself");
}

support::answer scene::repeat() const {
    return support::post(second_.port(), order());
}

// ---- the record

std::string scene::ask(const std::string& sql) {
    return watcher_.sql(sql);
}

std::string scene::record() {
    const std::string now = "extract(epoch FROM clock_timestamp()) * 1000000";
    const std::string state =
        ask("SELECT CASE state WHEN 0 THEN CASE WHEN lease_until + grace < " + now +
            " THEN 'lapsed' ELSE 'processing' END WHEN 1 THEN 'succeeded' "
            "ELSE 'failed' END FROM " +
            prefix_.name() + "record");
    return state.empty() ? "absent" : state;
}

bool scene::is_claimed() {
    return eventually([&] { return record() == "processing"; });
}

bool scene::is_completed() {
    return eventually([&] { return record() == "succeeded"; });
}

void scene::let_lease_lapse() {
    ask("UPDATE " + prefix_.name() + "record SET lease_until = lease_until - 3600000000");
}

// ---- locks

void scene::lock_record() {
    locker_.sql("BEGIN; SELECT 1 FROM " + prefix_.name() + "record FOR UPDATE");
}

void scene::lock_table() {
    locker_.sql("BEGIN; LOCK TABLE " + prefix_.name() + "record IN SHARE MODE");
}

bool scene::waits(const std::string& text) {
    return eventually([&] {
        return ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                   "query LIKE '%" +
                   prefix_.name() + "record%' AND query LIKE '%" + text + "%'") == "1";
    });
}

void scene::unlock() {
    locker_.sql("ROLLBACK");
    // Nothing of the dead is under way any more.
    const bool quiet = eventually([&] {
        return ask("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> "
                   "pg_backend_pid() AND query LIKE '%" +
                   prefix_.name() + "record%'") == "0";
    });
    if (!quiet) throw std::runtime_error("a statement is still under way");
}

void scene::unlock_after_ending_statements() {
    ask("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE wait_event_type = "
        "'Lock' AND query LIKE '%" +
        prefix_.name() + "record%'");
    unlock();
}

} // namespace semel::e2e
