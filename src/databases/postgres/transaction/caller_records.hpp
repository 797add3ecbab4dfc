// Records as a transaction on the application's connection sees and writes them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/transaction/caller_session.hpp"
#include "semel/core/record.hpp"
#include "sql/held_keys.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::postgres {

// One caller at a time, like its session, which outlives it.
class caller_records {
public:
    static constexpr std::size_t way_in_calls = 2; // BEGIN; lock and look
    using number = std::array<char, 8>;            // as it goes to the server

    explicit caller_records(caller_session& in) : in_(in) {}

    void begin(on_locked locked);
    void join();
    [[nodiscard]] task<result<void>> lock(const record_id& id, locked_record& to);
    [[nodiscard]] task<result<void>> save(const record_id& id, const record& after,
                                          std::uint64_t seen_fence);
    void leave(const record_id& id);

    // ---- for the end of the transaction

    void end() { held_.end(); } // a write that waits for COMMIT stays
    void drop_write() { unsent_.reset(); }
    // The write that waits for COMMIT. It lives until drop_write().
    void add_write(std::vector<call>& to) const;
    void add_way_in(std::vector<call>& to, const record_id& id, const number& of) const;
    [[nodiscard]] number lock_of(const record_id& id) const;
    [[nodiscard]] failure explain(failure why);

    // The way in that travelled with the end of another transaction: begin() and lock() find what
    // it gave.
    void expect(succession with);
    [[nodiscard]] bool entered() const { return entered_.has_value(); }
    void forget_entered() { entered_.reset(); }

private:
    struct held_key {
        record_id id;
        std::string token = {};  // how the transaction is known again: by this, or by when it began
        std::string began = {};  // as the server said it
        std::string table = {};  // where it was looked for, likewise
        time_point seen_at = {}; // when the record that was seen was written
        bool has_checkpoints = false;
        bool outermost = false;
    };

    // The record as it goes to the server.
    struct unsent_write {
        held_key key;
        bool usual; // no record was seen, and usual_columns say all
        number seen_fence;
        number seen_at;
        value_row record;
    };
    using answers = result<std::vector<rows>>;

    [[nodiscard]] task<answers> ask_way_in(const held_key& key, const number& of);
    [[nodiscard]] task<answers> prepare_way_in(const held_key& key, const number& of);
    [[nodiscard]] task<answers> wait_for_lock(const held_key& key, const number& of);
    [[nodiscard]] task<result<void>> begin_with_level(const record_id& id, locked_record& to);
    [[nodiscard]] result<void> read_look(const rows& seen, held_key& key, locked_record& to);
    [[nodiscard]] task<result<void>> read_whole(result<void> read, held_key& key,
                                                locked_record& to);
    [[nodiscard]] task<result<void>> read_steps(const held_key& key, std::vector<checkpoint>& to);
    [[nodiscard]] failure no_floor() const;
    [[nodiscard]] unsent_write make_write(held_key key, const record& after,
                                          std::uint64_t seen_fence) const;
    [[nodiscard]] task<result<void>> write_now(unsent_write made);
    void add_calls(std::vector<call>& to, const unsent_write& from) const;

    caller_session& in_;
    on_locked locked_ = on_locked::wait;
    sql::held_keys<held_key> held_;
    // Of a key that was left; taken out of the transaction with the next one.
    std::string left_token_;
    std::optional<unsent_write> unsent_;
    std::optional<answers> entered_;
    native_failure entered_why_;
};

} // namespace semel::postgres
