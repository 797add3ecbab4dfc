// What a program that embeds semel usually needs. Asio, databases' transactions and the conformance
// suite have headers of their own.
#pragma once

#include "semel/decorators.hpp"
#include "semel/engine.hpp"
#include "semel/fingerprint.hpp"
#include "semel/ids.hpp"
#include "semel/json.hpp"
#include "semel/key.hpp"
#include "semel/log.hpp"
#include "semel/logical.hpp"
#include "semel/open.hpp"
