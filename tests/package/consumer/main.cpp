// usage: consumer <effects expected>: the same order twice, on a file that outlives the process.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <semel/databases/sqlite.hpp>
#include <semel/engine.hpp>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    auto engine = semel::engine{semel::open_sqlite_store({.path = "consumer.db"}).value()};

    int effects = 0;
    const auto order_once = [&] {
        const semel::request order{.tenant = "acme", .operation = "ORDER_CREATE", .key = "order-1"};
        return engine.execute<std::string>(order, [&] {
            ++effects;
            return std::string{"created"};
        });
    };
    const std::string first = order_once().value();
    const std::string second = order_once().value();

    std::printf("%s, %s, effects: %d\n", first.c_str(), second.c_str(), effects);
    const bool right = first == "created" && second == first && effects == std::atoi(argv[1]);
    return right ? 0 : 1;
}
