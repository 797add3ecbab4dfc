#include <array>
#include <chrono>
#include <utility>

#include "semel/store/decorators.hpp"

namespace semel {

namespace {

class metered_store final : public store {
public:
    metered_store(std::unique_ptr<store> inner, store_metrics& metrics,
                  metered_store_options options)
        : metrics_(metrics), options_(std::move(options)), inner_(std::move(inner)) {}

    void submit(envelope what, completion done) override {
        auto& counts = metrics_.commands[what.what.index()];
        counts.calls.add();
        inner_->submit(std::move(what), [this, &counts, begun = now(),
                                         done = std::move(done)](result<reply> got) mutable {
            count(counts, got, begun);
            done(std::move(got));
        });
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> at) override {
        auto& counts = metrics_.commands[what.index()];
        counts.calls.add();
        const auto begun = now();
        result<reply> got = inner_->call(id, std::move(what), at);
        count(counts, got, begun);
        return got;
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        auto report = inner_->sweep(request);
        metrics_.sweeps.add();
        if (report) {
            metrics_.swept.add(report->removed);
        } else {
            metrics_.sweep_failures.add();
        }
        return report;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }

    result<record_page> search(const record_query& query) override { return inner_->search(query); }

    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }

    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        return inner_->watch(id, std::move(news));
    }

private:
    [[nodiscard]] std::chrono::nanoseconds now() const {
        return options_.clock ? options_.clock()
                              : std::chrono::steady_clock::now().time_since_epoch();
    }

    void count(store_metrics::per_command& counts, const result<reply>& got,
               std::chrono::nanoseconds begun) const {
        counts.latency.record(now() - begun);
        if (got) {
            counts.answers[got->said.index()].add();
        } else {
            counts.failures[static_cast<std::size_t>(got.error().code)].add();
            if (got.error().possible == effect::unknown) counts.in_doubt.add();
        }
    }

    store_metrics& metrics_;
    const metered_store_options options_;
    // Goes first: it answers what is on its way, which is counted here.
    std::unique_ptr<store> inner_;
};

} // namespace

std::unique_ptr<store> open_metered_store(std::unique_ptr<store> inner, store_metrics& metrics,
                                          metered_store_options options) {
    return std::make_unique<metered_store>(std::move(inner), metrics, std::move(options));
}

} // namespace semel
