// The processes of the world: how they are configured, start and crash.
#include <algorithm>
#include <utility>

#include "sim/sim_runtime.hpp"
#include "sim/world.hpp"

namespace semel::sim {

using std::chrono::milliseconds;

operation_policy world::policy_of(std::string_view operation) {
    operation_policy policy = usual_;
    if (operation == "HOLD") policy.on_lease_expiry = lease_expiry::hold;
    if (operation == "PROBE") policy.on_lease_expiry = lease_expiry::probe;
    if (operation == "OVERWRITE") policy.mismatch = on_mismatch::overwrite;
    if (operation == "FEW") policy.attempts_max = 2;
    if (operation == "SHARE") policy.owner_failure = on_owner_failure::share;
    return policy;
}

engine_options world::options_of(process& one) {
    engine_options options{
        .sweep = {.idle = milliseconds{700}},
        .store_patience = scene_.random.between(milliseconds{300}, milliseconds{1500}),
        .confirm_max = scene_.random.between(milliseconds{50}, milliseconds{800}),
        .completion_patience = milliseconds{4000},
        .drain_max = {},
        .log = null_logger(),
        .runtime = std::make_shared<sim_runtime>(
            scene_, one.id, scene_.random.between(milliseconds{0}, std::chrono::hours{1}))};
    for (const char* operation :
         {"RETRY", "HOLD", "PROBE", "OVERWRITE", "FEW", "SHARE", "TRANSACT"}) {
        options.operations[operation] = policy_of(operation);
    }
    // A peer with another opinion: the policy stored in the record must decide.
    if (peers_differ_ && one.id % 2 == 0) {
        options.operations["HOLD"].on_lease_expiry = lease_expiry::retry;
    }
    return options;
}

void world::start(process& one) {
    one.id = ++last_process_;
    one.up = true;
    scene_.loop.start(one.id);
    scene_.say("process ", std::uint64_t{one.id}, " starts");
    auto records = std::make_unique<sim_store>(scene_, ghost_, database_, network_, one.id);
    one.records = records.get();
    one.runs = std::make_unique<engine>(std::move(records), usual_, options_of(one));
}

// What was under way is gone: nothing of it runs, nobody hears of it. What had left for the
// database may still arrive there.
void world::crash(process& one) {
    scene_.say("process ", std::uint64_t{one.id}, " crashes");
    one.up = false;
    std::vector<std::shared_ptr<call>> lost;
    for (auto& [who, it] : calls_) {
        if (it->where != one.id || it->ended) continue;
        it->crashed = true;
        lost.push_back(it);
    }
    one.records->forget();
    scene_.loop.kill(one.id);
    for (auto& it : lost) it->handle.reset();
    one.runs.reset();
    for (auto& it : lost) on_crashed_call(it);
}

} // namespace semel::sim
