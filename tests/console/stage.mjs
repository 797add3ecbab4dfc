// A real `semel serve`, a shop behind it and a browser before it.
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const SEMEL = process.env.SEMEL_BINARY;
if (!SEMEL) throw new Error("SEMEL_BINARY must name the binary; `./test console` sets it");
export const REPORTS = process.env.SEMEL_REPORTS ?? "reports";
export const patience_ms = Number(process.env.SEMEL_PATIENCE_MS ?? 60_000); // the machine may be busy
mkdirSync(REPORTS, { recursive: true });

// The service behind the gateway. What it does with a request is the test's to say.
export async function startShop() {
    const shop = { made: [], answer: null };
    const server = createServer((request, response) => {
        const parts = [];
        request.on("data", (part) => parts.push(part));
        request.on("end", () => {
            const body = Buffer.concat(parts).toString();
            shop.made.push({ url: request.url, body });
            if (shop.answer) return shop.answer(request, response, body);
            response.writeHead(201, { "Content-Type": "application/json", Location: `/orders/${shop.made.length}` });
            response.end(JSON.stringify({ order: shop.made.length, item: "book", total: 49.5, paid: true }));
        });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    shop.port = server.address().port;
    shop.stop = () => {
        server.closeAllConnections?.();
        server.close();
    };
    return shop;
}

const configuration = (stage) => `
[server]
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
drain = "10s"
[store]
url = "${stage.store}"
table_prefix = "${stage.prefix}"
[tenants]
source = "tokens"
tokens = "${stage.tokens}"
[gateway]
upstream = "http://127.0.0.1:${stage.shop.port}"
answer_timeout = "20s"
[console]
session = "${stage.session}"
[center]
enabled = true
listen = "127.0.0.1:0"
[[route]]
operation = "ORDER_CREATE"
path = "/orders"
key = "required"
fingerprint_host = "no"
[[route]]
operation = "PAYMENT_CREATE"
path = "/payments"
key = "required"
fingerprint_host = "no"
lease = "1s"
on_lease_expiry = "hold"
[[operation]]
name = "SHIP"
lease = "5m"
[[operation]]
name = "PAY"
lease = "1s"
on_lease_expiry = "hold"
retention = "3d"
`;

export class Stage {
    static async open(options = {}) {
        const stage = new Stage();
        stage.folder = mkdtempSync(join(tmpdir(), "semel-console-"));
        stage.store = options.store ?? `sqlite:${stage.folder}/records.db`;
        stage.prefix = options.prefix ?? "semel_";
        stage.session = options.session ?? "8h";
        stage.tokens = join(stage.folder, "tokens.txt");
        stage.shop = await startShop();
        stage.admin = stage.token("ops", "admin");
        stage.reader = stage.token("acme", "read");
        stage.user = stage.token("acme", "use,read");
        stage.other = stage.token("bolt", "use,read");
        stage.only_use = stage.token("acme", "use");
        stage.file = join(stage.folder, "semel.toml");
        writeFileSync(stage.file, configuration(stage));
        if (options.store) execFileSync(SEMEL, ["migrate", "--store", stage.store, "--prefix", stage.prefix]);
        await stage.start();
        return stage;
    }

    token(tenant, scopes) {
        const made = execFileSync(SEMEL, ["token", "new", "--tenant", tenant, "--scope", scopes, "--tokens", this.tokens], {
            stdio: ["ignore", "pipe", "ignore"],
        });
        return made.toString().trim();
    }

    async start() {
        this.process = spawn(SEMEL, ["serve", "--config", this.file], { stdio: ["ignore", "pipe", "pipe"] });
        this.said = "";
        this.process.stderr.on("data", (text) => (this.said += text));
        this.ended = once(this.process, "exit");
        this.urls = {};
        for await (const line of createInterface(this.process.stdout)) {
            const found = /^semel serve: (\w+) (http:\/\/[^,\s]+)/.exec(line);
            if (found) this.urls[found[1]] = found[2].replace(/\/$/, "");
            if (line.includes(": store ")) break;
        }
        if (!this.urls.console) throw new Error(`semel serve did not start: ${this.said}`);
    }

    async stop(signal = "SIGTERM") {
        if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
        await this.ended;
        this.process.stdout.destroy();
        this.process.stderr.destroy();
    }

    async close() {
        await this.stop("SIGKILL");
        this.shop.stop();
        rmSync(this.folder, { recursive: true, force: true });
    }

    // One request to a listener; what it answers, taken apart.
    async call(where, path, { token, body, method, headers } = {}) {
        const sent = { ...headers };
        if (token) sent.Authorization = `Bearer ${token}`;
        if (body !== undefined) sent["Content-Type"] ??= "application/json";
        const answer = await fetch(this.urls[where] + path, {
            method: method ?? (body === undefined ? "GET" : "POST"),
            headers: sent,
            body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
            redirect: "manual",
        });
        const text = await answer.text();
        const json = (answer.headers.get("content-type") ?? "").includes("json") ? JSON.parse(text) : null;
        return { status: answer.status, headers: answer.headers, text, json };
    }

    api(path, options = {}) {
        return this.call("console", `/admin/api/v1/${path}`, { token: this.admin, ...options });
    }

    center(path, body, token = this.user) {
        return this.call("center", `/v1/${path}`, { token, body });
    }

    order(key, body = { item: "book" }, path = "/orders", token = this.user) {
        return this.call("gateway", path, { token, body, headers: { "Idempotency-Key": `"${key}"` } });
    }

    // Begins and ends it at once, as a service in another language does.
    async done(operation, key, result, begin = {}, token = this.user) {
        const begun = await this.center("begin", { operation, key, ...begin }, token);
        const attempt = begun.json.attempt;
        return this.center("complete", { operation, key, attempt, result }, token);
    }
}

let browser = null;

export async function openBrowser() {
    const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((one) => existsSync(one));
    browser = await chromium.launch({
        executablePath: path,
        args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    });
    return browser;
}

export const wide = { width: 1360, height: 860 };
export const narrow = { width: 360, height: 740 };

// A page of its own, that notes what must never happen: errors, refusals by the policy, and requests
// to anywhere else.
export async function openPage(stage, { viewport = wide, colorScheme = "light" } = {}) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce", locale: "en-GB" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: stage.urls.console });
    const page = await context.newPage();
    page.setDefaultTimeout(patience_ms);
    page.faults = [];
    page.on("pageerror", (why) => page.faults.push(`error: ${why.message}`));
    page.on("console", (line) => {
        const expected = /status of (401|403|404|409|503)|ERR_CONNECTION|ERR_EMPTY_RESPONSE/.test(line.text());
        if (line.type() === "error" && !expected) page.faults.push(`console: ${line.text()}`);
    });
    page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(stage.urls.console) && !url.startsWith("data:")) page.faults.push(`request: ${url}`);
    });
    return page;
}

export async function signIn(page, stage, token = stage.admin) {
    await page.goto(stage.urls.console + "/");
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    // The first page depends on what the token may see.
    await page.getByRole("heading", { name: /^(Overview|Records)$/, level: 1 }).waitFor();
}

export async function shoot(page, name) {
    await page.screenshot({ path: join(REPORTS, `${name}.png`), fullPage: true });
}

export const fits = (page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

export async function eventually(what) {
    const end = Date.now() + patience_ms;
    for (;;) {
        const got = await what();
        if (got || Date.now() > end) return got;
        await new Promise((then) => setTimeout(then, 50));
    }
}
