// Builds the pages and writes them as a C++ source: node build.mjs OUTPUT.cpp
// Beside it a .d file that names every file it was made from, for ninja.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2] ?? "");
if (!process.argv[2]) throw new Error("usage: node build.mjs OUTPUT.cpp");

const bundled = await build({
    absWorkingDir: here,
    entryPoints: { app: "src/main.tsx", style: "src/style.css" },
    outdir: "assets",
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
    format: "esm",
    target: ["es2021"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
});

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

const types = {
    js: "text/javascript; charset=utf-8",
    css: "text/css; charset=utf-8",
    svg: "image/svg+xml",
    html: "text/html; charset=utf-8",
};

// The name of an asset has its hash in it, so that it may be kept for ever.
const assets = [];
const names = {};
function add(name, bytes) {
    const [stem, ending] = name.split(".");
    const path = `/assets/${stem}-${digest(bytes)}.${ending}`;
    names[name] = path;
    assets.push({ path, type: types[ending], bytes });
}

for (const file of bundled.outputFiles) {
    add(file.path.split("/").pop(), Buffer.from(file.contents));
}
add("icon.svg", readFileSync(join(here, "src/icon.svg")));

const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace(/\{\{([\w.]+)\}\}/g, (_, name) => names[name]);
assets.push({ path: "/", type: types.html, bytes: Buffer.from(page) });

const array = (name, bytes) => {
    const lines = [];
    for (let at = 0; at < bytes.length; at += 32) lines.push([...bytes.subarray(at, at + 32)].join(","));
    return `const unsigned char ${name}[] = {${lines.join(",\n")}};\n`;
};

let arrays = "";
const entries = assets.map(({ path, type, bytes }, at) => {
    const packed = gzipSync(bytes, { level: 9 });
    arrays += array(`plain_${at}`, bytes) + array(`gzip_${at}`, packed);
    return `    {"${path}", "${type}", "\\"${digest(bytes)}\\"", seen(plain_${at}), seen(gzip_${at})},\n`;
});

writeFileSync(output, `// Made from the folder console/ by its build.mjs.
#include "edge/console/pages.hpp"

namespace semel::edge {
namespace {

${arrays}
template <std::size_t N> std::string_view seen(const unsigned char (&bytes)[N]) {
    return {reinterpret_cast<const char*>(bytes), N};
}

const asset all[] = {
${entries.join("")}};

} // namespace

std::span<const asset> console_assets() {
    return all;
}

} // namespace semel::edge
`);

const inputs = Object.keys(bundled.metafile.inputs).filter((one) => !one.startsWith("node_modules"));
const read = ["build.mjs", "package-lock.json", "src/index.html", "src/icon.svg", ...inputs];
writeFileSync(`${output}.d`, `${output}: ${read.map((one) => join(here, one).replaceAll(" ", "\\ ")).join(" ")}\n`);
