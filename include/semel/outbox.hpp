// The outbox: events appended in the application's transaction, and relays that carry them on.
// The writers for the databases are in semel/outbox/postgres.hpp, mysql.hpp and sqlite.hpp.
#pragma once

#include "semel/outbox/append.hpp"
#include "semel/outbox/event.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/sink.hpp"
#include "semel/outbox/table.hpp"
