// Tables of semel in a second schema, empty, to be mistaken for those of the first.
#pragma once

#include <string>

#include "database.hpp"

namespace semel {

class other_tables {
public:
    explicit other_tables(const std::string& prefix)
        : schema(prefix + "others"), record_(schema + "." + prefix + "record") {
        on_.sql("CREATE SCHEMA " + schema);
        for (const char* one : {"record", "meta", "checkpoint"}) {
            const std::string table = prefix + one;
            on_.sql("CREATE TABLE " + schema + "." + table + " (LIKE " + table + " INCLUDING ALL)");
        }
        const std::string lock = prefix + "key_lock";
        on_.sql("CREATE DOMAIN " + schema + "." + lock + " AS " + lock);
        const std::string meta = prefix + "meta";
        on_.sql("INSERT INTO " + schema + "." + meta + " SELECT * FROM " + meta);
    }
    other_tables(const other_tables&) = delete;
    other_tables& operator=(const other_tables&) = delete;
    ~other_tables() { on_.sql("DROP SCHEMA " + schema + " CASCADE"); }

    [[nodiscard]] std::string recorded() const {
        return on_.sql("SELECT count(*) FROM " + record_);
    }

    const std::string schema;

private:
    const std::string record_;
    mutable database_client on_;
};

} // namespace semel
