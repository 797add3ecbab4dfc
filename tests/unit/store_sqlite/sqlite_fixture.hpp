// A folder that goes away with the test.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "semel/databases/sqlite.hpp"
#include "support/store_words.hpp"

namespace semel {

class sqlite_test : public testing::Test {
protected:
    sqlite_test() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~sqlite_test() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string folder() const { return folder_; }
    [[nodiscard]] std::string path() const { return folder_ + "/records.db"; }

    [[nodiscard]] std::unique_ptr<store> open() { return open({.path = path()}); }
    [[nodiscard]] static std::unique_ptr<store> open(const sqlite_store_options& options) {
        return open_sqlite_store(options).value();
    }

    // The failure of opening, or what says that there was none.
    [[nodiscard]] static failure open_failure(const sqlite_store_options& options) {
        auto opened = open_sqlite_store(options);
        if (opened) return {.code = errc::internal, .detail = "it could be opened"};
        return std::move(opened).error();
    }

    // Runs SQL behind the store's back; returns the first column of the first row.
    static std::string sql(const std::string& file, const std::string& text) {
        sqlite3* db = nullptr;
        EXPECT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
        sqlite3_busy_timeout(db, 5'000);
        std::string first;
        char* error = nullptr;
        sqlite3_exec(db, text.c_str(), &keep_first, &first, &error);
        EXPECT_EQ(error, nullptr) << text << ": " << error;
        sqlite3_free(error);
        sqlite3_close(db);
        return first;
    }
    std::string sql(const std::string& text) const { return sql(path(), text); }

private:
    static int keep_first(void* to, int, char** values, char**) {
        auto& first = *static_cast<std::string*>(to);
        if (first.empty() && values[0] != nullptr) first = values[0];
        return 0;
    }

    std::string folder_;
};

inline time_point at(std::int64_t microseconds) {
    return time_point{duration{microseconds}};
}

} // namespace semel
