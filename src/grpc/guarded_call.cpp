#include "grpc/guarded_call.hpp"

#include <algorithm>
#include <chrono>

#include "grpc/bytes.hpp"
#include "grpc/forwarding.hpp"
#include "grpc/metadata.hpp"
#include "http/own_outcome.hpp"

namespace semel::grpc {

struct guarded_call::onward_call {
    explicit onward_call(front& at) : ticket(at.onward_) {}

    const front::onward_calls::ticket ticket; // goes last, after the context's hold on the channel
    ::grpc::ClientContext context;
    ::grpc::ByteBuffer response;
    work_done done;
};

guarded_call::guarded_call(front& at, ::grpc::GenericCallbackServerContext& context,
                           protected_call call)
    : at_(at),
      context_(context),
      call_(std::move(call)),
      onward_(std::make_shared<onward_call>(at)) {
    StartRead(&request_);
}

void guarded_call::OnReadDone(bool ok) {
    if (!ok) return Finish({::grpc::StatusCode::CANCELLED, "no request came"});
    const whole_message request{request_};
    if (!request.readable()) {
        return Finish({::grpc::StatusCode::INTERNAL, "the request cannot be read"});
    }
    if (auto status = add_content(call_, request.view()); !status.ok()) return Finish(status);
    claim();
}

void guarded_call::OnCancel() {
    link_->cancel();
    if (call_.how->how.leaving == caller_gone::pass) onward_->context.TryCancel();
}

// The outcome may come, and this object go, before start() returns.
void guarded_call::claim() {
    const auto link = link_;
    link->connect(at_.engine_.start(
        call_.what, [this](execution&, work_done done) { pass_on(std::move(done)); },
        [this](raw_outcome raw) { finish(std::move(raw)); }));
}

// The engine waits for `done`, and this object for the engine.
void guarded_call::pass_on(work_done done) {
    const method_policy& how = call_.how->how;
    ::grpc::ClientContext& to = onward_->context;
    forward_metadata(to, context_, at_.rules_, &call_);
    const auto latest = std::chrono::system_clock::now() + how.work_max;
    to.set_deadline(how.leaving == caller_gone::pass ? std::min(latest, context_.deadline())
                                                     : latest);
    onward_->done = std::move(done);
    at_.stub_.UnaryCall(
        &to, context_.method(), {}, &request_, &onward_->response,
        [this, onward = onward_](const ::grpc::Status& status) { on_answer(*onward, status); });
}

void guarded_call::on_answer(onward_call& from, const ::grpc::Status& status) {
    auto done = std::move(from.done);
    done(end_of(from, status));
}

work_end guarded_call::end_of(onward_call& from, const ::grpc::Status& status) {
    try {
        answer got{
            .status = status,
            .initial = kept(from.context.GetServerInitialMetadata(), call_.how->how.metadata),
            .trailing = kept(from.context.GetServerTrailingMetadata(), call_.how->how.metadata)};
        if (status.ok()) got.message = whole_message{from.response}.view();
        return typed_.ended(judge(call_, std::move(got), own_));
    } catch (...) {
        return threw_end{std::current_exception()};
    }
}

void guarded_call::finish(raw_outcome&& raw) {
    const bool own = raw.kind == outcome_kind::executed || (own_ && http::is_own(raw));
    answer what = answer_for(at_.rules_, typed_.finish(std::move(raw)), std::move(own_));
    if (own) {
        return_initial(context_, onward_->context);
        return_trailing(context_, onward_->context);
    }
    send(std::move(what));
}

void guarded_call::send(answer&& what) {
    add_metadata(context_, what);
    if (!what.status.ok()) return Finish(what.status);
    response_ = buffer_of(std::move(what.message));
    StartWriteAndFinish(&response_, ::grpc::WriteOptions{}, what.status);
}

} // namespace semel::grpc
