// Tables of its own for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "semel/databases/postgres.hpp"
#include "semel/open.hpp"
#include "support/postgres_server.hpp"
#include "support/store_words.hpp"

namespace semel {

class postgres_test : public testing::Test {
protected:
    postgres_test() { migrate(url(), migrate_mode::run).value(); }

    [[nodiscard]] std::string url() const { return prefix_.url(); }
    [[nodiscard]] const std::string& prefix() const { return prefix_.name(); }
    [[nodiscard]] std::string record_table() const { return prefix_.name() + "record"; }

    [[nodiscard]] postgres_store_options options() {
        return {.url = testing_support::postgres_url(),
                .table_prefix = prefix_.name(),
                .lanes = 1,
                .statement_timeout = std::chrono::seconds{30}, // the machine may be busy
                .counters = &counters_};
    }
    [[nodiscard]] std::unique_ptr<store> open() { return open_postgres_store(options()).value(); }

    // SQL behind the store's back.
    std::string sql(const std::string& text) { return client_.sql(text); }

    [[nodiscard]] store_counters counted() const { return counters_; }

    store_counters counters_;

private:
    const testing_support::postgres_prefix prefix_;
    testing_support::postgres_client client_;
};

} // namespace semel
