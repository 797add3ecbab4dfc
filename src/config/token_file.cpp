#include "config/token_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "semel/base/result.hpp"

namespace semel::config {
namespace {

constexpr std::size_t id_digits = 12;
constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;

failure wrong(std::string why) {
    return {.code = errc::invalid_argument, .detail = std::move(why)};
}

failure system_failure(const std::string& path) {
    return {.code = errc::unavailable, .detail = path + ": " + std::strerror(errno)};
}

class descriptor {
public:
    explicit descriptor(int number) : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }

private:
    int number_;
};

result<std::string> read_all(const descriptor& from, const std::string& path) {
    std::string text;
    std::array<char, 65'536> part;
    while (true) {
        const ssize_t got = ::read(from.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(path);
        if (got == 0) return text;
        text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > file_bytes_max) return wrong(path + ": more than 64 MiB");
    }
}

result<void> write_all(const descriptor& to, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t put = ::write(to.get(), text.data(), text.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return system_failure(path);
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    if (::fsync(to.get()) != 0) return system_failure(path);
    return {};
}

// The file, locked against others who change it. It may have been replaced while we waited.
result<descriptor> open_locked(const std::string& path, int flags) {
    while (true) {
        descriptor file{::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)};
        if (!file.open() || ::flock(file.get(), LOCK_EX) != 0) return system_failure(path);
        struct stat ours {};
        struct stat named {};
        if (::fstat(file.get(), &ours) != 0) return system_failure(path);
        if (::stat(path.c_str(), &named) == 0 && named.st_ino == ours.st_ino) return file;
    }
}

std::string_view take_word(std::string_view& rest) {
    const auto blank = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    return word;
}

result<token_line> parse_line(std::string_view text) {
    const auto hash = fingerprint::from_hex(take_word(text));
    if (!hash) return wrong("must begin with a hash of 64 hex digits");
    const std::string tenant{take_word(text)};
    if (tenant == http::reserved_tenant) return wrong(http::tenant_fault(tenant));
    if (!http::is_tenant_name(tenant)) return wrong("has no tenant behind the hash");
    const auto scopes = http::parse_scopes(take_word(text));
    if (!scopes) return scopes.error();
    const std::string created{take_word(text)};
    return token_line{.hash = *hash,
                      .gives = {.tenant = tenant, .may = *scopes},
                      .created = created,
                      .comment = std::string{text}};
}

exposure exposure_of(const struct stat& file) {
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return exposure::writable;
    return (file.st_mode & S_IROTH) != 0 ? exposure::readable : exposure::none;
}

// Comments of the owner's own stay.
std::string without_line(std::string_view text, std::string_view beginning) {
    std::string rest;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        if (!text.starts_with(beginning)) rest += text.substr(0, end);
        text.remove_prefix(end);
    }
    return rest;
}

// Removes a file that was not put in its place.
class temporary_file {
public:
    explicit temporary_file(std::string name)
        : name_(std::move(name)), file_(::mkostemp(name_.data(), O_CLOEXEC)) {}
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (file_.open() && !moved_) ::unlink(name_.c_str());
    }
    [[nodiscard]] const descriptor& file() const { return file_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool move_to(const std::string& path) {
        return moved_ = ::rename(name_.c_str(), path.c_str()) == 0;
    }

private:
    std::string name_;
    descriptor file_;
    bool moved_ = false;
};

// A server that runs under another user could not read it any more.
result<void> keep_owner(const descriptor& of, const struct stat& about, const std::string& path) {
    struct stat now {};
    if (::fstat(of.get(), &now) != 0) return system_failure(path);
    if (now.st_uid == about.st_uid && now.st_gid == about.st_gid) return {};
    if (::fchown(of.get(), about.st_uid, about.st_gid) == 0) return {};
    return failure{.code = errc::unavailable,
                   .detail = path +
                             ": nothing was changed, because the new file cannot be given "
                             "to the owner of the old one (user " +
                             std::to_string(about.st_uid) + ", group " +
                             std::to_string(about.st_gid) + "): run this as that user, or as root"};
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// As a whole, so that a reader sees all of the old or all of the new; with its owner and mode.
result<void> replace(const descriptor& old, const std::string& path, std::string_view text) {
    struct stat about {};
    if (::fstat(old.get(), &about) != 0) return system_failure(path);
    temporary_file made{path + ".XXXXXX"};
    if (!made.file().open()) return system_failure(made.name());
    if (auto kept = keep_owner(made.file(), about, path); !kept) return kept;
    if (::fchmod(made.file().get(), about.st_mode & 0777U) != 0) return system_failure(path);
    if (auto fine = write_all(made.file(), text, made.name()); !fine) return fine;
    if (!made.move_to(path)) return system_failure(path);
    const descriptor folder{::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.open() || ::fsync(folder.get()) != 0) return system_failure(folder_of(path));
    return {};
}

// The file behind links that an operator has made. A link that leads nowhere stays one, and is
// refused when it is opened.
std::string place_of(const std::string& path) {
    std::error_code none;
    const auto real = std::filesystem::canonical(path, none);
    return none ? path : real.string();
}

} // namespace

std::string token_line::id() const {
    return hash.hex().substr(0, id_digits);
}

std::string new_token() {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<unsigned char, 33> bits{}; // one more, so that sixes of bits never run short
    SEMEL_ASSERT(::getrandom(bits.data(), bits.size() - 1, 0) == 32);
    std::string token = "semel_";
    for (std::size_t at = 0; at < 256; at += 6) {
        const unsigned two = (unsigned{bits[at / 8]} << 8U) | bits[at / 8 + 1];
        token += letters[(two >> (10U - at % 8)) & 0x3FU];
    }
    return token;
}

std::string to_text(const token_line& line) {
    std::string text = line.hash.hex() + " " + line.gives.tenant + " " +
                       http::to_string(line.gives.may) + " " + line.created;
    if (!line.comment.empty()) text += " " + line.comment;
    return text + "\n";
}

result<std::vector<token_line>> parse_tokens(std::string_view text, const std::string& name) {
    std::vector<token_line> lines;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        auto parsed = parse_line(line);
        if (!parsed) {
            return wrong(name + ":" + std::to_string(number) + ": " + parsed.error().detail);
        }
        lines.push_back(*std::move(parsed));
    }
    return lines;
}

result<token_file> read_tokens(const std::string& path) {
    const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat about {};
    if (!file.open() || ::fstat(file.get(), &about) != 0) return system_failure(path);
    const exposure to_others = exposure_of(about);
    if (to_others == exposure::writable) {
        return wrong(path + ": others than its owner may write to it (chmod go-w)");
    }
    const auto text = read_all(file, path);
    if (!text) return text.error();
    auto lines = parse_tokens(*text, path);
    if (!lines) return std::move(lines).error();
    return token_file{.lines = *std::move(lines), .to_others = to_others};
}

result<void> append_token(const std::string& given, const token_line& line) {
    const std::string path = place_of(given);
    const auto file = open_locked(path, O_RDWR | O_CREAT);
    if (!file) return file.error();
    const auto before = read_all(*file, path);
    if (!before) return before.error();
    if (const auto fine = parse_tokens(*before, path); !fine) return fine.error();
    const bool cut = !before->empty() && !before->ends_with('\n');
    return replace(*file, path, *before + (cut ? "\n" : "") + to_text(line));
}

result<std::size_t> revoke_token(const std::string& given, std::string_view id) {
    const std::string path = place_of(given);
    const auto file = open_locked(path, O_RDWR);
    if (!file) return file.error();
    const auto text = read_all(*file, path);
    if (!text) return text.error();
    const auto lines = parse_tokens(*text, path);
    if (!lines) return lines.error();
    std::vector<std::string> gone;
    for (const token_line& one : *lines) {
        if (one.hash.hex().starts_with(id)) gone.push_back(one.hash.hex());
    }
    if (gone.size() > 1) return wrong("more than one token begins with " + std::string{id});
    if (gone.empty()) return std::size_t{0};
    if (auto fine = replace(*file, path, without_line(*text, gone[0])); !fine) return fine.error();
    return std::size_t{1};
}

result<http::token_table> to_table(const std::vector<token_line>& lines) {
    http::token_table table;
    for (const token_line& one : lines) {
        if (auto fine = table.add(one.hash, one.gives); !fine) {
            return wrong("token " + one.id() + ": " + fine.error().detail);
        }
    }
    return table;
}

http::tenant_token tenants_of(std::shared_ptr<const live_tokens> tokens, http::tenant_token with) {
    with.tenant_of = [tokens](std::string_view token) -> std::optional<std::string> {
        auto found = tokens->find(token);
        if (!found || !found->may.has(http::scope::use)) return std::nullopt;
        if (found->may.has(http::scope::operate) || found->may.has(http::scope::admin)) {
            return std::nullopt;
        }
        return std::move(found->tenant);
    };
    with.is_own = [tokens = std::move(tokens)](std::string_view token) {
        return tokens->find(token).has_value();
    };
    return with;
}

} // namespace semel::config
