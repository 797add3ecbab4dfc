// A transaction on the caller's connection, and semel's records in it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/dialogue.hpp"
#include "databases/postgres/transaction/transaction_texts.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::postgres {

// Used by one caller at a time, like the connection.
class caller_transaction final : public transaction_port {
public:
    // `waits`: on whose loop; none: in place.
    caller_transaction(pg_conn* handle, socket_waiter* waits, postgres_transaction_options options)
        : options_(std::move(options)),
          handle_(handle),
          texts_(options_.table_prefix),
          on_(handle, waits),
          for_work_(handle, waits),
          suspends_(waits != nullptr) {}

    [[nodiscard]] bool blocks() const override { return !suspends_; }
    [[nodiscard]] bool suspends() const override { return suspends_; }

    // From now on the beginning of a transaction reconnects a lost connection, and then calls
    // `made_anew` with it (unless the function is empty).
    void keep_connected(std::function<void(pg_conn*)> made_anew);
    [[nodiscard]] bool lost() const { return on_.lost(); }
    // The table of the last look, by its number.
    [[nodiscard]] std::string_view looked_in() const { return looked_in_; }

    task<result<void>> begin(on_locked locked) override;
    task<result<void>> join() override;
    task<result<void>> lock(const record_id& id, locked_record& to) override;
    task<result<void>> save(const record_id& id, const record& after,
                            std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    task<result<void>> commit() override;
    // The same, and with it goes the way in of the next caller, who does not block: its BEGIN, lock
    // and look. If the server came to them (`entered()`), the connection is the next caller's
    // already, whatever became of this transaction: begin() and lock(next) find what they gave.
    task<result<void>> commit_before(const record_id& next);
    // The same with ROLLBACK, if there is nothing else to be ended first.
    [[nodiscard]] bool only_rolls_back() const;
    task<result<void>> rollback_before(const record_id& next); // never fails, as rollback()
    [[nodiscard]] bool entered() const { return entered_.has_value(); }
    [[nodiscard]] bool asks_to_repeat() const override;
    task<result<void>> rollback() override;
    void abandon() noexcept override;
    [[nodiscard]] const void* connection() const override { return handle_; }
    [[nodiscard]] std::string_view tables() const override { return options_.table_prefix; }
    [[nodiscard]] void* for_work() override { return &for_work_; }

private:
    enum class owner { nobody, us, caller };
    using number = std::array<char, 8>;            // as it goes to the server
    static constexpr std::size_t way_in_calls = 2; // BEGIN, and lock and look

    struct held_key {
        record_id id;
        std::string token = {};  // how the transaction is known again: by this, or by when it began
        std::string began = {};  // as the server said it
        std::string table = {};  // where it was looked for, likewise
        time_point seen_at = {}; // when the record that was seen was written
        bool has_checkpoints = false;
        bool outermost = false; // the one whose COMMIT is ours
    };

    // The record as it goes to the server, kept until it is sent with the commit.
    struct unsent_write {
        held_key key;
        bool usual; // no record was seen, and usual_columns say all
        number seen_fence;
        number seen_at;
        value_row record;
    };

    [[nodiscard]] bool usable() const;
    task<result<void>> begin_unprepared(on_locked locked);
    result<void> start(on_locked locked);
    void reset(on_locked locked);
    result<void> check_idle();
    result<void> check_outside();
    result<void> check_work_left();
    void forget_lost_connection();
    task<result<void>> check_tables();
    [[nodiscard]] bool must_prepare_again(const native_failure& why);
    task<result<void>> prepare();
    task<result<void>> reconnect();
    void tell_made_anew();
    result<void> check_same_place(const rows& seen);
    [[nodiscard]] failure no_floor() const;
    task<result<std::vector<rows>>> ask_way_in(const held_key& key, const number& of);
    task<result<std::vector<rows>>> prepare_way_in(const held_key& key, const number& of);
    task<result<std::vector<rows>>> wait_for_lock(const held_key& key, const number& of);
    result<void> read_look(const rows& seen, held_key& key, locked_record& to);
    task<result<void>> read_whole(result<void> read, held_key& key, locked_record& to);
    [[nodiscard]] std::optional<held_key> take_held(const record_id& id);
    task<result<void>> read_steps(const held_key& key, std::vector<checkpoint>& to);
    [[nodiscard]] unsent_write make_write(held_key key, const record& after,
                                          std::uint64_t seen_fence);
    task<result<void>> write(unsent_write made);
    task<result<void>> end_with_commit(const record_id* next);
    task<result<std::vector<rows>>> ask_end(std::vector<call> calls, const record_id* next,
                                            succession& its);
    void add_way_in(std::vector<call>& to, const record_id& id, const number& of) const;
    void add_calls(std::vector<call>& to, const unsent_write& from) const;
    [[nodiscard]] failure explain(failure why) const;

    const home_process home_;
    const postgres_transaction_options options_;
    pg_conn* const handle_;
    const transaction_texts texts_;
    dialogue on_;
    postgres_connection for_work_;
    const bool suspends_;
    bool keeps_connected_ = false;
    std::function<void(pg_conn*)> tells_made_anew_;
    bool must_tell_ = false;
    bool prepared_ = false;
    bool outdated_ = false;  // the session's statements are for tables that it does not see
    bool in_doubt_ = false;  // the last COMMIT was not answered
    bool made_anew_ = false; // the connection, to learn what became of it
    std::string looked_in_;
    bool says_level_ = false; // BEGIN names READ COMMITTED, which is not the session's default
    owner owner_ = owner::nobody;
    bool begun_ = false; // BEGIN has been sent; it waits for the first lock
    on_locked locked_ = on_locked::wait;
    std::vector<held_key> held_;
    std::string
        left_token_; // of a key that was left; taken out of the transaction with the next one
    std::optional<unsent_write> unsent_;
    // What the way in gave that travelled with the last end.
    std::optional<result<std::vector<rows>>> entered_;
    native_failure entered_why_;
};

} // namespace semel::postgres
