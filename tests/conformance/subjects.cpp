#include "conformance/subjects.hpp"

#include <utility>

#include "conformance/laned_reference.hpp"
#include "conformance/memory_subject.hpp"
#include "conformance/mysql_subject.hpp"
#include "conformance/postgres_subject.hpp"
#include "conformance/redis_subject.hpp"
#include "conformance/reference_store.hpp"
#include "conformance/sqlite_subject.hpp"
#include "conformance/tiered_subject.hpp"
#include "semel/core/metrics.hpp"
#include "semel/store/decorators.hpp"

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
    return open_cached_store(std::move(inner));
}

std::unique_ptr<store> with_metrics(std::unique_ptr<store> inner) {
    static store_metrics metrics;
    return open_metered_store(std::move(inner), metrics);
}

std::unique_ptr<store> with_encryption(std::unique_ptr<store> inner) {
    const encryption_key key{.id = "test", .secret = std::string(32, 's')};
    return open_encrypted_store(std::move(inner), {.keys = {key}}).value();
}

} // namespace

std::vector<subject> subjects() {
    const subject reference = reference_subject();
    const subject memory = memory_subject();
    const subject sqlite = sqlite_subject();
    const subject postgres = postgres_subject();
    const subject mariadb = mysql_subject(testing_support::mysql_kind::mariadb);
    const subject redis = redis_subject();
    const subject redis_before_postgres = tiered_subject(postgres, "redis", redis_place);
    const subject redis_before_mariadb = tiered_subject(mariadb, "redis", redis_place);
    return {reference,
            laned_reference_subject(),
            memory,
            sqlite,
            postgres,
            mariadb,
            mysql_subject(testing_support::mysql_kind::mysql),
            redis,
            tiered_subject(reference, "memory", memory_place),
            tiered_subject(reference, "forgetful", forgetful_place),
            tiered_subject(memory, "lost", lost_place),
            tiered_subject(sqlite, "redis", redis_place),
            redis_before_postgres,
            redis_before_mariadb,
            decorated(reference, "cached", with_cache),
            decorated(sqlite, "cached", with_cache),
            decorated(postgres, "cached", with_cache),
            decorated(mariadb, "cached", with_cache),
            decorated(redis, "cached", with_cache),
            decorated(redis_before_postgres, "cached", with_cache),
            decorated(redis_before_mariadb, "cached", with_cache),
            decorated(memory, "encrypted", with_encryption),
            decorated(memory, "metered", with_metrics)};
}

} // namespace semel::conformance
