#include "conformance/same.hpp"

#include <tuple>
#include <type_traits>

namespace semel::conformance {

namespace {

auto fields(const answers::started& it) {
    std::optional<record> replaced;
    if (it.replaced) replaced = *it.replaced;
    return std::tuple{it.by,      it.kind,        it.attempt,         it.lease_until,
                      it.content, it.checkpoints, std::move(replaced)};
}
auto fields(const answers::replay& it) {
    return std::tie(it.result, it.fence, it.expires_at);
}
auto fields(const answers::in_progress& it) {
    return std::tie(it.retry_at, it.holder, it.attempt);
}
auto fields(const answers::mismatch& it) {
    return std::tie(it.stored);
}
auto fields(const answers::failed& it) {
    return std::tie(it.state, it.error, it.attempts, it.expires_at);
}
auto fields(const answers::in_doubt& it) {
    return std::tie(it.fence, it.since);
}
auto fields(const answers::stored& it) {
    return std::tie(it.expires_at);
}
auto fields(const answers::renewed& it) {
    return std::tie(it.lease_until);
}
auto fields(const answers::not_renewed&) {
    return std::tie();
}
auto fields(const answers::over_limit&) {
    return std::tie();
}
auto fields(const answers::fenced_off& it) {
    return std::tie(it.current);
}
auto fields(const answers::resolved& it) {
    return std::tie(it.fence);
}
auto fields(const answers::removed&) {
    return std::tie();
}
auto fields(const answers::kept&) {
    return std::tie();
}
auto fields(const answers::found& it) {
    return std::tie(it.current);
}

} // namespace

bool same(const answer& left, const answer& right) {
    if (left.index() != right.index()) return false;
    return std::visit(
        [&](const auto& one) {
            using kind = std::remove_cvref_t<decltype(one)>;
            return fields(one) == fields(std::get<kind>(right));
        },
        left);
}

} // namespace semel::conformance
