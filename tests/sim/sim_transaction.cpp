#include "sim/sim_transaction.hpp"

namespace semel::sim {

namespace {

transaction_port::done failed(errc code, effect possible) {
    return transaction_port::ready(
        failure{.code = code, .possible = possible, .detail = "simulated"});
}

} // namespace

bool sim_port::broken(unsigned per_mille) {
    return network_.down(scene_.loop.now()) || scene_.random.hit(per_mille);
}

transaction_port::done sim_port::begin(on_locked) {
    if (broken(scene_.plan.refused)) return failed(errc::unavailable, effect::none);
    open_ = true;
    return ready();
}

transaction_port::done sim_port::join() {
    return failed(errc::invalid_argument, effect::none);
}

transaction_port::done sim_port::lock(const record_id& id, locked_record& to) {
    if (broken(scene_.plan.refused)) return failed(errc::conflict, effect::none);
    const record* stored = database_.find(id);
    to = {.stored = stored ? std::optional{*stored} : std::nullopt,
          .at = database_.at(std::nullopt)};
    return ready();
}

transaction_port::done sim_port::save(const record_id& id, const record& after,
                                      std::uint64_t seen) {
    const record* stored = database_.find(id);
    if ((stored ? stored->holder.fence : 0) != seen) return failed(errc::conflict, effect::none);
    written_.emplace(id, after);
    return ready();
}

transaction_port::done sim_port::commit() {
    if (broken(scene_.plan.refused)) return failed(errc::conflict, effect::none);
    const bool request_lost = scene_.random.hit(scene_.plan.lost_request);
    if (!request_lost && written_) database_.save(written_->first, written_->second, rows_);
    end();
    if (!request_lost && !scene_.random.hit(scene_.plan.lost_reply)) return ready();
    scene_.seen.saw(rare::transaction_in_doubt);
    return failed(errc::unavailable, effect::unknown);
}

transaction_port::done sim_port::rollback() {
    end();
    return ready();
}

void sim_port::end() {
    open_ = false;
    rows_ = 0;
    written_.reset();
}

} // namespace semel::sim
