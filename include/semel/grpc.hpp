// gRPC: services that take effect once per key, and clients that carry the key on. Needs gRPC 1.51
// and protobuf 3.21; nothing else of semel does.
#pragma once

#include "semel/grpc/client.hpp"
#include "semel/grpc/codec.hpp"
#include "semel/grpc/exchange.hpp"
#include "semel/grpc/front.hpp"
#include "semel/grpc/guard.hpp"
#include "semel/grpc/policy.hpp"
#include "semel/grpc/scope.hpp"
#include "semel/grpc/service.hpp"
