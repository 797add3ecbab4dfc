// What travels between the client of a front and the service behind it.
#pragma once

#include <chrono>
#include <string>

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include "semel/grpc.hpp"

namespace semel::grpc {

// Metadata and peer. `call` is null for calls that pass; else its key goes as its policy says.
void forward_metadata(::grpc::ClientContext& to, const ::grpc::ServerContextBase& from,
                      const guard_options& rules, const protected_call* call);

void return_initial(::grpc::ServerContextBase& to, const ::grpc::ClientContext& from);
void return_trailing(::grpc::ServerContextBase& to, const ::grpc::ClientContext& from);

} // namespace semel::grpc
