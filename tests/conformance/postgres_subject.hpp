// A store in tables of its own on a PostgreSQL server as a subject.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "semel/conformance.hpp"
#include "semel/open.hpp"
#include "support/postgres_server.hpp"

namespace semel::conformance {

class postgres_backing final : public backing {
public:
    postgres_backing() { migrate(prefix_.url(), migrate_mode::run).value(); }

    result<std::unique_ptr<store>> open() override { return semel::open_store(prefix_.url()); }

    // Another number whenever a row has been written, or only locked.
    std::optional<std::uint64_t> writes() override {
        std::string versions;
        for (const char* const table : {"meta", "record", "checkpoint", "audit"}) {
            versions += client_.sql("SELECT string_agg(concat(ctid, xmin, xmax), ' ') FROM " +
                                    prefix_.name() + table);
        }
        return std::hash<std::string>{}(versions);
    }

private:
    const testing_support::postgres_prefix prefix_;
    testing_support::postgres_client client_;
};

inline subject postgres_subject() {
    return {.name = "postgres",
            .make = [] { return std::make_unique<postgres_backing>(); },
            .opens = instances::many};
}

} // namespace semel::conformance
