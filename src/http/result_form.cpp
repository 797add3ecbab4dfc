#include "http/result_form.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "http/media_type.hpp"
#include "http/text.hpp"
#include "semel/http/response.hpp"

namespace semel::http {
namespace {

// Where JSON ends to be JSON; makes no tree of it.
class json_check : public nlohmann::json_sax<nlohmann::json> {
public:
    [[nodiscard]] std::optional<std::size_t> wrong_at() const { return wrong_at_; }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(std::int64_t) override { return true; }
    bool number_unsigned(std::uint64_t) override { return true; }
    bool number_float(double, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(nlohmann::json::binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(std::string&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t at, const std::string&,
                     const nlohmann::json::exception&) override {
        wrong_at_ = at;
        return false;
    }

private:
    std::optional<std::size_t> wrong_at_;
};

std::optional<std::size_t> wrong_json(const result_draft& from) {
    const std::string essence = lowered(parse_parameterised(from.type).value);
    if (from.body.empty() || kind_of(essence) != body_kind::json) return std::nullopt;
    json_check check;
    nlohmann::json::sax_parse(from.body, &check);
    return check.wrong_at();
}

std::optional<draft_fault> fault_of(const result_draft& from, result_form wanted,
                                    const limits& most) {
    if (wanted == result_form::response && !from.status) {
        return draft_fault{"result",
                           "must be a response, with a status: clients of this operation speak "
                           "HTTP"};
    }
    if (wanted == result_form::plain && from.status) {
        return draft_fault{"result", "must have no status: no gateway route has this operation"};
    }
    if (from.status && (*from.status < 200 || *from.status > 599)) {
        return draft_fault{"status", "must be a number from 200 to 599"};
    }
    if (from.type.size() > most.result_type_bytes_max) return draft_fault{"type", "is too long"};
    if (from.status && !from.type.empty() && !is_value(from.type)) {
        return draft_fault{"type", "is not a content type"};
    }
    if (from.ref.size() > most.result_ref_bytes_max) return draft_fault{"ref", "is too long"};
    if (const auto at = wrong_json(from)) {
        return draft_fault{"body", "is not the JSON that its type promises: wrong at character " +
                                       std::to_string(*at)};
    }
    return std::nullopt;
}

} // namespace

std::variant<stored_result, draft_fault> to_result(const result_draft& from, result_form wanted,
                                                   const limits& most) {
    if (auto fault = fault_of(from, wanted, most)) return *std::move(fault);
    stored_result made{.kind = from.kind, .body = from.body, .type = from.type};
    if (from.status) {
        response answer{.status = *from.status, .body = from.body};
        if (!from.type.empty()) answer.headers.add("Content-Type", from.type);
        made = encode(answer, {}, most.result_bytes_max);
    }
    if (made.kind == result_kind::tombstone || made.body.size() > most.result_bytes_max) {
        return draft_fault{"body", "is too large: the limit is " +
                                       std::to_string(most.result_bytes_max) + " bytes"};
    }
    made.ref = from.ref;
    seal(made);
    return made;
}

} // namespace semel::http
