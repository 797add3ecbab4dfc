// One store for several engines, as several processes would share a database.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "semel/store.hpp"

namespace semel::support {

class shared_store final : public store {
public:
    explicit shared_store(std::shared_ptr<store> it) : it_(std::move(it)) {}

    void submit(envelope what, completion done) override {
        it_->submit(std::move(what), std::move(done));
    }
    void submit_all(std::vector<submission> many) override { it_->submit_all(std::move(many)); }
    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        return it_->call(id, std::move(what), now);
    }
    result<sweep_report> sweep(const sweep_request& request) override {
        return it_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override { return it_->audit(id); }
    result<record_page> search(const record_query& query) override { return it_->search(query); }
    [[nodiscard]] store_traits traits() const override { return it_->traits(); }

private:
    const std::shared_ptr<store> it_;
};

} // namespace semel::support
