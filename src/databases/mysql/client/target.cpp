#include "databases/mysql/client/target.hpp"

#include <filesystem>

namespace semel::mysql {

namespace {

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "mysql: " + std::move(detail)};
}

// The client library would leave out a file it cannot read, and with it what the file is for.
result<void> check_file(const std::string& name, const std::string& path) {
    std::error_code error;
    if (path.empty() || std::filesystem::is_regular_file(path, error)) return {};
    return refused(name + "= names '" + path + "', which is not a file");
}

} // namespace

result<target> read_target(const mysql_store_options& options) {
    if (options.database.empty()) {
        return refused("no database is named; write mysql://user:password@host:port/database");
    }
    if (options.host.empty() && options.socket.empty()) return refused("no host is named");
    const bool files =
        !options.ca_file.empty() || !options.cert_file.empty() || !options.key_file.empty();
    if (files && options.tls == mysql_tls::off) {
        return refused("certificates need TLS; add tls=verify to the store URL");
    }
    if (options.cert_file.empty() != options.key_file.empty()) {
        return refused("cert_file= and key_file= belong together");
    }
    if (auto there = check_file("ca_file", options.ca_file); !there) return there.error();
    if (auto there = check_file("cert_file", options.cert_file); !there) return there.error();
    if (auto there = check_file("key_file", options.key_file); !there) return there.error();
    return target{.host = options.host,
                  .port = options.port,
                  .socket = options.socket,
                  .user = options.user,
                  .password = options.password,
                  .database = options.database,
                  .tls = options.tls,
                  .ca_file = options.ca_file,
                  .cert_file = options.cert_file,
                  .key_file = options.key_file,
                  .connect_timeout = options.connect_timeout,
                  .answer_timeout = options.statement_timeout,
                  .lock_timeout = options.lock_timeout,
                  .mode = options.mode};
}

} // namespace semel::mysql
