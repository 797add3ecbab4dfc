#include "databases/postgres/client/pipeline_answers.hpp"

#include <utility>

namespace semel::postgres {

void pipeline_answers::add_done(std::string_view tag) {
    ++answers_;
    ++done_;
    if (why_) ++not_done_;
    // COMMIT rolls back a transaction that has failed, without an error: its tag tells.
    if (tag != "COMMIT" && tag != "ROLLBACK") return;
    ended_at_ = answers_;
    done_by_then_ = done_;
    committed_ = tag == "COMMIT";
    why_behind_.reset();
}

void pipeline_answers::add_failed(native_failure why) {
    ++answers_;
    if (!why_behind_) why_behind_ = why;
    if (!why_) why_ = std::move(why);
    ++not_done_;
}

// If no failure came before, the application has read it, and gone on.
void pipeline_answers::add_skipped() {
    add_failed({.state = "25P02", .message = "a statement before has failed"});
}

pipeline_answers::meaning pipeline_answers::at_end(std::size_t sent) const {
    meaning made{.kept = done_, .why = why_};
    if (ended() && behind_ > 0) {
        made.kept = done_by_then_;
        made.next_began = true;
        made.next_why = why_behind_;
        if (why_behind_ && not_done_ <= behind_) made.why.reset(); // it is only the next one's
    }
    // A failure before a COMMIT that was done was rolled back to a savepoint.
    if (ended() && committed_) made.why.reset();
    if (made.why) {
        made.why->of_work = of_work(sent);
        made.why->of_last = not_done_ == behind_ + 1;
    }
    return made;
}

std::optional<native_failure> pipeline_answers::cut_off(std::size_t sent) const {
    auto made = why_;
    if (made) made->of_work = of_work(sent);
    return made;
}

} // namespace semel::postgres
