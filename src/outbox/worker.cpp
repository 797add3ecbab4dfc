#include "outbox/worker.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "semel/ids.hpp"

namespace semel::outbox {

namespace {

// Enough for an operator, and little beside the event itself.
constexpr std::size_t error_bytes_max = 2'048;

// A sink's error may be any text. If the table could not take the text, neither this row nor the
// rows delivered beside it would ever be settled.
void shorten(std::string& error) {
    if (error.size() > error_bytes_max) error.resize(error_bytes_max);
}

relay_options completed(relay_options given) {
    if (given.wake == nullptr) given.wake = std::make_shared<wake_signal>();
    if (given.log == nullptr) given.log = null_logger();
    return given;
}

} // namespace

relay_state::relay_state(relay_options given)
    : options(completed(std::move(given))),
      metrics(options.metrics == nullptr ? own : *options.metrics),
      log(*options.log) {}

// The low half of a UUIDv7 is random; the high half is mostly time.
owner_id new_owner() {
    const uuid128 one = new_uuid7();
    const uuid128 other = new_uuid7();
    return {.high = one.low ^ other.high, .low = other.low};
}

relay_worker::relay_worker(relay_state& shared, std::unique_ptr<table> on,
                           std::unique_ptr<outbox::sink> to)
    : shared_(shared),
      table_(std::move(on)),
      sink_(std::move(to)),
      random_state_(owner_.low | 1),
      pace_(shared.options, owner_.high) {}

std::uint64_t relay_worker::random() {
    random_state_ ^= random_state_ << 13;
    random_state_ ^= random_state_ >> 7;
    random_state_ ^= random_state_ << 17;
    return random_state_;
}

std::vector<delivery> relay_worker::deliver(std::span<const message> batch, order kept) {
    std::vector<delivery> answers(batch.size());
    const auto start = std::chrono::steady_clock::now();
    try {
        sink_->deliver(batch, kept, answers);
    } catch (const std::exception& thrown) {
        answers.assign(batch.size(), {.how = delivered::later, .error = thrown.what()});
    }
    metrics().delivery.record(std::chrono::steady_clock::now() - start);
    for (auto& one : answers) shorten(one.error);
    const auto now = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    std::size_t confirmed = 0;
    std::size_t repeats = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (batch[i].attempts > 1 && answers[i].how != delivered::held) ++repeats;
        if (answers[i].how != delivered::yes) continue;
        ++confirmed;
        metrics().transit.record(now - batch[i].created_at);
    }
    metrics().delivered.add(confirmed);
    metrics().repeats.add(repeats);
    return answers;
}

void relay_worker::pause() {
    if (stopping()) return;
    const std::uint64_t seen = options().wake->wait(woken_, pace_.next());
    if (seen != woken_) pace_.found();
    woken_ = seen;
}

void relay_worker::failed(const failure& why) {
    metrics().failures.add();
    if (!failing_) {
        log_warning(shared_.log, "outbox: the database does not answer as it should",
                    {{"why", describe(why)}});
    }
    failing_ = true;
}

} // namespace semel::outbox
