// Handlers over the engine: in batches with a lease, or one by one in the caller's transaction.
#include <exception>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "semel/consumer.hpp"

namespace semel::consumer {

namespace {

// Keeps what a work threw beside the message; the engine must see it too.
void run_noting(work& what, const received& message, execution& run, handled& note) {
    try {
        what(message, run);
    } catch (const std::exception& thrown) {
        note.error = thrown.what();
        throw;
    } catch (...) {
        note.error = "something that is no std::exception was thrown";
        throw;
    }
}

// A message that has killed its consumers is not run again, unless it was put into the stream
// again. This is called in place of the work, so that the record's answer comes first.
void refuse_killer(const received& message, std::uint32_t attempts_max, handled& note) {
    if (note.attempts <= attempts_max || message.deliveries <= 1) return;
    note.error = "has been begun too often without an end";
    throw std::runtime_error(note.error);
}

// A failure of the store, not of the message: the store is asked again until it works.
bool is_of_the_store(errc code) {
    switch (code) {
    case errc::unavailable:
    case errc::timed_out:
    case errc::conflict:
    case errc::overloaded:
    case errc::no_space:
    case errc::stopped:
    case errc::read_only:
    case errc::not_a_store:
    case errc::schema_missing:
    case errc::schema_newer: return true;
    default: return false;
    }
}

class batch_handler {
public:
    batch_handler(engine& with, request scope, work what)
        : engine_(with), scope_(std::move(scope)), what_(std::move(what)) {}

    std::vector<handled> operator()(std::span<const received> batch, std::uint32_t attempts_max) {
        std::vector<handled> made(batch.size());
        std::vector<message> messages;
        messages.reserve(batch.size());
        for (const auto& one : batch) messages.push_back({.key = one.event.id, .content = {}});
        const auto got =
            engine_.consume_batch(scope_, std::move(messages), [&](std::size_t i, execution& run) {
                made[i].attempts = run.attempt();
                refuse_killer(batch[i], attempts_max, made[i]);
                run_noting(what_, batch[i], run, made[i]);
            });
        for (std::size_t i = 0; i < batch.size(); ++i) made[i].how = got[i];
        explain_unrun(batch, made);
        return made;
    }

private:
    // Of messages that have failed without being run, some are copies of one that was: its attempts
    // are theirs, and they come again as it does. The others are never run: their records say so.
    static void explain_unrun(std::span<const received> batch, std::vector<handled>& made) {
        std::map<std::string_view, std::size_t> first; // place of each id
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::size_t original = first.try_emplace(batch[i].event.id, i).first->second;
            if (made[i].how != consumed::failed || made[i].attempts > 0) continue;
            made[i].attempts = made[original].attempts;
            made[i].error = original == i
                                ? "not run: its record has failed for good, or cannot be read"
                                : made[original].error;
        }
    }

    engine& engine_;
    const request scope_;
    work what_;
};

class transaction_handler {
public:
    transaction_handler(engine& with, request scope, unique_function<transaction&()> on, work what)
        : engine_(with), scope_(std::move(scope)), on_(std::move(on)), what_(std::move(what)) {}

    std::vector<handled> operator()(std::span<const received> batch, std::uint32_t attempts_max) {
        std::vector<handled> made(batch.size());
        for (std::size_t i = 0; i < batch.size(); ++i) {
            handle(batch[i], attempts_max, made[i]);
        }
        return made;
    }

private:
    // A transaction that was rolled back has left no attempt behind: the broker's count stands in.
    void handle(const received& one, std::uint32_t attempts_max, handled& into) {
        transaction* connection = nullptr;
        try {
            connection = &on_();
        } catch (const std::exception& thrown) {
            into = {.how = consumed::unavailable, .attempts = 0, .error = thrown.what()};
            return;
        }
        request what = scope_;
        what.key = one.event.id;
        what.with.wait = wait_mode::answer;
        try {
            const auto outcome =
                engine_.transact<void>(*connection, std::move(what), [&](execution& run) {
                    into.attempts = one.deliveries;
                    refuse_killer(one, attempts_max, into);
                    run_noting(what_, one, run, into);
                });
            into.how = detail::as_consumed(outcome.kind());
            if (outcome.kind() == outcome_kind::unavailable) judge(*outcome.why(), one, into);
        } catch (...) {
            into.how = consumed::failed; // the work's own exception, noted above
        }
    }

    // A commit that was refused for what the work has done (a constraint that is checked only then,
    // a transaction it has ended itself) is refused again, and so is a record that cannot be read:
    // asking for ever would stop the messages behind this one, too.
    static void judge(const failure& why, const received& one, handled& into) {
        const bool ran = into.attempts > 0;
        if (is_of_the_store(why.code) || (!ran && why.code != errc::corrupt)) return;
        into = {.how = consumed::failed, .attempts = one.deliveries, .error = describe(why)};
    }

    engine& engine_;
    const request scope_;
    unique_function<transaction&()> on_;
    work what_;
};

} // namespace

handler once_each(engine& with, request scope, work what) {
    return batch_handler{with, std::move(scope), std::move(what)};
}

handler in_transaction(engine& with, request scope, unique_function<transaction&()> connection,
                       work what) {
    return transaction_handler{with, std::move(scope), std::move(connection), std::move(what)};
}

} // namespace semel::consumer
