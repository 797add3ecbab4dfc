// From the client to the last effect, every link a process or a server of its own:
//
//   2 gateways → 2 services (record, row and event in one transaction on PostgreSQL or MySQL)
//     → 2 relays → a broker → 2 consumers, each with a database of its own
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "e2e/child.hpp"
#include "e2e/scene.hpp"
#include "messaging/brokers.hpp"
#include "outbox/places.hpp"

struct sqlite3;

namespace semel::e2e {

// The database of a consumer: an SQLite file.
class effects_file {
public:
    explicit effects_file(std::string path);
    effects_file(const effects_file&) = delete;
    effects_file& operator=(const effects_file&) = delete;
    ~effects_file();

    // Effects with a child key that is known are counted, not kept.
    void go_by_child_key() const;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int count() const;
    [[nodiscard]] int runs() const;
    // "key number" of each effect.
    [[nodiscard]] std::vector<std::string> ledger() const;
    [[nodiscard]] bool has(const std::string& key) const;

private:
    std::string ask(const std::string& sql) const;

    const std::string path_;
    sqlite3* database_ = nullptr;
};

struct links {
    messaging_test::broker_kind broker;
    std::string database; // as outbox::make_place calls it
};

class chain {
public:
    explicit chain(const links& of);
    chain(const chain&) = delete;
    chain& operator=(const chain&) = delete;
    ~chain();

    [[nodiscard]] const std::vector<std::uint16_t>& gateways() const { return gateway_ports_; }
    [[nodiscard]] messaging_test::private_broker& broker() { return *broker_; }
    [[nodiscard]] const effects_file& billing() const { return billing_; }
    [[nodiscard]] const effects_file& mailing() const { return mailing_; }
    // "key number" of each row of the services.
    [[nodiscard]] std::vector<std::string> orders();
    [[nodiscard]] int events_waiting();

    [[nodiscard]] std::vector<child>& processes() { return processes_; }
    // One after another, from the clients' end. Those that did not end well, and what they said.
    [[nodiscard]] std::string stop();

private:
    void add(const std::string& name, std::vector<std::string> arguments);
    void add_gateway_and_service(const std::string& database);
    [[nodiscard]] std::string said(const std::string& name) const;

    const std::string folder_;
    const std::unique_ptr<outbox::place> gateways_place_, services_place_;
    const std::unique_ptr<messaging_test::private_broker> broker_;
    const effects_file billing_, mailing_;
    std::vector<std::uint16_t> gateway_ports_;
    std::vector<child> processes_; // last: they use the others
};

} // namespace semel::e2e
