// Protects calls from inside their handlers, whatever API they are written for:
//
//   const auto charge = semel::grpc::protected_method::make("pay.Payments/Charge", {}).value();
//
//   Status Charge(ServerContext* context, const ChargeRequest* request, ChargeReply* reply) {
//       return guard.transact(sqlite_transaction{db}, *context, charge, *request, *reply,
//                             [&](semel::execution* run) { …; return Status::OK; });
//   }
//
// semel/grpc/service.hpp and semel/grpc/front.hpp protect calls from outside of the handlers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <google/protobuf/message_lite.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "semel/engine.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/grpc.hpp"
#include "semel/grpc/client.hpp"
#include "semel/transaction.hpp"

namespace semel::grpc {

// Thread-safe. The engine outlives the guard.
class guard {
public:
    // Throws failure_error if the options are wrong: nothing is served then.
    guard(semel::engine& engine, guard_options options);

    // Runs `work` once per key and fills the response; a repeat's response comes from the record.
    // `work` takes execution* and returns a Status. The execution is null if a call without a key
    // passes. If `work` throws, the operation's policy decides about the record, and gRPC gets the
    // exception.
    template <class Work>
    ::grpc::Status execute(::grpc::ServerContext& context, const protected_method& method,
                           const google::protobuf::MessageLite& request,
                           google::protobuf::MessageLite& response, Work&& work) const {
        return handle(context, method, request, response, work,
                      [this](semel::request&& what, auto& run) {
                          return engine_.execute<answer>(std::move(what), run);
                      });
    }

    // The same in one transaction with the handler's own rows: exactly once, whatever crashes. An
    // answer that is not kept rolls back.
    template <blocking_transaction Handle, class Work>
    ::grpc::Status transact(Handle&& connection, ::grpc::ServerContext& context,
                            const protected_method& method,
                            const google::protobuf::MessageLite& request,
                            google::protobuf::MessageLite& response, Work&& work) const {
        return handle(context, method, request, response, work,
                      [&](semel::request&& what, auto& run) {
                          return engine_.transact<answer>(connection, std::move(what), run);
                      });
    }

    // For callback services: return the reactor that this returns. `work` is started without
    // blocking and ends by calling its `done`, once, from any thread. A caller that cancels stops
    // waiting. Work that has begun runs on, and its result is stored.
    using started_work = unique_function<void(execution*, unique_function<void(::grpc::Status)>)>;
    [[nodiscard]] ::grpc::ServerUnaryReactor* start(::grpc::CallbackServerContext& context,
                                                    const protected_method& method,
                                                    const google::protobuf::MessageLite& request,
                                                    google::protobuf::MessageLite& response,
                                                    started_work work) const;

    [[nodiscard]] semel::engine& engine() const { return engine_; }
    [[nodiscard]] const guard_options& options() const { return options_; }

private:
    template <class Work, class Execute>
    ::grpc::Status handle(::grpc::ServerContext& context, const protected_method& method,
                          const google::protobuf::MessageLite& request,
                          google::protobuf::MessageLite& response, Work& work,
                          const Execute& execute) const {
        auto what = admitted(context, method, request);
        if (auto* no = std::get_if<::grpc::Status>(&what)) return std::move(*no);
        auto* call = std::get_if<protected_call>(&what);
        if (call == nullptr) return work(static_cast<execution*>(nullptr));
        std::optional<answer> own;
        auto run = [&](execution& running) -> verdict<answer> {
            const scope here{context, running};
            answer got{.status = work(&running)};
            if (got.status.ok()) got.message = response.SerializeAsString();
            return judge(*call, std::move(got), own);
        };
        try {
            outcome<answer> came = execute(semel::request{call->what}, run);
            return respond(context, std::move(came), std::move(own), response);
        } catch (const released&) {
            return own->status;
        }
    }

    [[nodiscard]] admission admitted(const ::grpc::ServerContextBase& context,
                                     const protected_method& method,
                                     const google::protobuf::MessageLite& request) const;
    // Fills context and response.
    [[nodiscard]] ::grpc::Status respond(::grpc::ServerContextBase& context, outcome<answer>&& came,
                                         std::optional<answer>&& own,
                                         google::protobuf::MessageLite& response) const;

    friend class callback_call;

    semel::engine& engine_;
    const guard_options options_;
};

} // namespace semel::grpc
