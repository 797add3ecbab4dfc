// A call that passes through: every message, both ways, in order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include <grpcpp/client_context.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include "semel/base/mutex.hpp"
#include "semel/grpc.hpp"
#include "semel/grpc/front.hpp"

namespace semel::grpc {

// Deletes itself when gRPC is done with its client's side, which ends after the service's side.
//
// gRPC's transport inside a process loses a last message that is sent together with its status
// while no read is under way. So there a read is always under way, and messages that the client has
// not taken yet are kept, up to a limit. From another process nothing is read ahead.
class relayed_call final : public ::grpc::ServerGenericBidiReactor {
public:
    static constexpr std::size_t ahead_bytes_max = std::size_t{64} << 20U;

    relayed_call(::grpc::GenericStub& to, ::grpc::GenericCallbackServerContext& context,
                 const guard_options& rules, reach how);

    // ---- from the client
    void OnReadDone(bool ok) override;
    void OnWriteDone(bool ok) override;
    void OnCancel() override { onward_.TryCancel(); }
    void OnDone() override { delete this; }

private:
    // ---- from the service
    class service_side final
        : public ::grpc::ClientBidiReactor<::grpc::ByteBuffer, ::grpc::ByteBuffer> {
    public:
        explicit service_side(relayed_call& of) : call_(of) {}
        void OnReadInitialMetadataDone(bool ok) override { call_.on_initial_metadata(ok); }
        void OnReadDone(bool ok) override { call_.on_answer(ok); }
        void OnWriteDone(bool ok) override { call_.on_forwarded(ok); }
        void OnDone(const ::grpc::Status& status) override { call_.on_end(status); }

    private:
        relayed_call& call_;
    };

    void on_initial_metadata(bool ok);
    void on_answer(bool ok);
    void on_forwarded(bool ok);
    void on_end(const ::grpc::Status& status);
    void stop_forwarding();
    void keep_answer() SEMEL_REQUIRES(mutex_);
    void write_next() SEMEL_REQUIRES(mutex_);
    // The call's status, once all of the answer has been written.
    [[nodiscard]] std::optional<::grpc::Status> status_if_over() const SEMEL_REQUIRES(mutex_) {
        return !writing_ && ahead_.empty() ? ended_ : std::nullopt;
    }

    ::grpc::GenericCallbackServerContext& context_;
    const reach reach_;
    ::grpc::ClientContext onward_;
    service_side service_{*this};
    ::grpc::ByteBuffer request_;
    ::grpc::ByteBuffer answer_;

    // gRPC runs no reaction inside another one's call, so operations may be started under it.
    detail::mutex mutex_;
    bool forwarding_ SEMEL_GUARDED_BY(mutex_) = true; // that direction's hold is ours
    bool headed_ SEMEL_GUARDED_BY(mutex_) = false;    // the initial metadata has come
    bool writing_ SEMEL_GUARDED_BY(mutex_) = false;
    bool cut_off_ SEMEL_GUARDED_BY(mutex_) = false;                 // the client is too slow
    std::deque<::grpc::ByteBuffer> ahead_ SEMEL_GUARDED_BY(mutex_); // the first is being written
    std::size_t ahead_bytes_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::optional<::grpc::Status> ended_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::grpc
