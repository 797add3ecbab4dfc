// A call that passes through: every message, both ways, in order.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include <grpcpp/client_context.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

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
    // These hold mutex_.
    void keep_answer();
    void write_next();
    // Nothing is left but to finish.
    [[nodiscard]] bool is_over() const { return ended_ && !writing_ && ahead_.empty(); }

    ::grpc::GenericCallbackServerContext& context_;
    const reach reach_;
    ::grpc::ClientContext onward_;
    service_side service_{*this};
    ::grpc::ByteBuffer request_;
    ::grpc::ByteBuffer answer_;

    // gRPC runs no reaction inside another one's call, so operations may be started under it.
    std::mutex mutex_;
    // All guarded by mutex_:
    bool forwarding_ = true; // that direction's hold is ours
    bool headed_ = false;    // the initial metadata has come
    bool writing_ = false;
    bool cut_off_ = false;                 // the client is too slow
    std::deque<::grpc::ByteBuffer> ahead_; // the first one is being written
    std::size_t ahead_bytes_ = 0;
    std::optional<::grpc::Status> ended_;
};

} // namespace semel::grpc
