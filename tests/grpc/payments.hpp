// A service whose methods do what a test says, and clients of it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "payments.grpc.pb.h"
#include "semel/grpc.hpp"

namespace semel::grpc_test {

using ::grpc::Status;
using ::grpc::StatusCode;
using test::ChargeReply;
using test::ChargeRequest;
using test::Payments;

// Generous: the machine may be busy.
inline constexpr std::chrono::seconds patience{60};

class payments : public Payments::Service {
public:
    using behaviour =
        std::function<Status(::grpc::ServerContext&, const ChargeRequest&, ChargeReply&)>;

    Status Charge(::grpc::ServerContext* context, const ChargeRequest* request,
                  ChargeReply* reply) override {
        const int number = ++runs;
        reply->set_id("charge-" + std::to_string(number));
        reply->set_number(number);
        return on_charge ? on_charge(*context, *request, *reply) : Status::OK;
    }
    Status Refund(::grpc::ServerContext* context, const ChargeRequest* request,
                  ChargeReply* reply) override {
        return Charge(context, request, reply);
    }
    Status Look(::grpc::ServerContext* context, const ChargeRequest* request,
                ChargeReply* reply) override {
        ++looks;
        return on_look ? on_look(*context, *request, *reply) : Status::OK;
    }
    Status Watch(::grpc::ServerContext*, const ChargeRequest* request,
                 ::grpc::ServerWriter<ChargeReply>* writer) override {
        for (std::int64_t i = 1; i <= request->amount(); ++i) {
            ChargeReply reply;
            reply.set_number(i);
            writer->Write(reply);
        }
        return Status::OK;
    }
    Status Collect(::grpc::ServerContext*, ::grpc::ServerReader<ChargeRequest>* reader,
                   ChargeReply* reply) override {
        ChargeRequest request;
        while (reader->Read(&request)) reply->set_number(reply->number() + request.amount());
        return Status::OK;
    }
    Status Talk(::grpc::ServerContext*,
                ::grpc::ServerReaderWriter<ChargeReply, ChargeRequest>* stream) override {
        ChargeRequest request;
        while (stream->Read(&request)) {
            ChargeReply reply;
            reply.set_number(request.amount() * 2);
            stream->Write(reply);
            if (request.card() == "stop") return {StatusCode::OUT_OF_RANGE, "enough"};
        }
        return Status::OK;
    }

    // Set before the server starts.
    behaviour on_charge;
    behaviour on_look;
    std::atomic<int> runs = 0;
    std::atomic<int> looks = 0;
};

// One call and all that came back.
struct called {
    Status status;
    ChargeReply reply;
    std::multimap<std::string, std::string> initial;
    std::multimap<std::string, std::string> trailing;

    [[nodiscard]] std::string trailer(const std::string& name) const {
        const auto found = trailing.find(name);
        return found == trailing.end() ? std::string{} : found->second;
    }
    [[nodiscard]] bool replayed() const { return trailer("idempotent-replayed") == "true"; }
};

struct call_options {
    std::string key = {}; // empty: none is sent
    std::map<std::string, std::string> metadata = {};
    std::chrono::milliseconds deadline = patience;
};

using stub_method = Status (Payments::Stub::*)(::grpc::ClientContext*, const ChargeRequest&,
                                               ChargeReply*);

inline void fill(std::multimap<std::string, std::string>& to,
                 const std::multimap<::grpc::string_ref, ::grpc::string_ref>& from) {
    for (const auto& [name, value] : from) {
        to.emplace(std::string{name.data(), name.size()}, std::string{value.data(), value.size()});
    }
}

inline void prepare(::grpc::ClientContext& context, const call_options& how) {
    if (!how.key.empty()) context.AddMetadata("idempotency-key", how.key);
    for (const auto& [name, value] : how.metadata) context.AddMetadata(name, value);
    context.set_deadline(std::chrono::system_clock::now() + how.deadline);
}

inline called call(Payments::Stub& stub, stub_method method, const ChargeRequest& request,
                   const call_options& how) {
    called made;
    ::grpc::ClientContext context;
    prepare(context, how);
    made.status = (stub.*method)(&context, request, &made.reply);
    fill(made.initial, context.GetServerInitialMetadata());
    fill(made.trailing, context.GetServerTrailingMetadata());
    return made;
}

inline ChargeRequest charge_of(std::int64_t amount) {
    ChargeRequest request;
    request.set_card("4242");
    request.set_amount(amount);
    return request;
}

// What a status says beside its code.
struct details {
    std::string reason;
    std::string domain;
    bool has_retry = false;
    std::chrono::nanoseconds retry_after{};
};

inline details details_of(const Status& status) {
    details made;
    test::StatusDetails all;
    if (!all.ParseFromString(status.error_details())) return made;
    for (const auto& one : all.details()) {
        if (one.type_url() == "type.googleapis.com/google.rpc.ErrorInfo") {
            test::ErrorInfo info;
            info.ParseFromString(one.value());
            made.reason = info.reason();
            made.domain = info.domain();
        }
        if (one.type_url() == "type.googleapis.com/google.rpc.RetryInfo") {
            test::RetryInfo info;
            info.ParseFromString(one.value());
            made.has_retry = true;
            made.retry_after = std::chrono::seconds{info.retry_delay().seconds()} +
                               std::chrono::nanoseconds{info.retry_delay().nanos()};
        }
    }
    return made;
}

} // namespace semel::grpc_test
