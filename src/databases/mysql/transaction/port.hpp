// A transaction on the caller's connection, as the engine asks for it. Its tasks have ended.
#pragma once

#include <utility>

#include "databases/mysql/transaction/caller_transaction.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::mysql {

class port final : public transaction_port {
public:
    port(st_mysql* connection, mysql_transaction_options options)
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
    [[nodiscard]] caller_transaction& it() { return it_; }
    [[nodiscard]] const caller_transaction& it() const { return it_; }

private:
    caller_transaction it_;
};

} // namespace semel::mysql
