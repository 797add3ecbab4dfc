#include "bare_postgres.hpp"

#include <algorithm>
#include <string>

#include "databases/postgres/store/row.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr owner_id owner{.high = 1, .low = 2};

record_id id_of(std::uint64_t number) {
    const request made = request_for(key_of(number));
    return {.tenant = made.tenant, .operation = made.operation, .key = made.key};
}

} // namespace

bare_postgres::bare_postgres(const postgres::session_options& options)
    : session_(options),
      insert_new_(options.texts.insert_new),
      complete_(options.texts.complete_there),
      load_(options.texts.load) {
    session_.open().value();
}

postgres::rows bare_postgres::ask(postgres::batch_call& what) {
    const postgres::call made = what.make();
    auto got =
        session_.get().value()->pipeline({&made, 1}, local_clock::now() + std::chrono::seconds{30});
    return std::move(std::move(got).value().back());
}

void bare_postgres::add_claim(postgres::column_group& row, const record_id& id) {
    const commands::begin what{.owner = owner, .lease = std::chrono::seconds{30}};
    row.add(owner).add(what.lease);
    row.add(static_cast<std::int64_t>(what.policy.on_lease_expiry));
    row.add(std::int64_t{what.policy.attempts_max});
    row.add(what.policy.grace).add(what.policy.processing_max);
    row.add(content_of(id.key).as_string_view()).add_unless_empty(what.attributes);
}

void bare_postgres::claim(std::uint64_t first, std::size_t group) {
    insert_new_.clear();
    for (std::size_t i = 0; i < group; ++i) {
        const record_id id = id_of(first + i);
        postgres::column_group& row = insert_new_.add(nobody_);
        postgres::add_id(row, id);
        add_claim(row, id);
    }
    const auto got = ask(insert_new_);
    require(got.count() == static_cast<int>(group), "bare: a new key was not claimed");
    claims_.clear();
    for (int row = 0; row < got.count(); ++row) {
        claims_.push_back({.fence = static_cast<std::uint64_t>(got.integer(row, 1)),
                           .place = std::string{got.bytes(row, 2)}});
    }
}

void bare_postgres::complete(std::uint64_t first, std::size_t group) {
    complete_.clear();
    for (std::size_t i = 0; i < group; ++i) {
        stored_result result{.body = answer_body()};
        seal(result);
        postgres::column_group& row = complete_.add(nobody_);
        postgres::add_id(row, id_of(first + i));
        row.add_null().add(claims_[i].fence).add(owner).add(duration{std::chrono::hours{24}});
        row.add(static_cast<std::int64_t>(result.kind)).add(result.checksum);
        row.add_unless_empty(result.type).add_unless_empty(result.ref);
        row.add(std::string_view{result.body}).add(std::string_view{claims_[i].place});
    }
    require(ask(complete_).count() == static_cast<int>(group), "bare: a claim was not completed");
}

std::size_t bare_postgres::run_first(std::uint64_t first, std::size_t group, seconds most) {
    const stopwatch watch;
    std::size_t done = 0;
    for (; watch.elapsed() < most; done += group) {
        claim(first + done, group);
        complete(first + done, group);
    }
    return done;
}

std::size_t bare_postgres::run_replays(std::size_t known, std::uint64_t seed, seconds most) {
    const stopwatch watch;
    random_order order{seed, known};
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) {
        const std::uint64_t number = order.next();
        load_.clear();
        postgres::column_group& row = load_.add(nobody_);
        postgres::add_id(row, id_of(number));
        row.add_null();
        const auto got = ask(load_);
        require(got.count() == 1 && !got.is_null(0, 3), "bare: a known key was not found");
        require(postgres::read_record(got, 0, 4).value().result.body == answer_body(),
                "bare: another answer");
    }
    return done;
}

void bare_postgres::preload(std::size_t count) {
    constexpr std::size_t group = 1'000;
    for (std::size_t first = 0; first < count; first += group) {
        const std::size_t size = std::min(group, count - first);
        claim(first, size);
        complete(first, size);
    }
}

} // namespace semel::bench
