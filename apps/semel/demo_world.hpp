// The world the demo acts on: a shop and a payment provider, each a SQLite file of its own. What
// the demo calls an effect is a row in one of them, so it can be counted afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace semel::app::demo {

enum class lock_state { free, held };

// One connection. Thread-safe: one statement at a time.
class database {
public:
    explicit database(const std::filesystem::path& file);

    // Runs one statement; the first column of its first row, if there is one. Throws on errors.
    std::optional<std::int64_t> run(const std::string& sql,
                                    const std::vector<std::string>& parameters = {});
    // Is the file's write lock held right now?
    [[nodiscard]] lock_state write_lock();
    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

private:
    struct closer {
        void operator()(sqlite3* it) const;
    };

    std::mutex mutex_;
    std::unique_ptr<sqlite3, closer> handle_; // guarded by mutex_ while the demo's threads run
};

// Orders, and what the naive service remembers. Nothing in the tables keeps a double order out: a
// service that acts twice is seen to have acted twice.
class shop {
public:
    explicit shop(const std::filesystem::path& file);

    std::int64_t add_order(const std::string& key, int amount); // the effect; its id
    [[nodiscard]] std::size_t orders(const std::string& key);
    [[nodiscard]] std::int64_t amount_of(std::int64_t order);

    [[nodiscard]] std::optional<std::int64_t> remembered(const std::string& key);
    void remember(const std::string& key, std::int64_t answer);

    [[nodiscard]] database& data() { return data_; }

private:
    database data_;
};

// A downstream that deduplicates: two charges under one key are one charge. Without a key it
// charges every time it is asked.
class payment_provider {
public:
    explicit payment_provider(const std::filesystem::path& file);

    struct charge_request {
        std::string order;
        std::optional<std::string> key = {};
        int amount = 0;
    };
    std::int64_t charge(const charge_request& what); // the effect, unless done before; its id
    [[nodiscard]] std::size_t charges(const std::string& order);
    [[nodiscard]] std::size_t calls(const std::string& order);

private:
    database data_;
};

struct world {
    explicit world(const std::filesystem::path& folder);

    std::filesystem::path folder;
    semel::app::demo::shop shop;
    payment_provider provider;
};

// A folder that goes when this does, unless the user named one to keep.
class demo_folder {
public:
    explicit demo_folder(const std::string& keep);
    demo_folder(const demo_folder&) = delete;
    demo_folder& operator=(const demo_folder&) = delete;
    ~demo_folder();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    enum class afterwards { keep, remove };

    std::filesystem::path path_;
    afterwards then_;
};

} // namespace semel::app::demo
