#include "bare_mysql.hpp"

#include <algorithm>
#include <utility>

#include "databases/mysql/store/statements.hpp"
#include "semel/core/record.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr owner_id owner{.high = 1, .low = 2};
constexpr const char* database = "semel";

time_point wall_now() {
    return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

record_id id_of(std::uint64_t number) {
    request like = request_for(key_of(number));
    return {.tenant = std::move(like.tenant),
            .operation = std::move(like.operation),
            .key = std::move(like.key)};
}

record finished(const record_id& id, std::uint64_t fence) {
    const time_point now = wall_now();
    record made{.state = record_state::succeeded,
                .content = content_of(id.key),
                .holder = {.fence = fence, .owner = owner},
                .attempts = 1,
                .lease_until = now + std::chrono::seconds{30},
                .begun_at = now,
                .result = {.body = answer_body(), .type = "text/plain"},
                .created_at = now,
                .updated_at = now,
                .expires_at = now + std::chrono::hours{24}};
    seal(made.result);
    return made;
}

const std::string clock_text{mysql::clock_expression};

std::string insert_text(const std::string& prefix) {
    return "INSERT INTO " + prefix +
           "record (tenant,operation,`key`,version,fence,owner,lease_until,due_at,begun_at,"
           "created_at,updated_at,on_lease_expiry,attempts_max,grace,processing_max,fingerprint) "
           "VALUES ('acme','ORDER_CREATE',?,1,?,?," +
           clock_text + "+30000000," + clock_text + "+30000000," + clock_text + "," + clock_text +
           "," + clock_text + ",0,100,250000,86400000000,?)";
}

std::string update_text(const std::string& prefix) {
    return "UPDATE " + prefix + "record SET version=version+1,state=1,updated_at=" + clock_text +
           ",expires_at=" + clock_text + "+86400000000,due_at=" + clock_text +
           "+86400000000,result_kind=0,result_checksum=7,result_type='text/plain',result_ref='',"
           "result=? WHERE tenant='acme' AND operation='ORDER_CREATE' AND `key`=? AND fence=? AND "
           "owner=? AND state=0";
}

std::string look_text(const std::string& prefix) {
    return "SELECT state,fence,fingerprint,expires_at,result_kind,result_checksum,result_type,"
           "result_ref,result FROM " +
           prefix + "record WHERE tenant='acme' AND operation='ORDER_CREATE' AND `key`=?";
}

} // namespace

std::string orders_table() {
    return "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, "
           "amount INT NOT NULL, note TEXT NOT NULL, created_at TIMESTAMP NOT NULL DEFAULT "
           "CURRENT_TIMESTAMP) ENGINE = InnoDB";
}

std::string insert_order() {
    return "INSERT INTO orders (customer,amount,note) VALUES (7,1999,'order created by the "
           "benchmark client, some text')";
}

// ---- client and statement -----------------------------------------------------------------------

mysql_client::mysql_client(unsigned port) : on_(mysql_init(nullptr)) {
    check(mysql_real_connect(on_, "127.0.0.1", "semel", "semel", database, port, nullptr, 0) !=
          nullptr);
    sql("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

mysql_client::~mysql_client() {
    mysql_close(on_);
}

void mysql_client::sql(const std::string& text) {
    int next = mysql_real_query(on_, text.data(), text.size());
    while (next == 0) {
        mysql_free_result(mysql_store_result(on_));
        next = mysql_next_result(on_);
    }
    check(next < 0);
}

void mysql_client::check(bool good) {
    require(good, mysql_error(on_));
}

mysql_statement::mysql_statement(mysql_client& on, const std::string& text)
    : on_(on), it_(mysql_stmt_init(on.native())) {
    on_.check(mysql_stmt_prepare(it_, text.data(), text.size()) == 0);
    values_.resize(mysql_stmt_param_count(it_));
}

mysql_statement::~mysql_statement() {
    mysql_stmt_close(it_);
}

mysql_statement& mysql_statement::bind(std::size_t at, const std::string& bytes) {
    values_[at].buffer_type = MYSQL_TYPE_STRING;
    values_[at].buffer = const_cast<char*>(bytes.data());
    values_[at].buffer_length = bytes.size();
    return *this;
}

mysql_statement& mysql_statement::bind(std::size_t at, const long long& number) {
    values_[at].buffer_type = MYSQL_TYPE_LONGLONG;
    values_[at].buffer = const_cast<long long*>(&number);
    return *this;
}

std::uint64_t mysql_statement::run() {
    if (!values_.empty()) on_.check(mysql_stmt_bind_param(it_, values_.data()) == 0);
    on_.check(mysql_stmt_execute(it_) == 0);
    if (mysql_stmt_field_count(it_) == 0) return mysql_stmt_affected_rows(it_);
    on_.check(mysql_stmt_store_result(it_) == 0);
    const std::uint64_t found = mysql_stmt_num_rows(it_);
    mysql_stmt_free_result(it_);
    return found;
}

// ---- the reference ------------------------------------------------------------------------------

bare_mysql::bare_mysql(unsigned port, std::string prefix)
    : on_(port),
      prefix_(std::move(prefix)),
      holder_(mysql::owner_bytes(owner)),
      insert_(on_, insert_text(prefix_)),
      update_(on_, update_text(prefix_)),
      look_(on_, look_text(prefix_)),
      order_(on_, insert_order()) {}

void bare_mysql::insert(std::uint64_t number) {
    const std::string key = key_of(number);
    const std::string content{content_of(key).as_string_view()};
    const auto fence = static_cast<long long>(number);
    insert_.bind(0, key).bind(1, fence).bind(2, holder_).bind(3, content);
    require(insert_.run() == 1, "reference: a new key was not inserted");
}

void bare_mysql::complete(std::uint64_t number) {
    const std::string key = key_of(number);
    const auto fence = static_cast<long long>(number);
    update_.bind(0, answer_body()).bind(1, key).bind(2, fence).bind(3, holder_);
    require(update_.run() == 1, "reference: a claimed key was not completed");
}

std::size_t bare_mysql::run_first(std::uint64_t first, seconds most) {
    const stopwatch watch;
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) {
        insert(first + done);
        complete(first + done);
    }
    return done;
}

std::size_t bare_mysql::run_replays(std::size_t known, std::uint64_t seed, seconds most) {
    const stopwatch watch;
    random_order order{seed, known};
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) {
        const std::string key = key_of(order.next());
        require(look_.bind(0, key).run() == 1, "reference: a known key was not found");
    }
    return done;
}

std::size_t bare_mysql::run_transactions(std::uint64_t first, seconds most) {
    const stopwatch watch;
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) {
        on_.sql("BEGIN");
        insert(first + done);
        order_.run();
        complete(first + done);
        on_.sql("COMMIT");
    }
    return done;
}

std::size_t bare_mysql::run_orders(seconds most) {
    const stopwatch watch;
    std::size_t done = 0;
    for (; watch.elapsed() < most; ++done) {
        on_.sql("BEGIN");
        order_.run();
        on_.sql("COMMIT");
    }
    return done;
}

void bare_mysql::preload(std::size_t count) {
    constexpr std::size_t group = 1'000;
    std::string columns;
    for (const auto column : mysql::record_columns) columns += "," + std::string{column};
    for (std::size_t from = 0; from < count; from += group) {
        std::string text = "INSERT INTO " + prefix_ +
                           "record (tenant,operation,`key`,version,due_at" + columns + ") VALUES ";
        mysql::row_buffer rows{mysql::quoting::hex};
        for (std::size_t i = from; i < std::min(count, from + group); ++i) {
            const record_id id = id_of(i);
            const record it = finished(id, i + 1);
            rows.add_row().add(std::string_view{id.tenant}).add(std::string_view{id.operation});
            rows.add(std::string_view{id.key}).add(std::int64_t{1}).add(mysql::due_at(it));
            mysql::add_record(rows, it);
            text += (i == from ? "(" : ",(") + std::string{rows.row(rows.size() - 1)} + ")";
        }
        on_.sql(text);
    }
}

} // namespace semel::bench
