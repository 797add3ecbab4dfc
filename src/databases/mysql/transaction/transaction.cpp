#include "semel/databases/mysql/transaction.hpp"

#include <memory>
#include <utility>

#include "databases/mysql/transaction/caller_transaction.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

namespace {

class mysql_port final : public transaction_port {
public:
    mysql_port(st_mysql* connection, mysql_transaction_options options)
        : it_(connection, std::move(options)) {}

    done begin(on_locked locked) override { return ready(it_.begin(locked)); }
    done join() override { return ready(it_.join()); }
    done lock(const record_id& id, locked_record& to) override {
        auto got = it_.lock(id);
        if (!got) return ready(std::move(got).error());
        to = *std::move(got);
        return ready();
    }
    done save(const record_id& id, const record& after, std::uint64_t seen_fence) override {
        return ready(it_.save(id, after, seen_fence));
    }
    void leave(const record_id& id) override { it_.leave(id); }
    done commit() override { return ready(it_.commit()); }
    [[nodiscard]] bool asks_to_repeat() const override { return it_.asks_to_repeat(); }
    done rollback() override {
        it_.rollback();
        return ready();
    }
    void abandon() noexcept override { it_.abandon(); }
    [[nodiscard]] const void* connection() const override { return it_.handle(); }
    [[nodiscard]] std::string_view tables() const override { return it_.tables(); }
    [[nodiscard]] void* for_work() override { return it_.handle(); }

private:
    mysql::caller_transaction it_;
};

} // namespace

mysql_transaction::mysql_transaction(st_mysql* connection, mysql_transaction_options options)
    : transaction(std::make_unique<mysql_port>(connection, std::move(options))) {}

} // namespace semel
