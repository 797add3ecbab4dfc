#!/usr/bin/env python3
"""Shows that tools/tidy flags each kind of fault, at its line, and nothing in a clean tree."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

TIDY = sys.argv.pop(1)

CLEAN = {
    ".clang-format": "DisableFormat: true\n",
    "include/semel/base/result.hpp": "#pragma once\n\nint answer();\n",
    "src/base/CMakeLists.txt": "semel_module(base\n  SOURCES\n    result.cpp)\n",
    "src/base/result.cpp": '#include "semel/base/result.hpp"\n\nint answer() { return 42; }\n',
}


def function_of(lines):
    return "int long_one(int x) {\n" + "    x += 1;\n" * (lines - 3) + "    return x;\n}\n"


def findings_in(files):
    """What tidy says about a tree of these files: a set of (file, line, rule)."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **files}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, TIDY, "--root", root], capture_output=True,
                              text=True, check=False)
    found = set(re.findall(r"^(\S+):(\d+): ([a-z-]+): ", done.stdout, re.MULTILINE))
    assert done.returncode == (1 if found else 0), done
    return {(path, int(line), rule) for path, line, rule in found}


class Tidy(unittest.TestCase):
    def check(self, text, *expected):
        """The text as a source of a test, which may include anything."""
        files = {"tests/unit/a.cpp": text, "tests/unit/CMakeLists.txt": "a.cpp\n"}
        self.assertEqual(findings_in(files), {("tests/unit/a.cpp", *each) for each in expected})

    def check_layer(self, path, include, *expected):
        files = {path: f"#include {include}\n"}
        if path.endswith(".hpp"):
            files[path] = "#pragma once\n" + files[path]
        else:
            folder, name = os.path.split(path)
            files[folder + "/CMakeLists.txt"] = name + "\n"
        self.assertEqual(findings_in(files), {(path, *each) for each in expected})

    def test_says_nothing_about_a_clean_tree(self):
        self.assertEqual(findings_in({}), set())

    def test_finds_words_that_name_nothing(self):
        for path in ("src/base/a.hpp", "include/semel/base/a.hpp"):
            text = "#pragma once\n// Nobody waits.\nint made_anew();\n// Nobody's.\n"
            self.assertEqual(findings_in({path: text}),
                             {(path, 2, "plain"), (path, 3, "plain"), (path, 4, "plain")})
        self.assertEqual(findings_in({"docs/a.md": "It waits but for a time, in vain.\n"}),
                         {("docs/a.md", 1, "plain")})
        self.assertEqual(findings_in({"docs/style.md": "Do not write nobody.\n"}), set())
        self.check("// Nobody waits.\n")

    def test_counts_columns_as_characters(self):
        self.check("// " + "ä" * 97 + "\n")
        self.check("// " + "a" * 98 + "\n", (1, "width"))

    def test_finds_banned_words_in_any_text(self):
        for word in ("TO" + "DO", "FIX" + "ME", "X" + "XX", "for " + "now", "place" + "holder"):
            self.check(f"int a; // {word}: later\n", (1, "word"))
            self.assertEqual(findings_in({"docs/a.md": f"\n{word}\n"}), {("docs/a.md", 2, "word")})

    def test_finds_paths_of_one_machine(self):
        self.check('const char* where = "/ho' + 'me/me/x";\n', (1, "path"))
        self.check('const char* where = "../ho' + 'me/me/x";\n')

    def test_limits_functions_to_seventy_lines(self):
        self.check(function_of(70))
        self.check("int x;\n\n" + function_of(71), (3, "function-length"))

    def test_counts_a_broken_signature_as_part_of_the_function(self):
        text = "template <class T>\n" + function_of(70)
        self.check(text, (1, "function-length"))

    def test_ends_a_lambda_where_its_brace_closes(self):
        text = ("void a() {\n    f({.done = [] {\n               g();\n           }});\n}\n"
                + "int x;\n" * 80 + "void b() {}\n")
        self.check(text)

    def test_does_not_look_into_raw_strings(self):
        self.check('const char* a() {\n    return R"({\n)";\n}\n' + "int x;\n" * 80)

    def test_does_not_take_a_namespace_class_or_table_for_a_function(self):
        body = "".join(f"    int member_{n};\n" for n in range(80))
        self.check("struct big {\n" + body + "};\n")
        self.check("template <class T>\nclass big final {\n" + body + "};\n")
        table = "".join(f"    f({n}),\n" for n in range(80))
        self.check("int f(int);\nconst int table[] = {\n" + table + "};\n")

    def test_limits_the_length_of_files(self):
        line = "int a;\n"
        long = "#pragma once\n" + line * 250
        self.assertEqual(findings_in({"include/semel/base/time.hpp": long}),
                         {("include/semel/base/time.hpp", 251, "file-length")})
        self.check(line * 700)
        self.check(line * 701, (701, "file-length"))
        self.assertEqual(findings_in({"src/base/result.cpp": line * 401}),
                         {("src/base/result.cpp", 401, "file-length")})

    def test_wants_pragma_once(self):
        self.assertEqual(findings_in({"include/semel/base/time.hpp": "int a;\n"}),
                         {("include/semel/base/time.hpp", 1, "pragma-once")})

    def test_knows_what_gcc_12_breaks_in_co_await(self):
        for bad in ("co_await f({.a = 1});", "co_await f(aggregate{x});",
                    "co_await f([x] { g(x); });", "auto y = c ? co_await f() : z;",
                    "aggregate a{x, co_await f()};", "co_await f(c ? x : y);"):
            self.check(f"task run() {{\n    {bad}\n}}\n", (2, "co-await"))

    def test_follows_co_await_over_line_ends(self):
        text = ("task run() {\n    co_await call_with_a_rather_long_name_that_fills_the_line(\n"
                "        first_argument_of_some_length_to_force_a_break,"
                " options{.number = 1, .name = x});\n}\n")
        self.check(text, (2, "co-await"))

    def test_allows_plain_co_await(self):
        for good in ("co_await f(std::move(request));", "auto y = co_await f(list[0]);",
                     "auto [a, b] = co_await f();", "co_await f(\"{?}\"); // not {x} or ?"):
            self.check(f"task run() {{\n    {good}\n}}\n")
        self.check("task run() {\n    if (auto x = co_await f(); x) {\n        g();\n    }\n}\n")
        self.check("task run() { co_await f(); }\n")

    def test_keeps_the_layers(self):
        self.check_layer("src/base/sub/a.cpp", '"core/x.hpp"', (1, "layer"))
        self.check_layer("src/core/a.cpp", '"semel/base/result.hpp"')
        self.check_layer("src/core/a.cpp", '"semel/store.hpp"', (1, "layer"))
        self.check_layer("src/engine/a.cpp", '"databases/sqlite/client/x.hpp"', (1, "layer"))
        self.check_layer("src/engine/a.cpp", "<semel/databases/sqlite.hpp>", (1, "layer"))
        self.check_layer("src/databases/sqlite/client/a.cpp", '"store/memory/x.hpp"', (1, "layer"))
        self.check_layer("src/databases/sqlite/client/a.cpp", '"databases/sqlite/store/x.hpp"',
                         (1, "layer"))
        self.check_layer("src/databases/sqlite/store/a.cpp", '"databases/sqlite/client/x.hpp"')
        self.check_layer("src/open/a.cpp", '"store/memory/x.hpp"')
        self.check_layer("include/semel/core/record.hpp", '"semel/engine.hpp"', (2, "layer"))
        self.check_layer("src/nowhere/a.cpp", "<vector>", (1, "layer"))
        self.check_layer("include/semel/nowhere.hpp", "<vector>", (1, "layer"))

    def test_knows_the_layer_of_a_public_header_by_its_path(self):
        self.check_layer("include/semel/core/a.hpp", '"semel/base/deep/below/x.hpp"')
        self.check_layer("include/semel/core/a.hpp", '"semel/store.hpp"', (2, "layer"))
        self.check_layer("include/semel/http/a.hpp", '"semel/http/beast.hpp"', (2, "layer"))
        self.check_layer("include/semel/http/beast.hpp", '"semel/http/a.hpp"')

    def test_keeps_boost_at_the_edges(self):
        self.check_layer("src/engine/a.cpp", "<boost/asio.hpp>", (1, "boost"))
        self.check_layer("include/semel/engine.hpp", "<boost/asio.hpp>", (2, "boost"))
        self.check_layer("include/semel/asio.hpp", "<boost/asio.hpp>")
        self.check_layer("apps/semel/a.cpp", "<boost/asio.hpp>")

    def test_keeps_grpc_in_its_edge(self):
        self.check_layer("src/http/a.cpp", "<grpcpp/server.h>", (1, "grpc"))
        self.check_layer("src/engine/a.cpp", "<google/protobuf/message.h>", (1, "grpc"))
        self.check_layer("src/grpc/a.cpp", "<grpcpp/server.h>")

    def check_names(self, headers, *expected):
        """Headers by path, each with what it declares inside of namespace semel."""
        files = {path: f"#pragma once\nnamespace semel {{\n{text}\n}} // namespace semel\n"
                 for path, text in headers.items()}
        self.assertEqual(findings_in(files), {(path, line, "name") for path, line in expected})

    def test_wants_one_name_for_one_idea(self):
        one = "struct parcel {\n    int weight;\n};"
        self.check_names({"src/core/a.hpp": one, "src/http/a.hpp": one}, ("src/http/a.hpp", 3))
        also = {"include/semel/core/a.hpp": one, "src/http/a.hpp": "enum class parcel {};"}
        self.check_names(also, ("src/http/a.hpp", 3))
        self.check_names({"src/core/a.hpp": one, "src/core/b.hpp": one})
        self.check_names({"src/core/a.hpp": one, "src/http/a.hpp": "struct parcel;"})
        rooms = ("databases/mysql/store", "databases/postgres/store")
        self.check_names({f"src/{room}/a.hpp": one for room in rooms})

    def test_wants_types_to_be_nouns(self):
        self.check_names({"src/core/a.hpp": "struct told {\n    int a;\n};"}, ("src/core/a.hpp", 3))
        heirs = "template <class T> class rows_moved final : public a,\n    public b {\n};"
        self.check_names({"src/core/a.hpp": heirs}, ("src/core/a.hpp", 3))
        self.check_names({"src/core/a.hpp": "struct seed {\n    struct planted {};\n};"})
        inside = "namespace answers {\nstruct refused {\n    int a;\n};\n} // namespace answers"
        self.check_names({"src/core/a.hpp": inside})

    def test_finds_sources_nobody_builds_and_builds_without_source(self):
        self.assertEqual(findings_in({"src/base/dead.cpp": "int a;\n"}),
                         {("src/base/dead.cpp", 1, "sources")})
        self.assertEqual(findings_in({"tests/CMakeLists.txt": "x\n  gone.cpp\n"}),
                         {("tests/CMakeLists.txt", 2, "sources")})

    def test_asks_clang_format(self):
        style = {".clang-format": "BasedOnStyle: LLVM\n"}
        badly = {"include/semel/base/time.hpp": "#pragma once\nint  a;\n"}
        self.assertEqual(findings_in({**style, **badly}),
                         {("include/semel/base/time.hpp", 2, "format")})
        self.assertEqual(findings_in(style), set())


if __name__ == "__main__":
    unittest.main()
