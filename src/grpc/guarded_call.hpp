// A protected call at the front: taken whole, claimed, passed on, stored, and only then answered.
#pragma once

#include <memory>
#include <optional>

#include <grpcpp/client_context.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include "semel/engine/detail/work.hpp"
#include "semel/grpc.hpp"
#include "semel/grpc/front.hpp"

namespace semel::grpc {

// Deletes itself when gRPC is done with it, which is after the engine has given its outcome.
// Nothing here waits: what blocks a reaction blocks the calls it waits for.
class guarded_call final : public ::grpc::ServerGenericBidiReactor {
public:
    guarded_call(front& at, ::grpc::GenericCallbackServerContext& context, protected_call call);

    void OnReadDone(bool ok) override;
    // Stops waiting for another caller's result. Work that has begun is told if its policy says so.
    void OnCancel() override;
    void OnDone() override { delete this; }

private:
    using work_done = unique_function<void(work_end)>;
    struct onward_call; // to the service

    void claim();
    void pass_on(work_done done);
    void on_answer(onward_call& from, const ::grpc::Status& status);
    [[nodiscard]] work_end end_of(onward_call& from, const ::grpc::Status& status);
    void finish(raw_outcome&& raw);
    void send(answer&& what);

    front& at_;
    ::grpc::GenericCallbackServerContext& context_;
    protected_call call_;
    ::grpc::ByteBuffer request_;
    ::grpc::ByteBuffer response_;
    // Shared with the call's completion and with OnCancel.
    std::shared_ptr<onward_call> onward_;
    semel::detail::typed_end<answer> typed_;
    std::optional<answer> own_;
    // Shared with claim(), which may outlive this object.
    const std::shared_ptr<semel::detail::cancel_link> link_ =
        std::make_shared<semel::detail::cancel_link>();
};

} // namespace semel::grpc
