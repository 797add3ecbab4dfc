// What a program that embeds semel usually needs. Asio, databases' transactions and the conformance
// suite have headers of their own.
#pragma once

#include "semel/core/logical.hpp"
#include "semel/engine.hpp"
#include "semel/engine/json.hpp"
#include "semel/fingerprint.hpp"
#include "semel/ids.hpp"
#include "semel/log.hpp"
#include "semel/open.hpp"
#include "semel/store/decorators.hpp"
