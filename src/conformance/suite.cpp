#include "conformance/suite.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace semel::conformance {

namespace {

class registered_test : public testing::Test {
public:
    registered_test(void (*run)(const subject&, const run_options&), subject what, run_options how)
        : run_(run), what_(std::move(what)), how_(how) {}

    void TestBody() override { run_(what_, how_); }

private:
    void (*const run_)(const subject&, const run_options&);
    const subject what_;
    const run_options how_;
};

} // namespace

opened open_fresh(const subject& what) {
    auto place = what.make();
    auto it = place->open().value();
    return {.place = std::move(place), .it = std::move(it)};
}

void add_tests(const subject& what, const run_options& how) {
    const std::string suite = "Conformance_" + what.name;
    const auto add = [&](std::span<const named_test> tests) {
        for (const named_test& one : tests) {
            testing::RegisterTest(suite.c_str(), one.name, nullptr, nullptr, __FILE__, __LINE__,
                                  [run = one.run, what, how]() -> testing::Test* {
                                      return new registered_test(run, what, how);
                                  });
        }
    };
    add(model_tests());
    add(race_tests());
    add(port_tests());
    add(operator_tests());
    add(search_tests());
    if (what.opens == instances::many) add(instance_tests());
}

} // namespace semel::conformance
