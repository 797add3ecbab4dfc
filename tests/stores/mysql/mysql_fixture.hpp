// Tables of its own for each test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "semel/databases/mysql.hpp"
#include "semel/open.hpp"
#include "support/mysql_server.hpp"
#include "support/store_words.hpp"

namespace semel {

class mysql_test : public testing::Test {
protected:
    mysql_test() { migrate(url(), migrate_mode::run).value(); }

    [[nodiscard]] std::string url() const { return prefix_.url(); }
    [[nodiscard]] const std::string& prefix() const { return prefix_.name(); }
    [[nodiscard]] std::string record_table() const { return prefix_.name() + "record"; }

    [[nodiscard]] mysql_store_options options() {
        return {.port = static_cast<std::uint16_t>(testing_support::mysql_port()),
                .user = "semel",
                .password = "semel",
                .database = "semel",
                .table_prefix = prefix_.name(),
                .lanes = 1,
                .statement_timeout = std::chrono::seconds{30}, // the machine may be busy
                .counters = &counters_};
    }
    [[nodiscard]] std::unique_ptr<store> open() { return open_mysql_store(options()).value(); }

    // SQL behind the store's back.
    std::string sql(const std::string& text) { return client_.sql(text); }

    [[nodiscard]] store_counters counted() const { return counters_; }

    store_counters counters_;

private:
    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
};

} // namespace semel
