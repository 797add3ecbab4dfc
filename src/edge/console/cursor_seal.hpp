// Cursors of searches as they are handed out. A cursor of a store names the record that was looked
// at last, which may be another tenant's; and one that is made up would begin anywhere. Constant
// after construction: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "semel/core/search.hpp"
#include "store/sealed_box.hpp"

namespace semel::edge {

class cursor_seal {
public:
    // 32 bytes. Instances with the same secret take each other's cursors.
    explicit cursor_seal(std::string secret);

    // Empty stays empty: there is no more. Of a length that tells little of what is inside.
    [[nodiscard]] std::string close(std::string_view cursor, const record_query& of) const;
    // None if it is not from close(), for a search of the same tenant.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed,
                                                  const record_query& of) const;

private:
    sealed_box box_;
};

} // namespace semel::edge
