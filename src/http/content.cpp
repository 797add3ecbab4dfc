#include "semel/http/route.hpp"

#include "http/media_type.hpp"
#include "http/multipart.hpp"
#include "http/text.hpp"

namespace semel::http {
namespace {

fingerprint json_digest(std::string_view body, const content_options& options) {
    json_options how;
    how.canonical.selection = options.json;
    how.canonical.numbers = options.numbers;
    how.secret = options.secret;
    return fingerprint::json(body, how);
}

// Named by how the body was read, so that two readings never have the same fingerprint.
void add_body(fingerprint_builder& parts, std::string_view body, body_kind kind,
              const std::string* boundary, const content_options& options) {
    const digest_options secret{.secret = options.secret};
    switch (kind) {
    case body_kind::json: parts.add("json", json_digest(body, options)); return;
    case body_kind::form: parts.add("form", fingerprint::form(body, secret)); return;
    case body_kind::multipart:
        if (boundary == nullptr) break;
        if (auto digest = multipart_fingerprint(body, *boundary, secret)) {
            parts.add("multipart", *digest);
            return;
        }
        break;
    case body_kind::bytes: break;
    }
    parts.add("bytes", fingerprint::raw(body, secret));
}

} // namespace

fingerprint fingerprint_of(const request_head& head, std::string_view body,
                           const content_options& options) {
    fingerprint_builder parts{{.secret = options.secret}};
    const header_list& headers = head.headers;
    const std::string* host = headers.find("Host");
    const bool host_counts = options.host == content_options::host_counts::yes;
    parts.add("method", head.method)
        .add("host", host_counts && host != nullptr ? lowered(*host) : std::string{})
        .add("path", head.path())
        .add("query", head.query());
    for (const std::string& name : options.headers) {
        for (const header& line : headers) {
            if (equal_ignoring_case(line.name, name)) parts.add(lowered(name), line.value);
        }
        parts.add("end", lowered(name));
    }
    const std::string* type = headers.find("Content-Type");
    const parameterised media = parse_parameterised(type != nullptr ? *type : std::string{});
    const std::string essence = lowered(media.value);
    const std::string* coding = headers.find("Content-Encoding");
    parts.add("type", essence).add("coding", coding != nullptr ? *coding : std::string{});
    const body_kind kind = coding != nullptr ? body_kind::bytes : kind_of(essence);
    add_body(parts, body, kind, media.find("boundary"), options);
    return parts.finish();
}

} // namespace semel::http
