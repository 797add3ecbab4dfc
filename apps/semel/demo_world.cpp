#include "demo_world.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "commands.hpp"

namespace semel::app::demo {

namespace {

constexpr int lock_wait_ms = 10'000;

[[noreturn]] void fail(sqlite3* on) {
    throw std::runtime_error{std::string{"the demo's database: "} + sqlite3_errmsg(on)};
}

struct finalizer {
    void operator()(sqlite3_stmt* it) const { sqlite3_finalize(it); }
};

} // namespace

// ---- database -----------------------------------------------------------------------------------

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
    const std::lock_guard lock{mutex_};
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
    while (code == SQLITE_ROW) {
        if (!first) first = sqlite3_column_int64(prepared, 0);
        code = sqlite3_step(prepared);
    }
    if (code != SQLITE_DONE) fail(handle());
    return first;
}

lock_state database::write_lock() {
    const std::lock_guard lock{mutex_};
    sqlite3_busy_timeout(handle(), 0);
    const int code = sqlite3_exec(handle(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) sqlite3_exec(handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_busy_timeout(handle(), lock_wait_ms);
    return code == SQLITE_OK ? lock_state::free : lock_state::held;
}

// ---- shop ---------------------------------------------------------------------------------------

shop::shop(const std::filesystem::path& file) : data_(file) {
    data_.run("CREATE TABLE IF NOT EXISTS orders "
              "(id INTEGER PRIMARY KEY, key TEXT NOT NULL, amount INTEGER NOT NULL)");
    data_.run("CREATE TABLE IF NOT EXISTS remembered "
              "(key TEXT PRIMARY KEY, answer INTEGER NOT NULL)");
}

std::int64_t shop::add_order(const std::string& key, int amount) {
    return data_
        .run("INSERT INTO orders (key, amount) VALUES (?, ?) RETURNING id",
             {key, std::to_string(amount)})
        .value();
}

std::size_t shop::orders(const std::string& key) {
    return static_cast<std::size_t>(
        data_.run("SELECT count(*) FROM orders WHERE key = ?", {key}).value());
}

std::int64_t shop::amount_of(std::int64_t order) {
    return data_.run("SELECT amount FROM orders WHERE id = ?", {std::to_string(order)}).value();
}

std::optional<std::int64_t> shop::remembered(const std::string& key) {
    return data_.run("SELECT answer FROM remembered WHERE key = ?", {key});
}

void shop::remember(const std::string& key, std::int64_t answer) {
    data_.run("INSERT OR IGNORE INTO remembered (key, answer) VALUES (?, ?)",
              {key, std::to_string(answer)});
}

// ---- payment provider ---------------------------------------------------------------------------

payment_provider::payment_provider(const std::filesystem::path& file) : data_(file) {
    data_.run("CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, dedup_key TEXT UNIQUE, "
              "order_key TEXT NOT NULL, amount INTEGER NOT NULL)");
    data_.run("CREATE TABLE IF NOT EXISTS calls (order_key TEXT NOT NULL)");
}

std::int64_t payment_provider::charge(const charge_request& what) {
    data_.run("INSERT INTO calls (order_key) VALUES (?)", {what.order});
    const std::string amount = std::to_string(what.amount);
    if (!what.key) {
        return data_
            .run("INSERT INTO charges (order_key, amount) VALUES (?, ?) RETURNING id",
                 {what.order, amount})
            .value();
    }
    return data_
        .run("INSERT INTO charges (dedup_key, order_key, amount) VALUES (?, ?, ?) "
             "ON CONFLICT (dedup_key) DO UPDATE SET amount = amount RETURNING id",
             {*what.key, what.order, amount})
        .value();
}

std::size_t payment_provider::charges(const std::string& order) {
    return static_cast<std::size_t>(
        data_.run("SELECT count(*) FROM charges WHERE order_key = ?", {order}).value());
}

std::size_t payment_provider::calls(const std::string& order) {
    return static_cast<std::size_t>(
        data_.run("SELECT count(*) FROM calls WHERE order_key = ?", {order}).value());
}

// ---- folders ------------------------------------------------------------------------------------

world::world(const std::filesystem::path& where)
    : folder(where), shop(where / "shop.db"), provider(where / "payments.db") {}

demo_folder::demo_folder(const std::string& keep)
    : then_(keep.empty() ? afterwards::remove : afterwards::keep) {
    if (then_ == afterwards::keep) {
        std::error_code wrong;
        std::filesystem::create_directories(keep, wrong);
        if (wrong) throw usage_error("cannot make the folder " + keep + ": " + wrong.message());
        path_ = keep;
        if (std::filesystem::exists(path_ / "shop.db")) {
            throw usage_error("the folder " + keep + " holds an earlier demo; name a new one");
        }
        return;
    }
    std::string name = std::filesystem::temp_directory_path() / "semel-demo-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "cannot make " + name);
    }
    path_ = name;
}

demo_folder::~demo_folder() {
    std::error_code ignored;
    if (then_ == afterwards::remove) std::filesystem::remove_all(path_, ignored);
}

} // namespace semel::app::demo
