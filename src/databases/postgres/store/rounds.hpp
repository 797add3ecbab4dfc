// The running commands of a batch: what each still needs, and the round trips for that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/connection.hpp"
#include "databases/postgres/store/places.hpp"
#include "databases/postgres/store/statements.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/record_machine.hpp"
#include "store/begin_streak.hpp"
#include "store/lane.hpp"

namespace semel::postgres {

// What a command still needs before it can be answered.
enum class need {
    first_try, // the usual case, natively in one statement: new key, own claim where it was put
    by_key,    // own claim, wherever its row is now
    look,      // the record, to be judged by apply()
    save,      // what apply() made of it, if the record is still the same
    nothing,   // answered
};

// The result of apply(), and the version of the row that apply() was shown.
struct judgement {
    std::uint32_t version = 0;
    record before = {};
    applied made = {};
    time_point now = {};
};

struct pending {
    job* of = nullptr;
    need next = need::first_try;
    int turns = 0;
    std::unique_ptr<judgement> judged = {}; // with need::save
};

// One statement of a batch: its rows, and the command of each row.
struct batch_call {
    explicit batch_call(const batch_statement& of);

    column_group& add(pending& whose) { return who.push_back(&whose), groups.front(); }
    void clear();
    [[nodiscard]] call make();

    const batch_statement& what;
    std::vector<column_group> groups;
    std::vector<pending*> who;
};

enum class haste { patient, impatient };

// One thread at a time. Buffers are kept from round to round.
class rounds {
public:
    rounds(const statement_texts& texts, store_counters& counters);

    // One round trip and one transaction. It brings each command one step further, or none of them.
    // Earlier answers stay. `failure::possible` is about the commands that write.
    [[nodiscard]] result<void> go(connection& on, std::span<pending* const> group, haste how,
                                  local_time deadline);

private:
    struct started_row {
        pending* who;
        claim by;
        time_point now;
    };

    [[nodiscard]] expected expect_of(std::span<pending* const> group) const;
    void clear();
    void send(pending& one);
    void send_begin(pending& one, const commands::begin& what);
    void send_new(pending& one, const commands::begin& what);
    void send_complete(pending& one, const commands::complete& what);
    void send_fail(pending& one, const commands::fail& what);
    void send_renew(pending& one, const commands::renew& what);
    void send_look(batch_call& with, pending& one);
    void send_save(pending& one);
    void send_audit(batch_call& to);

    [[nodiscard]] std::vector<call> calls(haste how);
    void take(std::span<const rows> got);
    void take_new(const rows& got);
    void take_inserted(const rows& got);
    void take_rest(const rows& got);
    void take_looked(const rows& got);
    void take_settled(const batch_call& of, const rows& got, need otherwise);
    void take_renewed(const rows& got);
    void take_written(const batch_call& of, const rows& got);
    void judge(pending& one, const rows& got, int row);
    void raise_fence(const started_row& one, const rows& got, int row);

    const statement_texts& texts_;
    store_counters& counters_;
    batch_call insert_, insert_new_, complete_, complete_there_, fail_, renew_, load_, load_rest_,
        save_, erase_;
    places places_;
    begin_streak begins_;
    expected expects_ = expected::anything; // of the begins in this round
    std::array<char, 8> floor_bytes_ = {};
    std::uint64_t highest_erased_ = 0;
    std::size_t writes_ = 0;           // in this round
    std::vector<started_row> started_; // in this round
};

} // namespace semel::postgres
