#include "bare_sqlite.hpp"

#include <algorithm>
#include <vector>

#include "databases/sqlite/store/row.hpp"
#include "databases/sqlite/store/statements.hpp"
#include "semel/databases/sqlite.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr owner_id owner{.high = 1, .low = 2};
constexpr auto retention = std::chrono::hours{24};

time_point wall_now() {
    return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

record_id id_of(std::uint64_t number) {
    request like = request_for(key_of(number));
    return {.tenant = std::move(like.tenant),
            .operation = std::move(like.operation),
            .key = std::move(like.key)};
}

// What a claim writes.
record claimed(const record_id& id, std::uint64_t fence) {
    const time_point now = wall_now();
    return {.content = content_of(id.key),
            .holder = {.fence = fence, .owner = owner},
            .attempts = 1,
            .lease_until = now + std::chrono::seconds{30},
            .begun_at = now,
            .created_at = now,
            .updated_at = now};
}

record finished(const record_id& id, std::uint64_t fence) {
    record made = claimed(id, fence);
    made.state = record_state::succeeded;
    made.result = {.body = answer_body(), .type = "text/plain"};
    seal(made.result);
    made.expires_at = made.created_at + retention;
    return made;
}

void bind_id(sqlite::query& to, const record_id& id) {
    to.bind(1, id.tenant).bind(2, id.operation).bind(3, id.key);
}

} // namespace

bare_sqlite::bare_sqlite(const std::filesystem::path& file) {
    const sqlite_store_options like{.path = file};
    on_ = sqlite::connection::open(
              {.path = like.path, .lock_wait = like.lock_wait, .cache_bytes = like.cache_bytes})
              .value();
    on_->make_ready().value();
    const sqlite::statement_texts texts{like.table_prefix};
    insert_ = on_->prepare(texts.insert).value();
    complete_ = on_->prepare(texts.complete).value();
    load_ = on_->prepare(texts.load).value();
}

std::size_t bare_sqlite::run_first(std::uint64_t first, std::size_t group, seconds most) {
    const stopwatch watch;
    std::size_t done = 0;
    std::vector<record_id> ids(group);
    while (watch.elapsed() < most) {
        for (std::size_t i = 0; i < group; ++i) ids[i] = id_of(first + done + i);
        on_->begin(sqlite::access::write).value();
        for (std::size_t i = 0; i < group; ++i) claim(ids[i], claimed(ids[i], first + done + i));
        on_->commit().value();
        on_->begin(sqlite::access::write).value();
        for (std::size_t i = 0; i < group; ++i) complete(ids[i], {first + done + i, owner});
        on_->commit().value();
        done += group;
    }
    return done;
}

std::size_t bare_sqlite::run_replays(std::size_t known, std::uint64_t seed, seconds most) {
    const stopwatch watch;
    random_order order{seed, known};
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) look_up(id_of(order.next()));
    return done;
}

void bare_sqlite::preload(std::size_t count) {
    constexpr std::size_t group = 20'000;
    for (std::size_t from = 0; from < count; from += group) {
        on_->begin(sqlite::access::write).value();
        for (std::size_t i = from; i < std::min(count, from + group); ++i) {
            const record_id id = id_of(i);
            claim(id, finished(id, i + 1));
        }
        on_->commit().value();
    }
    on_->execute("PRAGMA wal_checkpoint(TRUNCATE)").value();
}

void bare_sqlite::claim(const record_id& id, const record& it) {
    sqlite::owner_bytes bytes{};
    sqlite::query insert{insert_};
    bind_id(insert, id);
    sqlite::bind_record(insert, 4, it, bytes);
    require(insert.run().value() == 1, "reference: a new key was not claimed");
}

void bare_sqlite::complete(const record_id& id, const semel::claim& by) {
    stored_result result{.body = answer_body(), .type = "text/plain"};
    seal(result);
    const auto bytes = sqlite::bytes_of(by.owner);
    const time_point now = wall_now();
    sqlite::query update{complete_};
    bind_id(update, id);
    update.bind(4, static_cast<std::int64_t>(by.fence));
    update.bind(5, std::string_view{bytes.data(), bytes.size()});
    update.bind(6, now).bind(7, now + retention);
    update.bind(8, static_cast<std::int64_t>(result.kind));
    update.bind(9, static_cast<std::int64_t>(result.checksum));
    update.bind(10, result.type).bind(11, result.ref).bind(12, result.body);
    require(update.run().value() == 1, "reference: a claimed key was not completed");
}

void bare_sqlite::look_up(const record_id& id) {
    sqlite::query select{load_};
    bind_id(select, id);
    const bool found = select.step().value() == sqlite::query::step_result::row;
    require(found, "reference: a known key was not found");
    const auto row = sqlite::read_record(select, 1).value();
    require(row.it.content == content_of(id.key), "reference: another content");
    const std::string body = row.it.result.body;
    require(!body.empty(), "reference: an empty body");
}

} // namespace semel::bench
