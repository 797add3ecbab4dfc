// Every SQL statement of the outbox in PostgreSQL.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "semel/outbox/table.hpp"

namespace semel::outbox::pg {

struct text {
    std::string name;
    std::string sql;
};

// $1 ids, $2 topics … as arrays.
[[nodiscard]] std::string insert_text(std::string_view prefix);

// Gives a statement its name, and its tables their prefix.
class putter {
public:
    explicit putter(std::string_view prefix) : prefix_(prefix) {}
    void operator()(text& to, const std::string& name, const std::string& sql) const;

private:
    std::string_view prefix_;
};

// Numbers are bigint, owners uuid. Rows are returned as `columns` says.
struct statement_texts {
    statement_texts(std::string_view prefix, on_ack ack);

    // $1 shard, $2 owner, $3 token, $4 lease, $5 after, $6 how many, $7 ids that are done,
    // $8 their token → done, selected, columns; one row at least
    std::array<text, 4> claim; // by claim_range
    text settle;               // $1 owner, $2 token, $3 ids → how many
    // $1 owner, $2 token; ids, statuses, delays, tries, errors → ids
    text give_back;
    text renew;   // $1 owner, $2 token, $3 ids, $4 lease → ids
    text release; // $1 shard, $2 owner, $3 token → ids
    text shards_used;

    text attend_self;   // $1 number of the relay, $2 owner, $3 lease
    text attend_shards; // $1 how many
    text attend_own;    // $1 owner, $2 lease → shards
    text attend_all;    // → shard, is free
    text take;          // $1 shard, $2 owner, $3 lease → epoch, lapsed at
    text give_shard;    // $1 shard, $2 owner, $3 epoch
    text leave;         // $1 number of the relay, $2 owner
    // All with $1 shard, $2 owner, $3 epoch
    text tidy_retries;
    text tidy_claims;
    text tidy_parked;
    text dead_keys;         // → keys; $1 only
    text settle_ordered;    // $4 ids → how many
    text give_back_ordered; // $4 … as in give_back → ids
    text read;              // $1 shard, $2 after, $3 how many → columns

    text list;    // $1 status or -1, $2 topic or empty, $3 after, $4 how many → columns, view
    text show;    // $1 id → the same
    text requeue; // $1 ids, $2 1 for all dead ones → ids
    text drop;    // $1 ids → ids
    text measure; // $1 most → waiting, dead, age

    [[nodiscard]] std::vector<const text*> all() const;

private:
    void add_parallel(const putter& put, on_ack ack);
    void add_shards(const putter& put);
    void add_ordered(const putter& put, on_ack ack);
    void add_operators(const putter& put);
};

} // namespace semel::outbox::pg
