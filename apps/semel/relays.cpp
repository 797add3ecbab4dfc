#include "relays.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "opened.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/sinks.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

using outbox::row_status;

result<std::optional<row_status>> status_named(std::string_view word) {
    if (word.empty()) return std::optional<row_status>{};
    for (const row_status one :
         {row_status::pending, row_status::claimed, row_status::dead, row_status::parked}) {
        if (word == name(one)) return std::optional{one};
    }
    return failure{.code = errc::invalid_argument,
                   .possible = effect::none,
                   .detail = "a status is pending, claimed, dead or parked"};
}

edge::outbox_row shown(outbox::row_view&& from) {
    return {.it = std::move(from.it),
            .status = std::string{name(from.status)},
            .updated_at = from.updated_at,
            .error = std::move(from.last_error)};
}

// One connection, made when it is needed and again after it has failed.
class table_desk final : public edge::outbox_desk {
public:
    explicit table_desk(outbox::table_opener open) : open_(std::move(open)) {}

    result<edge::outbox_backlog> measure() override {
        auto now = ask([](outbox::table& on) { return on.measure(); });
        if (!now) return std::move(now).error();
        return edge::outbox_backlog{.waiting = now->waiting,
                                    .dead = now->dead,
                                    .count_max = outbox::backlog_count_max,
                                    .oldest = now->oldest};
    }
    result<std::vector<edge::outbox_row>> list(const edge::outbox_query& which) override {
        const auto status = status_named(which.status);
        if (!status) return status.error();
        const outbox::row_query query{.status = *status,
                                      .topic = which.topic,
                                      .after = which.after,
                                      .rows_max = which.rows_max};
        auto found = ask([&](outbox::table& on) { return on.list(query); });
        if (!found) return std::move(found).error();
        std::vector<edge::outbox_row> rows;
        for (outbox::row_view& one : *found) rows.push_back(shown(std::move(one)));
        return rows;
    }
    result<std::optional<edge::outbox_row>> show(std::int64_t row) override {
        auto found = ask([&](outbox::table& on) { return on.show(row); });
        if (!found) return std::move(found).error();
        if (!*found) return std::optional<edge::outbox_row>{};
        return std::optional{shown(**std::move(found))};
    }
    result<std::size_t> requeue(const std::vector<std::int64_t>& rows) override {
        // To the table an empty list means all.
        if (rows.empty()) return std::size_t{0};
        return ask([&](outbox::table& on) { return on.requeue(rows); });
    }

private:
    template <class Question>
    auto ask(const Question& question) -> decltype(question(std::declval<outbox::table&>())) {
        const std::lock_guard lock{mutex_};
        if (!table_) {
            auto made = open_();
            if (!made) return std::move(made).error();
            table_ = *std::move(made);
        }
        auto answer = question(*table_);
        if (!answer) table_.reset();
        return answer;
    }

    const outbox::table_opener open_;
    std::mutex mutex_;
    std::unique_ptr<outbox::table> table_; // guarded by mutex_
};

outbox::table_opener opener_of(const config::config& with, const config::relay_entry& of) {
    const std::string url = of.store.text.empty() ? with.store.url.text : of.store.text;
    const outbox::table_options options = outbox_options_of(with, of);
    return [url, options] { return outbox::open_table(url, options); };
}

} // namespace

relays::relays(const config::config& with, const std::shared_ptr<logger>& log) {
    for (const config::relay_entry& one : with.relays) {
        const outbox::table_opener open = opener_of(with, one);
        if (!desk_) desk_ = std::make_unique<table_desk>(open);
        outbox::relay_options options = one.options;
        options.log = log;
        running_.push_back(opened(outbox::open_relay(
            {open}, [url = one.sink.text, log] { return outbox::open_sink(url, {.log = log}); },
            std::move(options))));
    }
}

void relays::stop() {
    for (const auto& one : running_) one->stop();
}

std::vector<outbox::relay_metrics> relays::metrics() const {
    std::vector<outbox::relay_metrics> all;
    for (const auto& one : running_) all.push_back(one->metrics());
    return all;
}

duration relays::lag() const {
    std::uint64_t longest = 0;
    for (const auto& one : metrics()) longest = std::max(longest, one.oldest_seconds.get());
    return std::chrono::seconds{longest};
}

} // namespace semel::app
