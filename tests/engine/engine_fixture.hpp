// An engine on a real store that counts and can be made to fail.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "semel/databases/sqlite.hpp"
#include "semel/engine.hpp"
#include "semel/store/memory.hpp"
#include "support/faulty_store.hpp"

namespace semel::tests {

using namespace std::chrono_literals;

inline request order(std::string key, std::string_view body = "") {
    request made{.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
    if (!body.empty()) made.content = fingerprint::raw(body);
    return made;
}

// The work of a repeat.
inline std::string never() {
    ADD_FAILURE() << "work that must not run has run";
    return {};
}

inline record_id id_of(const request& what) {
    return {.tenant = what.tenant, .operation = what.operation, .key = what.key};
}

// Lets one thread wait until another has come by.
class gate {
public:
    void open() { promise_.set_value(); }
    void wait() { future_.wait(); }

private:
    std::promise<void> promise_;
    std::shared_future<void> future_{promise_.get_future()};
};

// Waits for something that another thread is about to bring about.
template <class Done> [[nodiscard]] bool soon(Done done, duration within = 5s) {
    const auto until = local_clock::now() + within;
    while (!done()) {
        if (local_clock::now() > until) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

class engine_test : public testing::Test {
protected:
    ~engine_test() override {
        engine_.reset();
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    engine& make(const std::string& kind, operation_policy defaults = {},
                 engine_options options = {}) {
        if (!options.log) options.log = null_logger();
        auto counted = std::make_unique<support::faulty_store>(open_store(kind), script_);
        engine_.emplace(std::move(counted), std::move(defaults), std::move(options));
        return *engine_;
    }
    engine& make(operation_policy defaults = {}, engine_options options = {}) {
        return make("memory", std::move(defaults), std::move(options));
    }

    // The record as the store has it.
    std::optional<record> stored(const request& what) {
        auto got = engine_->records().call(id_of(what), commands::lookup{});
        return std::get<answers::found>(got.value().said).current;
    }

    std::unique_ptr<store> open_store(const std::string& kind) {
        if (kind == "memory") return open_memory_store();
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        std::string folder = std::string{info->test_suite_name()} + "-" + info->name();
        for (char& c : folder) c = c == '/' ? '-' : c;
        folder_ = std::filesystem::temp_directory_path() /
                  ("semel-" + std::to_string(::getpid()) + "-" + folder);
        std::filesystem::create_directories(folder_);
        return open_sqlite_store({.path = folder_ / "records.db"}).value();
    }

    const std::shared_ptr<support::store_script> script_ =
        std::make_shared<support::store_script>();
    std::optional<engine> engine_;
    std::filesystem::path folder_;
};

class on_every_store : public engine_test, public testing::WithParamInterface<const char*> {
protected:
    engine& open(operation_policy defaults = {}, engine_options options = {}) {
        return make(GetParam(), std::move(defaults), std::move(options));
    }
};

#define SEMEL_ON_EVERY_STORE(suite)                                                                \
    INSTANTIATE_TEST_SUITE_P(Stores, suite, testing::Values("memory", "sqlite"),                   \
                             [](const auto& one) { return std::string{one.param}; })

} // namespace semel::tests
