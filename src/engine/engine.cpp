#include "semel/engine.hpp"
#include "semel/base/mutex.hpp"

#include <memory>
#include <thread>
#include <utility>

#include "engine/engine_core.hpp"
#include "engine/transact.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

namespace {

// True on a thread that is destroying an engine: only there may the core be destroyed in place.
thread_local bool destroying_engine = false;

class latch {
public:
    void open() {
        const detail::guard lock{mutex_};
        open_ = true;
        opened_.notify_all();
    }
    void wait(duration up_to) {
        detail::guard lock{mutex_};
        opened_.wait_for(lock, up_to, [&]() SEMEL_REQUIRES(mutex_) { return open_; });
    }

private:
    detail::mutex mutex_;
    detail::condition opened_;
    bool open_ SEMEL_GUARDED_BY(mutex_) = false;
};

// An attempt may let go of the core last, on a thread of the store or runtime that the core's
// destruction has to join: a thread of its own then does it.
struct core_deleter {
    std::shared_ptr<latch> gone = std::make_shared<latch>();

    void operator()(engine_core* core) const {
        if (core->home.left()) return; // it is the parent's, with all its threads
        if (destroying_engine) return destroy(core, *gone);
        std::thread{[core, gone = gone] { destroy(core, *gone); }}.detach();
    }
    static void destroy(engine_core* core, latch& gone) {
        delete core;
        gone.open();
    }
};

} // namespace

engine::engine(std::unique_ptr<store> store, operation_policy defaults, engine_options options) {
    auto made =
        std::make_unique<engine_core>(std::move(store), std::move(defaults), std::move(options));
    core_ = std::shared_ptr<engine_core>(made.release(), core_deleter{});
    core_->open();
}

engine::engine(engine&&) noexcept = default;

engine& engine::operator=(engine&& other) noexcept {
    if (this != &other) {
        engine gone{std::move(*this)};
        core_ = std::move(other.core_);
    }
    return *this;
}

engine::~engine() {
    if (core_ == nullptr || core_->home.left()) return;
    // An attempt that has been drained may still be on its way out of the core. The next reader of
    // the store's file, for instance, must find that the attempt has left.
    const duration patience =
        core_->close() == engine_core::ended::drained ? core_->options.drain_max : duration::zero();
    const auto gone = std::get_deleter<core_deleter>(core_)->gone;
    destroying_engine = true;
    core_.reset();
    destroying_engine = false;
    gone->wait(patience);
}

raw_outcome engine::run(request&& what, detail::work& work) {
    return core_->run(std::move(what), work);
}

raw_outcome engine::run_transaction(transaction& on, request what, detail::work& work,
                                    detail::transaction_owner commits) {
    return semel::transact(*core_, transaction_port::of(on), std::move(what), work, commits);
}

void detail::transaction_start::operator()(request what, engine::started_work work,
                                           unique_function<void(raw_outcome)> done) const {
    semel::transact(with.core_, transaction_port::of(on), std::move(what), std::move(work), commits,
                    std::move(done));
}

void* detail::connection_for_work(transaction& of) {
    return transaction_port::of(of).for_work();
}

std::shared_ptr<pending_call> engine::start(request what, started_work work,
                                            unique_function<void(raw_outcome)> done) {
    return core_->start(std::move(what), std::move(work), std::move(done));
}

std::vector<consumed> engine::consume_batch(const request& scope, std::vector<message> messages,
                                            unique_function<void(std::size_t, execution&)> work) {
    return core_->consume_batch(scope, std::move(messages), work);
}

store& engine::records() {
    return *core_->records;
}

engine_counters engine::counters() const {
    return core_->snapshot();
}

duration engine::default_retention() const {
    return core_->defaults.retention;
}

} // namespace semel
