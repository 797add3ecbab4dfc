// A store in tables of its own on a MariaDB or MySQL server as a subject.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "semel/conformance.hpp"
#include "semel/open.hpp"
#include "support/mysql_server.hpp"

namespace semel::conformance {

class mysql_backing final : public backing {
public:
    explicit mysql_backing(testing_support::mysql_kind of) : prefix_(of), client_(of) {
        migrate(prefix_.url(), migrate_mode::run).value();
    }

    result<std::unique_ptr<store>> open() override { return semel::open_store(prefix_.url()); }

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
    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
};

inline subject mysql_subject(testing_support::mysql_kind of) {
    return {.name = testing_support::name_of(of),
            .make = [of] { return std::make_unique<mysql_backing>(of); },
            .opens = instances::many};
}

} // namespace semel::conformance
