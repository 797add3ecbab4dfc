#include "sim/sim_transaction.hpp"

namespace semel::sim {

namespace {

failure failed(errc code, effect possible) {
    return {.code = code, .possible = possible, .detail = "simulated"};
}

} // namespace

bool sim_transaction::broken(unsigned per_mille) {
    return network_.down(scene_.loop.now()) || scene_.random.hit(per_mille);
}

result<void> sim_transaction::begin(on_locked) {
    if (broken(scene_.plan.refused)) return failed(errc::unavailable, effect::none);
    open_ = true;
    return {};
}

result<void> sim_transaction::join() {
    return failed(errc::invalid_argument, effect::none);
}

result<locked_record> sim_transaction::lock(const record_id& id) {
    if (broken(scene_.plan.refused)) return failed(errc::conflict, effect::none);
    const record* stored = database_.find(id);
    return locked_record{.stored = stored ? std::optional{*stored} : std::nullopt,
                         .at = database_.at(std::nullopt)};
}

result<void> sim_transaction::save(const record_id& id, const record& after, std::uint64_t seen) {
    const record* stored = database_.find(id);
    if ((stored ? stored->holder.fence : 0) != seen) return failed(errc::conflict, effect::none);
    written_.emplace(id, after);
    return {};
}

result<void> sim_transaction::commit() {
    if (broken(scene_.plan.refused)) return failed(errc::conflict, effect::none);
    const bool request_lost = scene_.random.hit(scene_.plan.lost_request);
    if (!request_lost && written_) database_.save(written_->first, written_->second, rows_);
    rollback();
    if (!request_lost && !scene_.random.hit(scene_.plan.lost_reply)) return {};
    scene_.seen.saw(rare::transaction_in_doubt);
    return failed(errc::unavailable, effect::unknown);
}

void sim_transaction::rollback() {
    open_ = false;
    rows_ = 0;
    written_.reset();
}

} // namespace semel::sim
