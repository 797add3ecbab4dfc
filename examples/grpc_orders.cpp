// A gRPC service whose Create takes effect once per idempotency-key.
#include <iostream>
#include <string>

#include <grpcpp/grpcpp.h>
#include <semel/engine.hpp>
#include <semel/grpc/client.hpp>
#include <semel/grpc/service.hpp>
#include <semel/open.hpp>

#include "orders.grpc.pb.h"
#include "support.hpp"

namespace {

// As it would be without semel.
class orders : public shop::Orders::Service {
public:
    grpc::Status Create(grpc::ServerContext*, const shop::CreateRequest*,
                        shop::CreateReply* reply) override {
        reply->set_order("order " + std::to_string(++made)); // the effect: a new order
        return grpc::Status::OK;
    }
    int made = 0;
};

// Under one key, however often it is called.
grpc::Status create(shop::Orders::Stub& stub, const std::string& item, shop::CreateReply& reply) {
    const semel::grpc::scope cart{"cart-17"};
    grpc::ClientContext context;
    shop::CreateRequest request;
    request.set_item(item);
    return stub.Create(&context, request, &reply);
}

} // namespace

int main() {
    semel::engine engine{semel::open_store("memory:").value()};
    semel::grpc::idempotent<shop::Orders, orders> service{
        engine, {.tenants = semel::http::single_tenant{"acme"}}};
    service.protect<&orders::Create>("Create");

    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    const auto server = builder.BuildAndStart();

    grpc::ChannelArguments direct;
    direct.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub = shop::Orders::NewStub(semel::grpc::open_channel(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), {}, direct));
    shop::CreateReply first;
    shop::CreateReply again;
    shop::CreateReply other;
    const bool made = create(*stub, "book", first).ok();
    example::claim(made, "the first call makes " + first.order());
    example::claim(create(*stub, "book", again).ok() && again.order() == first.order(),
                   "its repeat gets the same answer");
    example::claim(create(*stub, "car", other).error_code() ==
                       grpc::StatusCode::FAILED_PRECONDITION,
                   "another request under the key is refused");
    example::claim(service.made == 1, "one order was made");
    server->Shutdown();
    return 0;
}
