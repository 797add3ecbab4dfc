// The running commands of a batch: what each still needs, and the round trips for that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "databases/mysql/client/connection.hpp"
#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/record_machine.hpp"
#include "store/lane.hpp"

namespace semel::mysql {

// What a command still needs before it can be answered.
enum class need {
    first_try, // one statement for the usual case: a new key, or the claim's own record
    look,      // the record, to be judged by apply()
    save,      // to write the result of apply(), if the record is still the same
    nothing,   // answered
};

// The result of apply(), and the version of the row that apply() was shown.
struct judgement {
    std::int64_t version = 0;
    record before = {};
    applied made = {};
    time_point now = {};
};

struct pending {
    job* of = nullptr;
    need next = need::first_try;
    int turns = 0;
    bool is_new = false;      // inserted in this round
    bool renewed = false;     // in this round
    std::int64_t too_low = 0; // version of our own row whose fence must go up
    bool wants_checkpoints = false;
    std::unique_ptr<judgement> judged = {}; // with need::save
};

// One thread at a time. Buffers are kept from round to round.
class rounds {
public:
    rounds(const statement_texts& texts, store_counters& counters);

    // One round trip with at most one commit. It brings each command one step further, or none of
    // them. Earlier answers stay. `failure::possible` is about the commands that write. Rows that
    // others hold locked are waited for up to `lock_wait`, or not at all.
    [[nodiscard]] result<void> go(connection& on, std::span<pending* const> group,
                                  duration lock_wait, local_time deadline);

private:
    // The commands of one kind: their rows, and the command of each row.
    struct batch {
        row_buffer rows = row_buffer{};
        std::vector<pending*> who = {};

        row_buffer& add(pending& one);
        void clear();
    };
    // A statement leaves its number of rows in a variable, which is read at the end.
    struct counted {
        std::string variable;
        const batch* of = nullptr; // either this
        pending* saved = nullptr;  // or this
    };

    enum class way {
        any,
        only_look, // begins that are probably repeats
        one_begin, // a single begin, which reads the time in the same statement
        // A single command, by a prepared statement of the session:
        one_new, // a begin that is probably new
        one_complete,
    };

    // After so many new keys (or repeats) in a row, the next key is expected to be new (or a
    // repeat) as well. A wrong guess costs a second round trip.
    static constexpr int enough_in_a_row = 16;

    void clear();
    void choose_way(std::span<pending* const> group, duration lock_wait);
    void send(pending& one);
    void send_begin(pending& one, const commands::begin& what);
    void send_alone(pending& one, const commands::begin& what);
    void send_complete(pending& one, const commands::complete& what);
    void send_fail(pending& one, const commands::fail& what);
    void send_renew(pending& one, const commands::renew& what);
    void send_look(pending& one);
    void send_save(pending& one);

    [[nodiscard]] std::string_view now_text() const;
    row_buffer& add_now(row_buffer& to, const pending& one) const;
    row_buffer& add_claim(row_buffer& to, const pending& one, const claim& by) const;
    void add_time(row_buffer& to, const pending& one, duration later) const;
    void add_fence(row_buffer& to, const pending& one) const;

    void add_silent(std::string_view statement);
    void add_writer(std::string_view statement);
    void add_rows(std::string_view statement);
    std::string count_rows(const batch* of, pending* saved);
    void plan(duration lock_wait);
    void plan_update(const batch_update& what, const batch& of);
    void plan_save(pending& one);
    void plan_put(const row_buffer& id, const judgement& it, const std::string& saved);
    void plan_look(duration lock_wait);
    void plan_insert_then_look();
    void plan_times();
    [[nodiscard]] std::string load_text() const;
    [[nodiscard]] script make_script(duration lock_wait) const;
    [[nodiscard]] script make_plain_script() const;

    void take(std::span<rows> got, const tally& last);
    void take_expected(rows& got);
    void take_begun(rows& got);
    void take_times(rows& got);
    void remember_begins(bool mostly_new);
    void take_found(const counted& it, std::uint64_t found);
    void take_settled(const batch& of, std::uint64_t found);
    void take_saved(pending& one, std::uint64_t found);
    void take_inserted(rows& got);
    void take_looked(rows& got);
    // A record as it was found; `row` is empty if there is none.
    struct sighting {
        std::int64_t version = 0;
        std::optional<result<record_row>> row = {};
    };
    void take_row(pending& one, const rows& got, sighting& to);
    void take_record(pending& one, sighting&& seen);
    void answer_started(pending& one);
    void judge(pending& one, std::unique_ptr<judgement> it, const record* before);
    void raise_fence(pending& one, std::unique_ptr<judgement> it);
    [[nodiscard]] time_point now_of(const pending& one) const;
    [[nodiscard]] std::uint64_t fence_of(const pending& one) const;
    [[nodiscard]] std::size_t place_of_new(std::int64_t version) const;

    const statement_texts& texts_;
    store_counters& counters_;

    // Of this round:
    batch insert_, complete_, fail_, renew_, load_;
    std::vector<pending*> save_;
    std::string text_;
    std::string floor_text_; // how the floor is read, after the inserts
    way way_ = way::any;
    std::size_t silent_ = 0;  // statements without rows
    std::size_t writers_ = 0; // statements that write
    std::vector<counted> counted_;
    std::int64_t first_version_ = 0; // of the rows that are inserted
    std::uint64_t highest_erased_ = 0;
    std::size_t writes_ = 0;
    time_point now_ = {};
    std::uint64_t sent_floor_ = 0; // the floor that the sent fences are based on

    // What is known from earlier rounds. A floor that is too old is noticed after inserting.
    std::uint64_t floor_ = 0;
    bool mostly_new_ = true; // whether the last keys were new
    int in_a_row_ = 0;       // how many rounds in a row, up to enough_in_a_row
};

} // namespace semel::mysql
