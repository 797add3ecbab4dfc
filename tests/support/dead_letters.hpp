// An outbox on a SQLite file of its own: dead letters of 90 seconds ago, and one event that waits.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "semel/databases/sqlite/outbox.hpp"
#include "semel/outbox.hpp"

namespace semel::support {

class dead_letters {
public:
    // They are "event-1", "event-2" …, in the rows 1, 2 …; the one behind them waits.
    explicit dead_letters(int count, const std::string& payload = "{}") {
        std::string name = std::filesystem::temp_directory_path() / "semel-outbox-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make " + name};
        folder_ = name;
        static_cast<void>(opener()().value()); // makes the tables
        if (sqlite3_open(file().c_str(), &handle_) != SQLITE_OK) throw std::bad_alloc{};
        run("PRAGMA synchronous=FULL; BEGIN");
        outbox::sqlite_writer in{handle_};
        for (int at = 1; at <= count + 1; ++at) {
            const std::string number = std::to_string(at);
            static_cast<void>(outbox::appender{}
                                  .append(in, {.topic = "orders",
                                               .key = "order-" + number,
                                               .payload = payload,
                                               .headers = {{"a", "b"}, {"number", "00-" + number}}})
                                  .value());
        }
        run("UPDATE semel_outbox SET status = 2, attempts = 12, last_error = x'35' WHERE id <= " +
            std::to_string(count));
        run("UPDATE semel_outbox SET created_at = created_at - 90000000, event_id = 'event-' || "
            "id; COMMIT");
    }
    dead_letters(const dead_letters&) = delete;
    dead_letters& operator=(const dead_letters&) = delete;
    ~dead_letters() {
        sqlite3_close(handle_);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] outbox::table_opener opener() const {
        return [path = file()] { return outbox::open_sqlite_table({.path = path}); };
    }
    // What the table itself says.
    [[nodiscard]] outbox::backlog measure() const { return opener()().value()->measure().value(); }

private:
    [[nodiscard]] std::string file() const { return folder_ / "outbox.db"; }
    void run(const std::string& sql) {
        if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
        throw std::runtime_error{sqlite3_errmsg(handle_)};
    }

    std::filesystem::path folder_;
    sqlite3* handle_ = nullptr;
};

} // namespace semel::support
