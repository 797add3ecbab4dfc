#include "store/cached_entry.hpp"

#include <cstring>
#include <new>
#include <string>

#include "semel/base/result.hpp"

namespace semel {

namespace {

// The table's slot at its emptiest, the ring's place at its emptiest, the allocator's header.
constexpr std::size_t overhead_bytes = 64;

std::size_t chars_of(const record_id& id, const cached_texts& texts) {
    return id.tenant.size() + id.operation.size() + id.key.size() + texts.body.size() +
           texts.type.size() + texts.ref.size();
}

char* append(char* at, std::string_view what) {
    if (!what.empty()) std::memcpy(at, what.data(), what.size());
    return at + what.size();
}

std::uint32_t narrow(std::size_t bytes) {
    return static_cast<std::uint32_t>(bytes);
}

} // namespace

cached_entry::pointer cached_entry::make(const cached_probe& of, const facts& known,
                                         const cached_texts& texts) {
    void* const room = ::operator new(sizeof(cached_entry) + chars_of(*of.id, texts));
    return pointer{::new (room) cached_entry(of, known, texts)};
}

void cached_entry::deleter::operator()(cached_entry* one) const noexcept {
    one->~cached_entry();
    ::operator delete(one);
}

cached_entry::cached_entry(const cached_probe& of, const facts& with, const cached_texts& texts)
    : hash_(of.hash),
      tenant_bytes_(narrow(of.id->tenant.size())),
      operation_bytes_(narrow(of.id->operation.size())),
      key_bytes_(narrow(of.id->key.size())),
      body_bytes_(narrow(texts.body.size())),
      type_bytes_(narrow(texts.type.size())),
      ref_bytes_(narrow(texts.ref.size())),
      bytes_(bytes_for(*of.id, texts)),
      known(with) {
    char* at = reinterpret_cast<char*>(this + 1);
    for (const std::string_view part :
         {std::string_view{of.id->tenant}, std::string_view{of.id->operation},
          std::string_view{of.id->key}}) {
        at = append(at, part);
    }
    for (const std::string_view part : {texts.body, texts.type, texts.ref}) at = append(at, part);
}

std::size_t cached_entry::bytes_for(const record_id& id, const cached_texts& texts) {
    return overhead_bytes + sizeof(cached_entry) + chars_of(id, texts);
}

bool cached_entry::is(const cached_probe& of) const {
    if (hash_ != of.hash) return false;
    const char* at = chars();
    const std::string_view tenant{at, tenant_bytes_};
    const std::string_view operation{at += tenant_bytes_, operation_bytes_};
    const std::string_view key{at += operation_bytes_, key_bytes_};
    return key == of.id->key && operation == of.id->operation && tenant == of.id->tenant;
}

answer cached_entry::said() const {
    SEMEL_ASSERT(known.kind != cached_kind::claimed);
    const char* const body = chars() + tenant_bytes_ + operation_bytes_ + key_bytes_;
    if (known.kind == cached_kind::failed) {
        return answers::failed{.state = record_state::failed_final,
                               .error = std::string{body, body_bytes_},
                               .attempts = known.attempts,
                               .expires_at = known.expires_at};
    }
    const char* const type = body + body_bytes_;
    return answers::replay{.result = {.kind = known.result,
                                      .body = std::string{body, body_bytes_},
                                      .type = std::string{type, type_bytes_},
                                      .ref = std::string{type + type_bytes_, ref_bytes_},
                                      .checksum = known.checksum},
                           .fence = known.by.fence,
                           .expires_at = known.expires_at};
}

} // namespace semel
