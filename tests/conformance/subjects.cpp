#include "conformance/subjects.hpp"

#include <utility>

#include "conformance/laned_reference.hpp"
#include "conformance/memory_subject.hpp"
#include "conformance/reference_store.hpp"
#include "conformance/sqlite_subject.hpp"
#include "semel/decorators.hpp"
#include "semel/metrics.hpp"

namespace semel::conformance {

namespace {

using decorator = std::function<std::unique_ptr<store>(std::unique_ptr<store>)>;

class decorated_backing final : public backing {
public:
    decorated_backing(std::unique_ptr<backing> inner, decorator wrap)
        : inner_(std::move(inner)), wrap_(std::move(wrap)) {}

    result<std::unique_ptr<store>> open() override {
        auto inner = inner_->open();
        if (!inner) return std::move(inner).error();
        return wrap_(*std::move(inner));
    }
    std::optional<std::uint64_t> writes() override { return inner_->writes(); }

private:
    const std::unique_ptr<backing> inner_;
    const decorator wrap_;
};

subject decorated(const subject& inner, const std::string& with, const decorator& wrap) {
    subject outer = inner;
    outer.name = inner.name + "_" + with;
    outer.make = [make = inner.make, wrap] {
        return std::make_unique<decorated_backing>(make(), wrap);
    };
    return outer;
}

std::unique_ptr<store> with_cache(std::unique_ptr<store> inner) {
    return cached(std::move(inner));
}

std::unique_ptr<store> with_metrics(std::unique_ptr<store> inner) {
    static store_metrics metrics;
    return metered(std::move(inner), metrics);
}

} // namespace

std::vector<subject> subjects() {
    const subject reference = reference_subject();
    const subject memory = memory_subject();
    const subject sqlite = sqlite_subject();
    return {reference,
            laned_reference_subject(),
            memory,
            sqlite,
            decorated(reference, "cached", with_cache),
            decorated(sqlite, "cached", with_cache),
            decorated(memory, "metered", with_metrics)};
}

} // namespace semel::conformance
