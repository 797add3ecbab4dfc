#include "postgres_scripts.hpp"

#include "stores/postgres/transaction_texts.hpp"
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

std::string value_for(const postgres::column_definition& column) {
    if (column.name == "fence") return ":k";
    if (column.name == "result") return "decode(repeat('78', 120), 'hex')";
    if (column.name == "fingerprint") return "decode(repeat('ab', 32), 'hex')";
    switch (column.of) {
    case postgres::type::uuid: return "'00112233-4455-6677-8899-aabbccddeeff'";
    case postgres::type::bytea: return "''";
    default: return column.name == "state" ? "1" : "0";
    }
}

// A statement of the driver with values where its parameters are. From the last: $1 is in $10.
std::string filled(const postgres::plain_statement& from, const std::vector<std::string>& values) {
    std::string made = from.text;
    for (std::size_t i = values.size(); i > 0; --i) {
        replace(made, "$" + std::to_string(i) + "::", values[i - 1] + "::");
    }
    replace(made, "'semel:", "'semel "); // pgbench would take it for a variable
    return made + ";\n";
}

std::string transaction(std::string_view table_prefix) {
    const postgres::transaction_texts texts{table_prefix};
    const std::vector<std::string> id{"'acme'", "'ORDER_CREATE'", "('k' || :k)"};
    std::vector<std::string> write = id;
    write.push_back("'<1234567890123456789.1>'"); // the mark of this transaction
    for (const auto& column : postgres::record_columns) write.push_back(value_for(column));
    return joined({"\\startpipeline\n", filled(texts.begin, {}),
                   filled(texts.mark, {write[3], ":k"}), filled(texts.look, id), "\\endpipeline\n",
                   order, "\\startpipeline\n", filled(texts.add, write), filled(texts.commit, {}),
                   "\\endpipeline\n"});
}

std::string tables_with(std::size_t known) {
    return "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer int "
           "NOT NULL, amount int NOT NULL, note text NOT NULL, created_at timestamptz NOT NULL "
           "DEFAULT now()); "
           "CREATE TABLE idem (scope int NOT NULL, key text NOT NULL, fp bytea NOT NULL, state "
           "smallint NOT NULL, token bigint NOT NULL, lease_until timestamptz, status int, body "
           "bytea, expires_at timestamptz NOT NULL, PRIMARY KEY (scope, key)) WITH (fillfactor = "
           "85); "
           "INSERT INTO idem (scope, key, fp, state, token, status, body, expires_at) SELECT 2, "
           "'r' || g, decode(repeat('ab', 32), 'hex'), 1, g, 201, decode(repeat('78', 120), "
           "'hex'), now() + interval '1 day' FROM generate_series(1, " +
           std::to_string(known) + ") g";
}

} // namespace

postgres_scripts::postgres_scripts(std::string_view table_prefix, std::size_t known)
    : tables(tables_with(known)),
      two_commits(joined({new_key, claim, complete})),
      look_up("\\set k random(1, " + std::to_string(known) +
              ")\nSELECT fp, state, status, body, expires_at FROM idem WHERE scope = 2 AND key = "
              "'r' || :k;\n"),
      bare_order(joined({"BEGIN;\n", order, "COMMIT;\n"})),
      claim_update(joined({new_key, "BEGIN;\n", claim, order, complete, "COMMIT;\n"})),
      same_shape(joined({new_key, transaction(table_prefix)})) {}

} // namespace semel::bench
