// The world the demo acts on: a shop and a payment provider, each a SQLite file of its own. What
// the demo calls an effect is a row in one of them, so it can be counted afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semel/base/mutex.hpp"

struct sqlite3;

namespace semel::demo {

inline constexpr const char* shop_file = "shop.db";

// One connection. Thread-safe: one statement at a time.
class database {
public:
    explicit database(const std::filesystem::path& file);

    // Runs one statement; the first column of its first row, if there is one. Throws on errors.
    std::optional<std::int64_t> run(const std::string& sql,
                                    const std::vector<std::string>& parameters = {});
    // Whether a connection holds the file's write lock right now.
    [[nodiscard]] bool is_locked();
    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

private:
    struct closer {
        void operator()(sqlite3* it) const;
    };

    detail::mutex mutex_; // of statements
    std::unique_ptr<sqlite3, closer> handle_;
};

class world {
public:
    explicit world(const std::filesystem::path& folder);

    // Effects; their ids. Nothing in the tables keeps a double one out: a service that acts twice
    // is seen to have acted twice. Only charges with a `dedup_key` are made once under that key.
    std::int64_t add_order(const std::string& key, int amount);
    std::int64_t charge(const std::string& key, int amount,
                        const std::optional<std::string>& dedup_key = {});

    [[nodiscard]] std::size_t effects(const std::string& key); // orders and charges
    [[nodiscard]] std::size_t charge_calls(const std::string& key);
    [[nodiscard]] std::int64_t amount_of(std::int64_t order);

    // What the naive service remembers.
    [[nodiscard]] std::optional<std::int64_t> remembered(const std::string& key);
    void remember(const std::string& key, std::int64_t answer);

    const std::filesystem::path folder;
    database shop;

private:
    database provider_;
};

} // namespace semel::demo
