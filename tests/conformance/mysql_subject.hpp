// A store in tables of its own on a MariaDB server as a subject.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "semel/conformance.hpp"
#include "semel/open.hpp"
#include "semel/stores/mysql.hpp"
#include "support/mysql_server.hpp"

namespace semel::conformance {

class mysql_backing final : public backing {
public:
    explicit mysql_backing(mysql_dialect dialect) : dialect_(dialect) {
        migrate(prefix_.url(), migrate_mode::run).value();
    }

    result<std::unique_ptr<store>> open() override {
        if (dialect_ == mysql_dialect::automatic) return semel::open(prefix_.url());
        return open_mysql_store({.port = static_cast<std::uint16_t>(testing_support::mysql_port()),
                                 .user = "semel",
                                 .password = "semel",
                                 .database = "semel",
                                 .table_prefix = prefix_.name(),
                                 .dialect = dialect_});
    }

    // Another number whenever a row has been written.
    std::optional<std::uint64_t> writes() override {
        std::string versions =
            client_.sql("SELECT HEX(CONCAT(`key`,':',version,':',updated_at)) "
                        "FROM " +
                        prefix_.name() + "record ORDER BY tenant,operation,`key`");
        versions += client_.sql("SELECT CONCAT(HEX(name),value) FROM " + prefix_.name() + "meta");
        for (const char* const table : {"checkpoint", "audit"}) {
            versions += client_.sql("SELECT COUNT(*) FROM " + prefix_.name() + table) + ",";
        }
        return std::hash<std::string>{}(versions);
    }

private:
    const mysql_dialect dialect_;
    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
};

inline subject mysql_subject() {
    return {.name = "mysql",
            .make = [] { return std::make_unique<mysql_backing>(mysql_dialect::automatic); },
            .opens = instances::many};
}

// MySQL's SQL, which MariaDB understands too.
inline subject mysql8_subject() {
    return {.name = "mysql8_dialect",
            .make = [] { return std::make_unique<mysql_backing>(mysql_dialect::mysql8); },
            .opens = instances::many};
}

} // namespace semel::conformance
