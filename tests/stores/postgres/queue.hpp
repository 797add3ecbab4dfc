// Statements that are left in libpq's pipeline for somebody else to send.
#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <string>

#include "database.hpp"

namespace semel {

inline void queue(database_client& on, const std::string& text) {
    PGconn* const to = on.native();
    ASSERT_EQ(PQenterPipelineMode(to), 1);
    ASSERT_EQ(PQsendQueryParams(to, text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0), 1);
}

} // namespace semel
