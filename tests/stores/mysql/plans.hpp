// How a server means to find the rows of a statement.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"
#include "mysql_fixture.hpp"

namespace semel {

inline constexpr const char* whole_key = "\"used_key_parts\":[\"tenant\",\"operation\",\"key\"]";

class mysql_plans : public mysql_test {
protected:
    mysql_plans() {
        // The newer form of MySQL has other words than MariaDB.
        if (testing_support::tested_mysql == testing_support::mysql_kind::mysql) {
            sql("SET SESSION explain_json_format_version = 1");
        }
    }

    // Without the blanks between its words.
    std::string plan(const std::string& text) {
        std::string made = sql("EXPLAIN FORMAT=JSON " + text);
        std::erase_if(made, [](char one) { return one == ' ' || one == '\n'; });
        return made;
    }
    static bool sorts(const std::string& plan) {
        return plan.find("\"filesort\":{") != std::string::npos ||
               plan.find("\"using_filesort\":true") != std::string::npos;
    }

    // Many records, most of them finished, and fresh statistics.
    void fill() {
        const auto store = open();
        (void)said<answers::started>(store->call(id_of("first"), begin_by(anna)));
        sql("INSERT INTO " + record_table() +
            " (tenant, operation, `key`, version, state, fence, owner, lease_until, begun_at, "
            "due_at, created_at, updated_at, on_lease_expiry, attempts_max, grace, "
            "processing_max) SELECT tenant, operation, SHA2(seq, 256), seq, IF(seq % 100 = 0, 0, "
            "1), "
            "fence, owner, lease_until, begun_at, due_at + seq, created_at, updated_at, "
            "on_lease_expiry, attempts_max, grace, processing_max FROM " +
            record_table() + ", " + testing_support::mysql_numbers(4));
        sql("ANALYZE TABLE " + record_table());
    }

    static mysql::row_buffer keys(int count) {
        mysql::row_buffer made;
        for (int i = 0; i < count; ++i) mysql::add_id(made.add_row(), id_of(std::to_string(i)));
        return made;
    }

    static mysql::row_buffer completions(int count) {
        mysql::row_buffer made;
        for (int i = 0; i < count; ++i) {
            mysql::add_id(made.add_row(), id_of(std::to_string(i)));
            made.add_sql("@n").add(std::int64_t{7}).add(anna).add(std::int64_t{1});
            made.add(std::int64_t{0}).add(std::int64_t{5});
            made.add(std::string_view{"t"}).add(std::string_view{}).add(std::string_view{"body"});
        }
        return made;
    }

    // How the plan finds the rows of that table.
    static std::string access(const std::string& plan, const std::string& table) {
        const std::string mark = "\"access_type\":\"";
        const auto named = plan.find("\"table_name\":\"" + table + "\"");
        if (named == std::string::npos) return "none: " + plan.substr(0, 500);
        const auto at = plan.find(mark, named) + mark.size();
        return plan.substr(at, plan.find('"', at) - at);
    }

    const mysql::statement_texts texts_{prefix(), testing_support::tested_mysql ==
                                                          testing_support::mysql_kind::mariadb
                                                      ? mysql_dialect::mariadb
                                                      : mysql_dialect::mysql8};
};

} // namespace semel
