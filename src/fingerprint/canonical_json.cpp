#include "semel/fingerprint/canonical_json.hpp"

#include <array>

#include "fingerprint/json_selection.hpp"
#include "fingerprint/json_tree.hpp"

namespace semel {
namespace {

using detail::json_kind;
using detail::json_marks;
using detail::json_node;
using detail::json_tree;
using extent = json_marks::extent;

// A tree kept for the thread's next document; one of unusual size is given back.
constexpr std::size_t kept_bytes_max = std::size_t{1} << 20U;

constexpr std::array<bool, 256> make_needs_escape() {
    std::array<bool, 256> table{};
    for (std::size_t c = 0; c < 0x20; ++c) table[c] = true;
    table['"'] = true;
    table['\\'] = true;
    return table;
}
constexpr std::array<bool, 256> needs_escape = make_needs_escape();

void append_escape(std::string& out, char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += "\\u00"; break;
    }
    const auto code = static_cast<unsigned char>(c);
    out += hex[code >> 4U];
    out += hex[code & 0x0FU];
}

void append_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t clean = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!needs_escape[static_cast<unsigned char>(text[i])]) continue;
        out += text.substr(clean, i - clean);
        append_escape(out, text[i]);
        clean = i + 1;
    }
    out += text.substr(clean);
    out += '"';
}

// Writes a tree without recursion, so that depth_max may be any number.
class canonical_writer {
public:
    canonical_writer(const json_tree& tree, const json_marks& marks, std::string& out)
        : tree_(tree), marks_(marks), out_(out) {}

    void write() {
        const json_node& root = tree_[tree_.root()];
        const extent counts = marks_.of(tree_.root(), extent::part);
        if (counts == extent::nothing) {
            out_ += root.kind == json_kind::object  ? "{}"
                    : root.kind == json_kind::array ? "[]"
                                                    : "null";
            return;
        }
        write_value(root, counts);
        while (!open_.empty()) step();
    }

private:
    struct frame {
        std::size_t next;
        std::size_t end;
        json_kind kind;
        extent counts;
        bool first = true;
    };

    void step() {
        frame& top = open_.back();
        if (top.next == top.end) {
            out_ += top.kind == json_kind::object ? '}' : ']';
            open_.pop_back();
            return;
        }
        const std::size_t index = top.next++;
        const extent counts = marks_.of(index, top.counts);
        if (counts == extent::nothing) return;
        if (!top.first) out_ += ',';
        top.first = false;
        const json_node& node = tree_[index];
        if (top.kind == json_kind::object) {
            append_string(out_, tree_.text(node.name));
            out_ += ':';
        }
        write_value(node, counts);
    }

    void write_value(const json_node& node, extent counts) {
        switch (node.kind) {
        case json_kind::null_value: out_ += "null"; return;
        case json_kind::true_value: out_ += "true"; return;
        case json_kind::false_value: out_ += "false"; return;
        case json_kind::number: out_ += tree_.text(node.value); return;
        case json_kind::string: append_string(out_, tree_.text(node.value)); return;
        case json_kind::object: out_ += '{'; break;
        case json_kind::array: out_ += '['; break;
        }
        const std::size_t begin = node.value.offset;
        open_.push_back(
            {.next = begin, .end = begin + node.value.size, .kind = node.kind, .counts = counts});
    }

    const json_tree& tree_;
    const json_marks& marks_;
    std::string& out_;
    std::vector<frame> open_;
};

} // namespace

result<std::string> canonical_json(std::string_view text, const canonical_options& options) {
    thread_local json_tree tree;
    const result<void> parsed = tree.parse(text, options);
    std::string out;
    if (parsed) {
        out.reserve(text.size());
        canonical_writer{tree, json_marks{tree, options.selection}, out}.write();
    }
    if (tree.capacity_bytes() > kept_bytes_max) tree = json_tree{};
    if (!parsed) return parsed.error();
    return out;
}

} // namespace semel
