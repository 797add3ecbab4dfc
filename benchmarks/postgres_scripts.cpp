#include "postgres_scripts.hpp"

#include "databases/postgres/transaction/transaction_texts.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::string_view new_key = "\\set k random(1, 9000000000000000000)\n";

constexpr std::string_view claim =
    "INSERT INTO idem (scope, key, fp, state, token, lease_until, expires_at) VALUES (1, 'k' || "
    ":k, decode(repeat('ab', 32), 'hex'), 0, :k, now() + interval '30 s', now() + interval '1 "
    "day') ON CONFLICT DO NOTHING;\n";
constexpr std::string_view complete =
    "UPDATE idem SET state = 1, status = 201, body = decode(repeat('78', 120), 'hex'), "
    "lease_until = NULL WHERE scope = 1 AND key = 'k' || :k AND token = :k AND state = 0;\n";
constexpr std::string_view order =
    "INSERT INTO orders (customer, amount, note) VALUES (:client_id, 1999, 'order created by the "
    "benchmark client, some text');\n";

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string made;
    for (const auto one : parts) made += one;
    return made;
}

void replace(std::string& in, const std::string& what, const std::string& with) {
    for (std::size_t at = in.find(what); at != std::string::npos;
         at = in.find(what, at + with.size())) {
        in.replace(at, what.size(), with);
    }
}

std::string hex(const std::string& twice, int times) {
    std::string made = "\\x";
    for (int i = 0; i < times; ++i) made += twice;
    return made;
}

// What does not change from one record to the next. An answer of 120 bytes, as semel's.
std::map<std::string, std::string> parameters_of_all() {
    std::map<std::string, std::string> made{{"tenant", "acme"}, {"operation", "ORDER_CREATE"}};
    made["t"] = "1800000000000000";
    for (const auto& column : postgres::record_columns) {
        const std::string name{column.name};
        if (column.of == postgres::type::uuid) {
            made[name] = "00112233-4455-6677-8899-aabbccddeeff";
        } else {
            made[name] = column.of == postgres::type::bytea ? hex("", 0) : "1";
        }
    }
    made["result"] = hex("78", 120);
    made["fingerprint"] = hex("ab", 32);
    return made;
}

// A statement of the driver with pgbench's parameters. From the last: $1 is in $10.
std::string filled(const postgres::plain_statement& from, const std::vector<std::string>& values) {
    std::string made = from.text;
    for (std::size_t i = values.size(); i > 0; --i) {
        replace(made, "$" + std::to_string(i) + "::", values[i - 1] + "::");
    }
    replace(made, "'semel:", "'semel "); // pgbench would take it for a variable
    return made + ";\n";
}

// Keys of 33 bytes, as semel's, and times that go on (`t` is a client's own, and kept).
constexpr std::string_view new_record = "\\set k random(1000000000000000, 9999999999999999)\n"
                                        "\\set l random(1000000000000000, 9999999999999999)\n"
                                        "\\set t :t + 1000\n";
const std::vector<std::string> id{":tenant", ":operation", "(:k || '-' || :l)"};

// `known_by`: how the transaction is known again, `time`: what a column of times is given.
template <class Columns>
std::vector<std::string> values_of(std::initializer_list<std::string> known_by,
                                   const Columns& columns, std::string_view time,
                                   std::string_view fence) {
    std::vector<std::string> made = id;
    made.insert(made.end(), known_by);
    for (const auto& column : columns) {
        const std::string_view name = column.name;
        if (name == "fence") {
            made.emplace_back(fence);
        } else if (name.ends_with("_at") || name == "lease_until") {
            made.emplace_back(time);
        } else {
            made.push_back(":" + std::string{name});
        }
    }
    return made;
}

constexpr std::string_view start = "\\startpipeline\n";
constexpr std::string_view end = "\\endpipeline\n";

std::string way_in(const postgres::transaction_texts& texts) {
    std::vector<std::string> values = id;
    values.emplace_back(":k");
    return joined({new_record, filled(texts.begin, {}), filled(texts.enter, values)});
}

// The driver is told the table by its look.
std::string way_out(const postgres::transaction_texts& texts) {
    const std::string table = "'" + texts.record_table + "'::regclass";
    return joined({filled(texts.add,
                          values_of({"NULL", "now()", table}, postgres::usual_columns, ":t", ":k")),
                   filled(texts.commit, {})});
}

std::string transaction(const postgres::transaction_texts& texts) {
    return joined({start, way_in(texts), end, order, start, way_out(texts), end});
}

std::string queued_transaction(const postgres::transaction_texts& texts) {
    return joined({start, way_in(texts), end, start, order, way_out(texts), end});
}

// As many, each of which begins with the end of the one before.
std::string pooled_transactions(const postgres::transaction_texts& texts, std::size_t many) {
    std::string made = joined({start, way_in(texts), end, order, start});
    for (std::size_t i = 1; i < many; ++i) {
        made += joined({way_out(texts), way_in(texts), end, order, start});
    }
    return made + joined({way_out(texts), end});
}

std::string pooled_queued_transactions(const postgres::transaction_texts& texts, std::size_t many) {
    std::string made = joined({start, way_in(texts), end, start});
    for (std::size_t i = 1; i < many; ++i) {
        made += joined({order, way_out(texts), way_in(texts), end, start});
    }
    return made + joined({order, way_out(texts), end});
}

std::string make_tables() {
    return "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int "
           "NOT NULL, amount int NOT NULL, note text NOT NULL, created_at timestamptz NOT NULL "
           "DEFAULT now()); "
           "CREATE TABLE idem (scope int NOT NULL, key text NOT NULL, fp bytea NOT NULL, state "
           "smallint NOT NULL, token bigint NOT NULL, lease_until timestamptz, status int, body "
           "bytea, expires_at timestamptz NOT NULL, PRIMARY KEY (scope, key)) WITH (fillfactor = "
           "85)";
}

std::string fill_idem(std::size_t known) {
    return "INSERT INTO idem (scope, key, fp, state, token, status, body, expires_at) SELECT 2, "
           "'r' || g, decode(repeat('ab', 32), 'hex'), 1, g, 201, decode(repeat('78', 120), "
           "'hex'), now() + interval '1 day' FROM generate_series(1, " +
           std::to_string(known) + ") g";
}

} // namespace

postgres_scripts::postgres_scripts(std::string_view table_prefix, std::size_t known)
    : tables(make_tables()),
      records(fill_idem(known)),
      two_commits(joined({new_key, claim, complete})),
      look_up("\\set k random(1, " + std::to_string(known) +
              ")\nSELECT fp, state, status, body, expires_at FROM idem WHERE scope = 2 AND key = "
              "'r' || :k;\n"),
      bare_order(joined({"BEGIN;\n", order, "COMMIT;\n"})),
      claim_update(joined({new_key, "BEGIN;\n", claim, order, complete, "COMMIT;\n"})),
      same_shape(transaction(postgres::transaction_texts{table_prefix})),
      queued_shape(queued_transaction(postgres::transaction_texts{table_prefix})),
      pooled_shape(pooled_transactions(postgres::transaction_texts{table_prefix}, pooled_together)),
      pooled_queued_shape(
          pooled_queued_transactions(postgres::transaction_texts{table_prefix}, pooled_together)),
      parameters(parameters_of_all()) {}

} // namespace semel::bench
