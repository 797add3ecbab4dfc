// A stuck payment: its owner is killed after the effect, an operator settles it in the browser, and
// the client's retry gets the settled answer. The effect took place once.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Stage, eventually, openBrowser, openPage, shoot, signIn } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

async function story(options, name) {
    const stage = await Stage.open(options);
    try {
        // The payment is made, and the gateway dies before it hears of it.
        const charged = new Promise((then) => {
            stage.shop.answer = (request) => {
                stage.process.kill("SIGKILL");
                request.socket.destroy();
                then();
            };
        });
        const first = stage.order("pay-1", { amount: 49 }, "/payments").catch((why) => why);
        await charged;
        await stage.ended;
        await first;
        assert.equal(stage.shop.made.length, 1);
        stage.shop.answer = null;

        await stage.start();
        const stuck = await eventually(async () => {
            const got = await stage.order("pay-1", { amount: 49 }, "/payments");
            return got.json?.type === "urn:semel:problem:in-doubt" ? got : null;
        });
        assert.equal(stuck.status, 409);
        assert.equal(stage.shop.made.length, 1);

        const page = await openPage(stage);
        await signIn(page, stage);
        await page.getByRole("navigation").getByRole("link", { name: /Lapsed/ }).click();
        await page.getByRole("row", { name: /pay-1/ }).getByRole("link", { name: "Settle", exact: true }).click();
        await page.getByRole("region", { name: "You answer for" }).getByText("pay-1").waitFor();
        await page.getByLabel("It took effect").check();
        await page.getByLabel("Status").fill("201");
        await page.getByLabel("Body").fill('{"payment":"pm_1","amount":49}');
        await page.getByLabel("Reason", { exact: true }).first().fill("found it at the bank, ticket 4711");
        await shoot(page, `hold-${name}-form`);
        await page.getByRole("button", { name: "Settle…" }).click();
        await shoot(page, `hold-${name}-confirm`);
        await page.getByRole("dialog").getByRole("button", { name: "Settle", exact: true }).click();
        await page.getByText("Settled: it took effect").waitFor();
        await shoot(page, `hold-${name}-settled`);
        assert.deepEqual(page.faults, []);

        const retry = await stage.order("pay-1", { amount: 49 }, "/payments");
        assert.equal(retry.status, 201);
        assert.equal(retry.headers.get("idempotent-replayed"), "true");
        assert.deepEqual(retry.json, { payment: "pm_1", amount: 49 });
        assert.equal(stage.shop.made.length, 1);
        const audit = (await stage.api("record?tenant=acme&operation=PAYMENT_CREATE&key=pay-1")).json.audit;
        assert.equal(audit[0].reason, "found it at the bank, ticket 4711");
        assert.match(audit[0].actor, /^console ops [0-9a-f]{12}$/);
    } finally {
        await stage.close();
    }
}

describe("a stuck payment is settled by an operator", () => {
    it("on SQLite", () => story({}, "sqlite"));
    const postgres = process.env.SEMEL_TEST_POSTGRES;
    it("on PostgreSQL", { skip: !postgres && "SEMEL_TEST_POSTGRES is not set" }, () =>
        story({ store: postgres, prefix: `console_${process.pid}_` }, "postgres"));
});
