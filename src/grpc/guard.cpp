#include "semel/grpc/guard.hpp"

#include "grpc/bytes.hpp"
#include "grpc/deterministic.hpp"
#include "semel/engine/detail/work.hpp"

namespace semel::grpc {

guard::guard(semel::engine& engine, guard_options options)
    : engine_(engine), options_(std::move(options)) {
    check(options_).value();
}

admission guard::admitted(const ::grpc::ServerContextBase& context, const protected_method& method,
                          const google::protobuf::MessageLite& request) const {
    admission what = admit(options_, method, context);
    if (auto* call = std::get_if<protected_call>(&what)) {
        // It has been parsed: of the ways to write it again only one is the same every time.
        call->what.content = fingerprint::raw(deterministic(request));
    }
    return what;
}

::grpc::Status guard::respond(::grpc::ServerContextBase& context, outcome<answer>&& came,
                              std::optional<answer>&& own,
                              google::protobuf::MessageLite& response) const {
    const bool filled = came.executed();
    answer made = answer_for(options_, std::move(came), std::move(own));
    add_metadata(context, made);
    if (made.status.ok() && !filled && !response.ParseFromString(made.message)) {
        return to_status({.kind = http::problem_kind::result_unreadable}, options_);
    }
    return std::move(made.status);
}

// One protected call of a callback service. Lives until gRPC is done with it, which is after the
// engine has given its outcome.
class callback_call final : public ::grpc::ServerUnaryReactor {
public:
    callback_call(const guard& by, ::grpc::CallbackServerContext& context,
                  google::protobuf::MessageLite& response, guard::started_work work)
        : by_(by), context_(context), response_(response), work_(std::move(work)) {}

    void begin(admission what) {
        if (auto* no = std::get_if<::grpc::Status>(&what)) return Finish(*no);
        auto* call = std::get_if<protected_call>(&what);
        if (call == nullptr) return work_(nullptr, [this](::grpc::Status with) { Finish(with); });
        call_ = std::move(*call);
        // The outcome may come, and this object go, before start() returns.
        const auto link = link_;
        link->connect(by_.engine_.start(
            call_.what,
            [this](execution& run, unique_function<void(work_end)> done) {
                run_work(run, std::move(done));
            },
            [this](raw_outcome raw) { finish(std::move(raw)); }));
    }

    void OnCancel() override { link_->cancel(); }
    void OnDone() override { delete this; }

private:
    void run_work(execution& run, unique_function<void(work_end)> done) {
        const scope here{context_, run};
        work_(&run, [this, done = std::move(done)](::grpc::Status with) mutable {
            done(end_of(std::move(with)));
        });
    }

    work_end end_of(::grpc::Status&& with) {
        try {
            answer got{.status = std::move(with)};
            if (got.status.ok()) got.message = response_.SerializeAsString();
            return typed_.ended(judge(call_, std::move(got), own_));
        } catch (...) {
            return threw_end{std::current_exception()};
        }
    }

    void finish(raw_outcome&& raw) {
        Finish(by_.respond(context_, typed_.finish(std::move(raw)), std::move(own_), response_));
    }

    const guard& by_;
    ::grpc::CallbackServerContext& context_;
    google::protobuf::MessageLite& response_;
    guard::started_work work_;
    protected_call call_;
    detail::typed_end<answer> typed_;
    std::optional<answer> own_;
    // Shared with begin(), which may outlive this object.
    const std::shared_ptr<detail::cancel_link> link_ = std::make_shared<detail::cancel_link>();
};

::grpc::ServerUnaryReactor* guard::start(::grpc::CallbackServerContext& context,
                                         const protected_method& method,
                                         const google::protobuf::MessageLite& request,
                                         google::protobuf::MessageLite& response,
                                         started_work work) const {
    auto* made = new callback_call{*this, context, response, std::move(work)};
    made->begin(admitted(context, method, request));
    return made;
}

} // namespace semel::grpc
