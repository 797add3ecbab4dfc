#include "demo/world.hpp"

#include <sqlite3.h>

#include <stdexcept>

#include "semel/base/mutex.hpp"

namespace semel::demo {
namespace {

constexpr int lock_wait_ms = 10'000;

[[noreturn]] void fail(sqlite3* on) {
    throw std::runtime_error{std::string{"the demo's database: "} + sqlite3_errmsg(on)};
}

struct finalizer {
    void operator()(sqlite3_stmt* it) const { sqlite3_finalize(it); }
};

} // namespace

void database::closer::operator()(sqlite3* it) const {
    sqlite3_close_v2(it);
}

database::database(const std::filesystem::path& file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(file.c_str(), &opened);
    handle_.reset(opened);
    if (code != SQLITE_OK) fail(opened);
    sqlite3_busy_timeout(opened, lock_wait_ms);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
}

std::optional<std::int64_t> database::run(const std::string& sql,
                                          const std::vector<std::string>& parameters) {
    const detail::guard lock{mutex_};
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
        fail(handle());
    }
    const std::unique_ptr<sqlite3_stmt, finalizer> statement{prepared};
    int at = 0;
    for (const auto& one : parameters) {
        sqlite3_bind_text(prepared, ++at, one.data(), static_cast<int>(one.size()), SQLITE_STATIC);
    }
    std::optional<std::int64_t> first;
    int code = sqlite3_step(prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) {
        if (!first) first = sqlite3_column_int64(prepared, 0);
    }
    if (code != SQLITE_DONE) fail(handle());
    return first;
}

bool database::is_locked() {
    sqlite3_busy_timeout(handle(), 0);
    const bool is_free =
        sqlite3_exec(handle(), "BEGIN IMMEDIATE; ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_busy_timeout(handle(), lock_wait_ms);
    return !is_free;
}

world::world(const std::filesystem::path& where)
    : folder(where), shop(where / shop_file), provider_(where / "payments.db") {
    shop.run("CREATE TABLE IF NOT EXISTS orders "
             "(id INTEGER PRIMARY KEY, key TEXT NOT NULL, amount INTEGER NOT NULL)");
    shop.run("CREATE TABLE IF NOT EXISTS remembered "
             "(key TEXT PRIMARY KEY, answer INTEGER NOT NULL)");
    provider_.run("CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, dedup_key TEXT "
                  "UNIQUE, key TEXT NOT NULL, amount INTEGER NOT NULL)");
    provider_.run("CREATE TABLE IF NOT EXISTS calls (key TEXT NOT NULL)");
}

std::int64_t world::add_order(const std::string& key, int amount) {
    return shop
        .run("INSERT INTO orders (key, amount) VALUES (?, ?) RETURNING id",
             {key, std::to_string(amount)})
        .value();
}

std::int64_t world::charge(const std::string& key, int amount,
                           const std::optional<std::string>& dedup_key) {
    provider_.run("INSERT INTO calls (key) VALUES (?)", {key});
    return provider_
        .run("INSERT INTO charges (key, amount, dedup_key) VALUES (?, ?, nullif(?, '')) "
             "ON CONFLICT (dedup_key) DO UPDATE SET amount = amount RETURNING id",
             {key, std::to_string(amount), dedup_key.value_or("")})
        .value();
}

std::size_t world::effects(const std::string& key) {
    const auto orders = shop.run("SELECT count(*) FROM orders WHERE key = ?", {key});
    const auto charges = provider_.run("SELECT count(*) FROM charges WHERE key = ?", {key});
    return static_cast<std::size_t>(orders.value() + charges.value());
}

std::size_t world::charge_calls(const std::string& key) {
    return static_cast<std::size_t>(
        provider_.run("SELECT count(*) FROM calls WHERE key = ?", {key}).value());
}

std::int64_t world::amount_of(std::int64_t order) {
    return shop.run("SELECT amount FROM orders WHERE id = ?", {std::to_string(order)}).value();
}

std::optional<std::int64_t> world::remembered(const std::string& key) {
    return shop.run("SELECT answer FROM remembered WHERE key = ?", {key});
}

void world::remember(const std::string& key, std::int64_t answer) {
    shop.run("INSERT OR IGNORE INTO remembered (key, answer) VALUES (?, ?)",
             {key, std::to_string(answer)});
}

} // namespace semel::demo
