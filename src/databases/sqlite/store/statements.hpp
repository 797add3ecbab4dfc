// Every SQL statement of the driver, in the driver's words.
#pragma once

#include <string>
#include <string_view>

namespace semel::sqlite {

struct statement_texts {
    explicit statement_texts(std::string_view prefix);

    // ?1-?3 record id, ?4 … the columns in record_columns order
    std::string insert;
    // ?1-?3 record id, ?4 fence, ?5 owner, ?6 now, ?7 expires_at, ?8 … kind, checksum, type, ref,
    // body. Only for a record without checkpoints.
    std::string complete;
    std::string load;  // ?1-?3 record id → id, record_columns
    std::string save;  // ?1 id, ?2 … record_columns
    std::string erase; // ?1 id

    std::string load_checkpoints;  // ?1 id → name, data
    std::string add_checkpoint;    // ?1 id, ?2 position, ?3 name, ?4 data
    std::string erase_checkpoints; // ?1 id

    std::string floor;       // → value
    std::string raise_floor; // ?1 at least

    std::string add_audit;  // ?1-?3 record id, ?4 at, ?5 act, ?6 actor, ?7 reason, ?8 fence
    std::string load_audit; // ?1-?3 record id → at, act, actor, reason, fence

    // ?1-?3 from this id on, ?4-?6 up to but without that one, ?7 how many, ?8 1 with the result's
    // body, else 0; lowest ids first → tenant, operation, key, record_columns
    std::string search_ids;
    std::string search_ref; // ?9 reference
    std::string search_failed;
    std::string search_stuck; // ?9 lapsed before that time

    // ?1 now, ?2 how many → id, fence, checkpoints
    std::string find_expired;
    std::string find_forsaken;
};

} // namespace semel::sqlite
