#include "e2e/chain.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "semel/open.hpp"

namespace semel::e2e {
namespace {

std::string new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
    return name;
}

bool is_free(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = ::htons(port);
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    const support::socket one{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return ::bind(one.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// Below those that the system gives to outgoing connections: it stays free while its process is
// dead.
std::uint16_t steady_port() {
    static std::mt19937 dice{std::random_device{}()};
    while (true) {
        const auto port = static_cast<std::uint16_t>(12'000 + dice() % 18'000);
        if (is_free(port)) return port;
    }
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream from{text};
    for (std::string line; std::getline(from, line);) all.push_back(line);
    std::sort(all.begin(), all.end());
    return all;
}

std::string in_group(std::string consumer_url, const std::string& group) {
    const std::string usual = "billing";
    return consumer_url.replace(consumer_url.find(usual), usual.size(), group);
}

} // namespace

// ---- a consumer's database

effects_file::effects_file(std::string path) : path_(std::move(path)) {
    static_cast<void>(open_store("sqlite:" + path_).value()); // makes the tables of the inbox
    sqlite3_open(path_.c_str(), &database_);
    sqlite3_busy_timeout(database_, 20'000);
    ask("CREATE TABLE effects (key TEXT, number TEXT, child TEXT, runs INTEGER DEFAULT 1)");
}

effects_file::~effects_file() {
    sqlite3_close(database_);
}

std::string effects_file::ask(const std::string& sql) const {
    std::string found;
    const auto keep = [](void* to, int, char** values, char**) {
        static_cast<std::string*>(to)->append(values[0] ? values[0] : "").append("\n");
        return 0;
    };
    if (sqlite3_exec(database_, sql.c_str(), keep, &found, nullptr) != SQLITE_OK) {
        throw std::runtime_error(sql + ": " + sqlite3_errmsg(database_));
    }
    return found;
}

void effects_file::go_by_child_key() const {
    ask("CREATE UNIQUE INDEX by_child ON effects (child)");
}

int effects_file::count() const {
    return std::stoi(ask("SELECT coalesce(max(rowid), 0) FROM effects")); // none is ever deleted
}

int effects_file::runs() const {
    return std::stoi(ask("SELECT coalesce(sum(runs), 0) FROM effects"));
}

std::vector<std::string> effects_file::ledger() const {
    return lines_of(ask("SELECT key || ' ' || number FROM effects"));
}

bool effects_file::has(const std::string& key) const {
    return ask("SELECT 1 FROM effects WHERE key = '" + key + "'") != "";
}

// ---- the whole

chain::chain(const links& of)
    : folder_(new_folder()),
      gateways_place_(outbox::make_place(of.database)),
      services_place_(outbox::make_place(of.database)),
      broker_(messaging_test::make_private_broker(of.broker)),
      billing_(folder_ + "/billing.db"),
      mailing_(folder_ + "/mailing.db") {
    services_place_->sql("CREATE TABLE " + services_place_->prefix() +
                         "orders (number serial PRIMARY KEY, request varchar(255) NOT NULL)");
    mailing_.go_by_child_key();
    for (int i = 0; i < 2; ++i) add_gateway_and_service(of.database);
    // So often, since a broker with much to load is away for longer than twenty short pauses.
    for (const char* name : {"relay-1", "relay-2"}) {
        add(name, {SEMEL_BINARY_DIR "/semel", "relay", "--store", services_place_->url(), "--sink",
                   broker_->sink_url(), "--lease", "1s", "--poll", "50ms", "--retry-last", "500ms",
                   "--attempts", "10000", "--workers", "1", "--batch", "100"});
    }
    const std::string consumer = SEMEL_BINARY_DIR "/tests/e2e_consumer";
    add("billing", {consumer, "billing", broker_->consumer_url(), billing_.path()});
    add("mailing",
        {consumer, "mailing", in_group(broker_->consumer_url(), "mailing"), mailing_.path()});
    for (child& one : processes_) one.start();
}

chain::~chain() {
    processes_.clear();
    try {
        services_place_->sql("DROP TABLE " + services_place_->prefix() + "orders");
    } catch (const std::exception&) {
        // The server is gone, and its data are the tests' own.
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void chain::add(const std::string& name, std::vector<std::string> arguments) {
    processes_.emplace_back(name, std::move(arguments), folder_ + "/" + name + ".log");
}

// Short leases: what a dead gateway has begun is free again soon.
void chain::add_gateway_and_service(const std::string& database) {
    const std::string behind = std::to_string(steady_port());
    const std::uint16_t port = steady_port();
    const std::string nth = std::to_string(gateway_ports_.size() + 1);
    gateway_ports_.push_back(port);
    add("gateway-" + nth, {SEMEL_BINARY_DIR "/semel",
                           "gateway",
                           "--listen",
                           "127.0.0.1:" + std::to_string(port),
                           "--upstream",
                           "http://127.0.0.1:" + behind,
                           "--store",
                           gateways_place_->url(),
                           "--single-tenant",
                           "acme",
                           "--route",
                           "BOOK=POST:/orders",
                           "--require-key",
                           "--threads",
                           "1",
                           "--lease",
                           "1s",
                           "--wait",
                           "500ms",
                           "--on-lease-expiry",
                           "retry",
                           "--connect-time",
                           "2s",
                           "--answer-time",
                           "10s"});
    const std::string url = database == "mysql"
                                ? testing_support::mysql_url(testing_support::mysql_kind::mysql)
                                : testing_support::postgres_url();
    add("service-" + nth,
        {SEMEL_BINARY_DIR "/tests/e2e_service", behind, url, services_place_->prefix()});
}

std::vector<std::string> chain::orders() {
    return lines_of(services_place_->sql("SELECT CONCAT(request, ' ', number) FROM " +
                                         services_place_->prefix() + "orders"));
}

int chain::events_waiting() {
    return std::stoi(services_place_->count());
}

std::string chain::stop() {
    std::string wrong;
    for (const std::string_view kind : {"gateway", "service", "relay", "billing", "mailing"}) {
        for (child& one : processes_) {
            if (!one.name().starts_with(kind)) continue;
            const int code = one.stop();
            if (code != 0) {
                wrong += one.name() + " ended with " + std::to_string(code) + ": " +
                         said(one.name()) + "\n";
            }
        }
    }
    return wrong;
}

// The end of it.
std::string chain::said(const std::string& name) const {
    std::ifstream from{folder_ + "/" + name + ".log"};
    std::string all{std::istreambuf_iterator<char>{from}, {}};
    constexpr std::size_t bytes_max = 2'000;
    return all.size() > bytes_max ? all.substr(all.size() - bytes_max) : all;
}

} // namespace semel::e2e
