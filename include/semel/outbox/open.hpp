// The outbox table behind a store URL.
#pragma once

#include <memory>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/open.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox {

// A connection for a relay or an operator: `sqlite:path`, `postgres://…`, `mysql://…`, with the
// parameters of the store (semel/open.hpp). `lanes` and `batch_max` have no effect here.
//
// Errors: unsupported (a store without tables), unknown_store, and those of opening the store.
[[nodiscard]] result<std::unique_ptr<table>> open_table(std::string_view url,
                                                        const table_options& options = {});

// What open_table() refuses before it connects or touches a file.
[[nodiscard]] result<void> check_table_url(std::string_view url, const table_options& options = {});

} // namespace semel::outbox
