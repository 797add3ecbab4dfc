// The unit tests of the pure parts: bundled as the pages are, then run by node itself.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "semel-console-"));
const files = readdirSync(join(here, "test")).filter((name) => name.endsWith("_test.ts"));
await build({
    absWorkingDir: here,
    entryPoints: files.map((name) => join("test", name)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
});
const made = files.map((name) => join(folder, name.replace(/ts$/, "mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...made], { stdio: "inherit" });
rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);
