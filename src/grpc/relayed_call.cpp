#include "grpc/relayed_call.hpp"

#include <utility>

#include "grpc/forwarding.hpp"
#include "semel/base/mutex.hpp"

namespace semel::grpc {

// What the client's side starts on the service's side comes from outside of the latter's reactions:
// such a reactor must be held, once for each direction.
relayed_call::relayed_call(::grpc::GenericStub& to, ::grpc::GenericCallbackServerContext& context,
                           const guard_options& rules, reach how)
    : context_(context), reach_(how) {
    forward_metadata(onward_, context, rules, nullptr);
    onward_.set_deadline(context.deadline());
    to.PrepareBidiStreamingCall(&onward_, context.method(), {}, &service_);
    service_.AddMultipleHolds(2);
    service_.StartRead(&answer_);
    service_.StartCall();
    StartRead(&request_);
}

// ---- client to service

void relayed_call::OnReadDone(bool ok) {
    {
        // Held while the operation is started, so that the hold is not given back in between.
        const detail::guard lock{mutex_};
        if (!forwarding_) return;
        if (ok) return service_.StartWrite(&request_);
        service_.StartWritesDone();
    }
    stop_forwarding();
}

void relayed_call::on_forwarded(bool ok) {
    if (!ok) return stop_forwarding();
    StartRead(&request_);
}

void relayed_call::stop_forwarding() {
    {
        const detail::guard lock{mutex_};
        if (!forwarding_) return;
        forwarding_ = false;
    }
    service_.RemoveHold();
}

// ---- service to client

void relayed_call::on_initial_metadata(bool ok) {
    const detail::guard lock{mutex_};
    headed_ = true;
    if (!ok) return;
    return_initial(context_, onward_);
    StartSendInitialMetadata();
    write_next();
}

void relayed_call::on_answer(bool ok) {
    if (ok) {
        const detail::guard lock{mutex_};
        return keep_answer();
    }
    stop_forwarding(); // the service has ended the call, whatever the client still has to say
    service_.RemoveHold();
}

void relayed_call::keep_answer() {
    ahead_bytes_ += answer_.Length();
    ahead_.push_back(std::move(answer_));
    answer_.Clear();
    write_next();
    if (reach_ == reach::remote) return; // the next one is read when this one is written
    if (ahead_bytes_ > ahead_bytes_max && !std::exchange(cut_off_, true)) onward_.TryCancel();
    service_.StartRead(&answer_);
}

void relayed_call::write_next() {
    if (writing_ || !headed_ || ahead_.empty()) return;
    writing_ = true;
    StartWrite(&ahead_.front());
}

void relayed_call::OnWriteDone(bool ok) {
    detail::guard lock{mutex_};
    writing_ = false;
    ahead_bytes_ -= ahead_.front().Length();
    ahead_.pop_front();
    if (!ok) {
        onward_.TryCancel();
        ahead_.clear();
    }
    write_next();
    const auto last = status_if_over();
    if (reach_ == reach::remote) service_.StartRead(&answer_);
    lock.unlock();
    if (last) Finish(*last);
}

// The client's side may be done with, and this object gone, as soon as it is finished: a reaction
// of the service's side does not keep it.
void relayed_call::on_end(const ::grpc::Status& status) {
    detail::guard lock{mutex_};
    return_trailing(context_, onward_);
    headed_ = true;
    ended_ = cut_off_ ? ::grpc::Status{::grpc::StatusCode::RESOURCE_EXHAUSTED,
                                       "the client reads too slowly"}
                      : status;
    write_next();
    const auto last = status_if_over();
    lock.unlock();
    if (last) Finish(*last);
}

} // namespace semel::grpc
