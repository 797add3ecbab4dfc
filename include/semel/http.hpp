// The HTTP edge without a framework: everything an adapter needs.
#pragma once

#include "semel/http/content.hpp"
#include "semel/http/exchange.hpp"
#include "semel/http/framing.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"
#include "semel/http/next_hop.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/profile.hpp"
#include "semel/http/route.hpp"
#include "semel/http/stored_response.hpp"
#include "semel/http/tenant.hpp"
#include "semel/http/token.hpp"
