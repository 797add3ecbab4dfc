// What must not work.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer, request } from "node:http";
import { after, before, describe, it } from "node:test";
import { SEMEL, Stage, eventually, openBrowser, openPage, shoot, signIn } from "./stage.mjs";

let stage, brief, browser;
const payloads = [
    '<img src=x onerror="window.hacked=1">',
    "<script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    '"><svg/onload=window.hacked=1>',
    "${window.hacked=1}{{constructor.constructor('window.hacked=1')()}}",
    "' onfocus='window.hacked=1' autofocus='",
];

before(async () => {
    stage = await Stage.open();
    brief = await Stage.open({ session: "1s" });
    browser = await openBrowser();
    for (const [at, text] of payloads.entries()) {
        await stage.done(`SHIP`, `xss ${at} ${text}`, {
            text: JSON.stringify({ text }), type: `text/html`, ref: text.slice(0, 200),
        }, { content: "{}", attributes: { text, [text]: 1 } });
        const operation = text.slice(0, 60);
        await stage.done(operation, `operation ${at}`, { text, type: text.replace(/[^ -~]/g, "").slice(0, 200) });
        const failing = await stage.center("begin", { operation: "SHIP", key: `error ${at}` });
        await stage.center("fail", { operation: "SHIP", key: `error ${at}`, attempt: failing.json.attempt, kind: "final", error: text });
        await stage.center("begin", { operation: "SHIP", key: `xss ${at} ${text}`, content: '{"other":1}' });
    }
});
after(async () => {
    await browser?.close();
    await stage?.close();
    await brief?.close();
});

// As it is: no client library tidies the path or headers.
const raw = (path, options = {}) =>
    new Promise((then, no) => {
        const url = new URL(stage.urls.console);
        const sent = request({ host: url.hostname, port: url.port, path, method: "GET", ...options }, (got) => {
            let text = "";
            got.on("data", (part) => (text += part));
            got.on("end", () => then({ status: got.statusCode, headers: got.headers, text }));
        });
        sent.on("error", no);
        if (options.body) sent.write(options.body);
        sent.end();
    });

async function session(token = stage.admin) {
    const got = await stage.api("session", { token: null, body: { token } });
    return { cookie: got.headers.get("set-cookie").split(";")[0], csrf: got.json.csrf };
}

describe("texts of others", () => {
    it("are shown, not run, on every page", async () => {
        const page = await openPage(stage);
        await signIn(page, stage);
        await page.evaluate(() => void (location.hash = "#/records"));
        await page.locator("tbody tr").first().waitFor();
        for (const [at, text] of payloads.entries()) {
            const key = `xss ${at} ${text}`;
            assert.equal(await page.locator("td.key a", { hasText: `xss ${at} ` }).textContent(), key);
        }
        const { records } = (await stage.api("records?limit=500")).json;
        for (const one of records.filter((each) => each.state !== "processing")) {
            await page.evaluate((to) => void (location.hash = to), `#/record?${one.at}`);
            await page.locator(".record-key", { hasText: one.key.slice(0, 12) }).waitFor();
            assert.equal(await page.locator(".record-key").textContent(), one.key);
            assert.equal(await page.locator(".crumb").textContent(), one.operation);
        }
        await shoot(page, "security-payloads");
        for (const hash of ["#/mismatches", "#/lapsed", "#/overview", "#/configuration"]) {
            await page.evaluate((to) => void (location.hash = to), hash);
            await page.locator("main h1").waitFor();
        }
        const search = encodeURIComponent(payloads[0]);
        await page.goto(`${stage.urls.console}/#/records?key=${search}&operation=${search}`);
        await page.getByText("No record fits.").waitFor();
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
        assert.deepEqual(page.faults, []);
        await page.context().close();
    });
});

describe("the policy", () => {
    it("is on every answer, and strict", async () => {
        const page = await raw("/");
        const asset = /src="(\/assets\/[^"]+)"/.exec(page.text)[1];
        for (const path of ["/", asset, "/nothing", "/admin/api/v1/session"]) {
            const got = await raw(path);
            const policy = got.headers["content-security-policy"];
            assert.match(policy, /default-src 'none'/);
            assert.match(policy, /script-src 'self'/);
            assert.match(policy, /frame-ancestors 'none'/);
            assert.doesNotMatch(policy, /unsafe|\*|http/);
            assert.equal(got.headers["x-content-type-options"], "nosniff");
            assert.equal(got.headers["referrer-policy"], "no-referrer");
        }
        assert.match((await raw(asset)).headers["cache-control"], /immutable/);
        assert.doesNotMatch(page.text, /<script>|onload=|style=|https?:\/\//);
    });

    it("keeps foreign script out of the page", async () => {
        const page = await openPage(stage);
        await signIn(page, stage);
        const refused = await page.evaluate(async () => {
            const seen = [];
            document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
            const script = document.createElement("script");
            try {
                script.textContent = "window.hacked = 1";
            } catch {
                seen.push("trusted-types");
            }
            document.body.append(script);
            await fetch("http://127.0.0.1:1/").catch(() => seen.push("fetch"));
            return seen;
        });
        assert.ok(refused.includes("fetch"), String(refused));
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        await page.context().close();
    });
});

describe("paths", () => {
    it("lead nowhere else", async () => {
        for (const path of [
            "/assets/../../etc/passwd", "/../../../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd",
            "/assets/..%2f..%2fetc%2fpasswd", "/assets/..\\..\\etc\\passwd", "//etc/passwd", "/assets//", "/semel.toml",
            "/assets/%00", "/tokens.txt",
        ]) {
            const got = await raw(path);
            assert.ok(got.status === 404 || got.status === 400, `${path}: ${got.status}`);
            assert.doesNotMatch(got.text, /root:|semel_/);
        }
    });
});

describe("sessions", () => {
    it("are refused when forged, empty, doubled or signed out", async () => {
        const { cookie } = await session();
        const status = async (value) => (await raw("/admin/api/v1/overview", { headers: { Cookie: value } })).status;
        assert.equal(await status(cookie), 200);
        const [name, id] = cookie.split("=");
        const flipped = (id[0] === "0" ? "1" : "0") + id.slice(1);
        for (const forged of [`${name}=`, `${name}=admin`, `${name}=${flipped}`, `${name}=${id}0`, `${cookie}; ${name}=${flipped}`, `${name}=${stage.admin}`]) {
            assert.equal(await status(forged), 401, forged);
        }
        const host = new URL(stage.urls.console).host;
        await raw("/admin/api/v1/session", { method: "DELETE", headers: { Cookie: cookie, Origin: `http://${host}` } });
        assert.equal(await status(cookie), 401);
    });

    it("end by themselves, and the page says so", async () => {
        const page = await openPage(brief);
        await signIn(page, brief);
        await page.getByText("Your session has ended.").waitFor();
        assert.equal(await page.getByLabel("Token").count(), 1);
        await shoot(page, "session-ended");
        await page.context().close();
    });

    it("end with their token", async () => {
        const token = stage.token("ops", "admin");
        stage.process.kill("SIGHUP");
        await eventually(async () => (await stage.api("session", { token })).status === 200);
        const { cookie } = await session(token);
        const id = createHash("sha256").update(token).digest("hex").slice(0, 12);
        execFileSync(SEMEL, ["token", "revoke", id, "--tokens", stage.tokens], { stdio: "ignore" });
        stage.process.kill("SIGHUP");
        const gone = await eventually(
            async () => (await raw("/admin/api/v1/session", { headers: { Cookie: cookie } })).status === 401);
        assert.ok(gone);
    });
});

describe("changes from elsewhere", () => {
    const at = "/admin/api/v1/record/remove?tenant=acme&operation=SHIP&key=error%200";
    const body = JSON.stringify({ reason: "forged" });
    const post = async (headers) =>
        (await raw(at, { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } })).status;

    it("are refused without this page's secret and origin", async () => {
        const host = new URL(stage.urls.console).host;
        const origin = `http://${host}`;
        const { cookie, csrf } = await session();
        const other = await session();
        assert.equal(await post({ Cookie: cookie }), 403);
        assert.equal(await post({ Cookie: cookie, Origin: origin }), 403);
        assert.equal(await post({ Cookie: cookie, "X-Semel-Csrf": csrf }), 403);
        assert.equal(await post({ Cookie: cookie, Origin: origin, "X-Semel-Csrf": other.csrf }), 403);
        assert.equal(await post({ Cookie: cookie, Origin: "http://evil.example", "X-Semel-Csrf": csrf }), 403);
        assert.equal(await post({ Cookie: cookie, Origin: "null", "X-Semel-Csrf": csrf }), 403);
        assert.equal(await post({ Cookie: cookie, Origin: origin, "X-Semel-Csrf": csrf, "Content-Type": "text/plain" }), 415);
        assert.equal((await stage.api("record?tenant=acme&operation=SHIP&key=error%200")).status, 200);
    });

    it("are refused when another site's page sends them", async () => {
        const page = await openPage(stage);
        await signIn(page, stage);
        const evil = createServer((_, response) => {
            response.writeHead(200, { "Content-Type": "text/html" });
            response.end(`<form id=f method=post enctype=text/plain action="${stage.urls.console}${at}"><input name='{"reason":"' value='x"}'></form>`);
        });
        await new Promise((then) => evil.listen(0, "127.0.0.1", then));
        // Another site: localhost is not 127.0.0.1.
        const there = `http://localhost:${evil.address().port}/`;
        const form = await page.context().newPage();
        await form.goto(there);
        const [answer] = await Promise.all([
            form.waitForResponse((one) => one.url().includes("record/remove")),
            form.evaluate(() => void document.getElementById("f").submit()),
        ]);
        assert.ok([401, 403, 415].includes(answer.status()), String(answer.status()));
        const script = await page.context().newPage();
        await script.goto(there);
        const fetched = await script.evaluate(
            (url) => fetch(url, { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" })
                .then((one) => one.status, () => "refused"), stage.urls.console + at);
        assert.equal(fetched, "refused");
        evil.close();
        evil.closeAllConnections?.();
        assert.equal((await stage.api("record?tenant=acme&operation=SHIP&key=error%200")).status, 200);
        await page.context().close();
    });
});

describe("tokens", () => {
    it("see no other tenant and do no more than their scope says", async () => {
        const error = "record?tenant=acme&operation=SHIP&key=error%200";
        assert.equal((await stage.api(error, { token: stage.other })).status, 403);
        assert.equal((await stage.api("records?tenant=acme", { token: stage.other })).status, 403);
        assert.deepEqual((await stage.api("records", { token: stage.other })).json.records, []);
        assert.deepEqual((await stage.api("mismatches", { token: stage.other })).json.mismatches, []);
        for (const token of [stage.reader, stage.user, stage.other]) {
            assert.equal((await stage.api("record/remove?tenant=acme&operation=SHIP&key=error%200", { token, body: { reason: "no" } })).status, 403);
        }
        assert.equal((await stage.api(error, { token: stage.only_use })).status, 403);
        assert.equal((await stage.api(error, { token: "semel_nonsense" })).status, 401);
        assert.equal((await stage.api(error, { token: null })).status, 401);
        assert.equal((await stage.api(error)).status, 200);
    });

    it("and secrets are in no answer and no log", async () => {
        const shown = (await stage.api("configuration")).json.toml;
        for (const secret of [stage.admin, stage.reader]) {
            assert.ok(!shown.includes(secret));
            assert.ok(!stage.said.includes(secret));
        }
    });
});
