// What each page shows and what can be done in it, in a real browser, for both roles.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { close, go, heading, main, open, record, stage, with_page } from "./pages.mjs";
import { eventually, openPage, shoot } from "./stage.mjs";

before(open);
after(close);

describe("signing in", () => {
    it("refuses a wrong token and says so", async () => {
        const page = await openPage(stage);
        await page.goto(stage.urls.console);
        await page.getByLabel("Token").fill("semel_wrong");
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("alert").getByText("the token is not known").waitFor();
        await page.getByLabel("Token").fill(stage.only_use);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("alert").getByText("one of the scopes 'read', 'operate' and 'admin' is needed").waitFor();
        await page.context().close();
    });

    it("stays over a reload and ends when asked", () =>
        with_page(async (page) => {
            await page.reload();
            await heading(page, "Overview");
            assert.equal(await page.evaluate(() => document.cookie), "");
            await page.getByRole("button", { name: "Sign out" }).click();
            await page.getByLabel("Token").waitFor();
            await page.reload();
            await page.getByLabel("Token").waitFor();
        }));
});

describe("overview", () => {
    it("goes on by itself, and pauses", () =>
        with_page(async (page) => {
            const executed = main(page).locator(".totals div", { hasText: /^executed/ }).locator("dd");
            const first = Number(await executed.textContent());
            for (let i = 0; i < 5; ++i) await stage.order(`live-${i}`);
            await eventually(async () => Number(await executed.textContent()) >= first + 5);
            assert.ok(Number(await executed.textContent()) >= first + 5);
            await main(page).getByText("Store commands in the last minute").waitFor();
            assert.equal(await page.getByRole("img", { name: /Requests by outcome/ }).count(), 1);
            await main(page).locator(".tile", { hasText: "Store" }).getByText("answers").waitFor();
            await eventually(async () => (await main(page).locator(".tile.warn .tile-value").textContent()) === "5");

            await page.getByRole("button", { name: "Pause" }).click();
            await main(page).getByText("Paused").waitFor();
            const chart = page.getByRole("img", { name: /Requests by outcome/ });
            await chart.focus();
            await page.keyboard.press("ArrowLeft");
            await page.locator(".chart .cursor").first().waitFor({ state: "attached" });
            await page.getByRole("button", { name: "Go on" }).click();
            await main(page).getByText("Live").waitFor();
        }));
});

describe("records", () => {
    const search = async (page, fields) => {
        await go(page, "#/records");
        await page.getByRole("link", { name: "Clear" }).waitFor();
        const form = page.getByRole("search");
        for (const [label, value] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(value);
        await form.getByRole("button", { name: "Search" }).click();
    };
    const found = (page, text) => main(page).getByRole("status").getByText(text).waitFor();

    it("are found by each field", () =>
        with_page(async (page) => {
            await search(page, { Key: "cart-17" });
            await found(page, "1 record");
            await search(page, { Operation: "SHIP", Tenant: "acme" });
            await found(page, "3 records");
            await search(page, { "Result reference": "parcel_9" });
            await found(page, "1 record");
            await main(page).getByRole("link", { name: "parcel/7" }).click();
            await heading(page, /parcel\/7/);

            await go(page, "#/records");
            await page.getByLabel("State").selectOption("failed_final");
            await page.getByRole("button", { name: "Search" }).click();
            await found(page, "1 record");
            await page.getByLabel("Created").selectOption("older");
            await page.getByLabel("Time", { exact: true }).fill("7d");
            await page.getByRole("button", { name: "Search" }).click();
            await main(page).getByText("No record fits.").waitFor();
            await page.getByLabel("Created").selectOption("newer");
            await page.getByLabel("Time", { exact: true }).fill("2h");
            await page.getByRole("button", { name: "Search" }).click();
            await found(page, "1 record");
        }));

    it("come page by page", () =>
        with_page(async (page) => {
            await search(page, { Operation: "ORDER_CREATE" });
            await found(page, "50 records, and there may be more");
            await page.getByRole("button", { name: "Show more" }).click();
            await eventually(async () => (await main(page).locator("tbody tr").count()) > 60);
            await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
        }));

    it("show the answer of the gateway", () =>
        with_page(async (page) => {
            await go(page, record("ORDER_CREATE", "cart-17"));
            await main(page).getByText("Answer that clients get again").waitFor();
            await main(page).locator(".status", { hasText: "201" }).waitFor();
            await main(page).getByText("/orders/1", { exact: true }).waitFor();
            assert.match(await main(page).locator("pre.text").textContent(), /"order": 1,\n/);
            await page.getByRole("button", { name: "as stored" }).click();
            assert.match(await main(page).locator("pre.text").textContent(), /^\{"order":1,/);
            await page.getByRole("button", { name: "Copy Result" }).click();
            assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^\{"order":1,/);
        }));

    it("show attributes, checkpoints and exact numbers", () =>
        with_page(async (page) => {
            await go(page, record("SHIP", "parcel/7"));
            await main(page).getByText("12345678901234567890").waitFor();
            await main(page).getByText('"c_812"').waitFor();
            await go(page, record("PAY", "only-look"));
            await main(page).locator("summary", { hasText: "reserve" }).click();
            await main(page).getByText('"h_7"').waitFor();
            await main(page).getByText("Step “reserve” is done").waitFor();
        }));

    it("count a lease down", () =>
        with_page(async (page) => {
            await go(page, record("SHIP", "running"));
            const lease = page.getByRole("timer", { name: "Lease" });
            await lease.getByText(/^\d m \d+ s left$|^\d+ s left$/).waitFor();
            const before = await lease.textContent();
            await eventually(async () => (await lease.textContent()) !== before);
            assert.notEqual(await lease.textContent(), before);
        }));

    it("that are not there say so", () =>
        with_page(async (page) => {
            await go(page, record("SHIP", "never-was"));
            await heading(page, "There is no such record");
        }));
});

describe("an operator", () => {
    const settle = async (page, key, choose) => {
        await go(page, "#/lapsed");
        await heading(page, "Lapsed");
        await main(page).getByRole("row", { name: new RegExp(key) }).getByRole("link", { name: "Settle", exact: true }).click();
        await page.getByRole("heading", { name: "Settle this record" }).waitFor();
        await choose(main(page));
        await page.getByLabel("Reason", { exact: true }).first().fill(`ticket for ${key}`);
        await page.getByRole("button", { name: "Settle…" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Settle", exact: true }).click();
        await page.getByText("Settled. Repeats get the new answer").waitFor();
        await main(page).getByText(`ticket for ${key}`).first().waitFor();
    };

    it("settles a record that took effect", () =>
        with_page(async (page) => {
            await settle(page, "settle-yes", async (form) => {
                await form.getByLabel("It took effect").check();
                await form.getByLabel("Body").fill('{"paid":true}');
                await form.getByLabel("Result reference (optional)").fill("pay_1");
            });
            const repeat = await stage.center("begin", { operation: "PAY", key: "settle-yes", content: '{"amount":3}' });
            assert.equal(repeat.json.result.text, '{"paid":true}');
            assert.equal(repeat.json.result.ref, "pay_1");
        }));

    it("settles a record that did not happen", () =>
        with_page(async (page) => {
            await settle(page, "settle-no", (form) => form.getByLabel("It did not happen").check());
            const repeat = await stage.center("begin", { operation: "PAY", key: "settle-no", content: '{"amount":3}' });
            assert.equal(repeat.json.outcome, "started");
        }));

    it("settles a record that failed", () =>
        with_page(async (page) => {
            await settle(page, "settle-failed", async (form) => {
                await form.getByLabel("It failed, and must not run again").check();
                await form.getByLabel("Error that repeats are told").fill("card refused");
            });
            const repeat = await stage.center("begin", { operation: "PAY", key: "settle-failed", content: '{"amount":3}' });
            assert.equal(repeat.json.error, "card refused");
        }));

    it("says what happened: nothing is chosen beforehand", () =>
        with_page(async (page) => {
            await go(page, record("PAY", "only-look"));
            const about = page.getByRole("region", { name: "You answer for" });
            await about.getByText("only-look").waitFor();
            const print = (await stage.api("record?tenant=acme&operation=PAY&key=only-look")).json.fingerprint;
            await about.getByText(print).waitFor();
            assert.equal(await page.locator("input[name=verdict]:checked").count(), 0);
            await page.getByLabel("Reason", { exact: true }).first().fill("in a hurry");
            await page.getByRole("button", { name: "Settle…" }).click();
            assert.equal(await page.evaluate(() => document.querySelector(".settle form").checkValidity()), false);
            assert.equal(await page.getByRole("dialog").count(), 0);
        }));

    it("is told of a body that is not the JSON it says", () =>
        with_page(async (page) => {
            await go(page, record("PAY", "only-look"));
            await main(page).getByLabel("It took effect").check();
            await main(page).getByLabel("Body").fill('{"id": 9');
            await page.getByText("This is not the JSON that the content type promises.").waitFor();
            assert.ok(await page.getByRole("button", { name: "Settle…" }).isDisabled());
            await main(page).getByLabel("Body").fill('{"id": 9}');
            await page.getByText("This is not the JSON").waitFor({ state: "detached" });
            assert.ok(await page.getByRole("button", { name: "Settle…" }).isEnabled());
        }));

    it("changes a verdict, and both stay in the audit", () =>
        with_page(async (page) => {
            await go(page, record("PAY", "settle-failed"));
            await main(page).getByText("Settled: it failed").waitFor();
            await main(page).locator("summary", { hasText: "Change the verdict" }).click();
            await main(page).getByLabel("It took effect").check();
            await main(page).getByLabel("Body").fill('{"paid":true}');
            await page.getByLabel("Reason", { exact: true }).first().fill("the bank had it after all");
            await page.getByRole("button", { name: "Settle…" }).click();
            await page.getByRole("dialog").getByRole("button", { name: "Settle", exact: true }).click();
            await page.getByText("The verdict is changed.").waitFor();
            await main(page).getByText("Verdict changed: it took effect").first().waitFor();
            await main(page).getByText("Settled: it failed").first().waitFor();
            const repeat = await stage.center("begin", { operation: "PAY", key: "settle-failed", content: '{"amount":3}' });
            assert.equal(repeat.json.result.text, '{"paid":true}');
        }));

    it("removes a record, and its audit stays", () =>
        with_page(async (page) => {
            await go(page, record("PAY", "remove-me"));
            await page.getByText("Remove this record").click();
            await page.getByLabel("Reason", { exact: true }).last().fill("a mistake");
            await page.getByRole("button", { name: "Remove…" }).click();
            await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
            await heading(page, "Records");
            await go(page, record("PAY", "remove-me"));
            await heading(page, "There is no such record");
            await main(page).getByText("a mistake").waitFor();
        }));

    it("may change their mind", () =>
        with_page(async (page) => {
            await go(page, record("PAY", "only-look"));
            await main(page).getByLabel("It did not happen").check();
            await page.getByLabel("Reason", { exact: true }).first().fill("not sure");
            await page.getByRole("button", { name: "Settle…" }).click();
            await page.getByRole("dialog").waitFor();
            await page.keyboard.press("Escape");
            await page.getByRole("dialog").waitFor({ state: "hidden" });
            assert.equal((await stage.api("record?tenant=acme&operation=PAY&key=only-look")).json.state, "processing");
        }));
});

describe("the other pages", () => {
    it("show both fingerprints of a mismatch", () =>
        with_page(async (page) => {
            await go(page, "#/mismatches");
            const row = main(page).getByRole("row", { name: /cart-17/ });
            await row.waitFor();
            const prints = await row.locator(".print code").allTextContents();
            const [held, asked] = prints.map((one) => one.replaceAll(" ", ""));
            assert.match(held, /^[0-9a-f]{64}$/);
            assert.match(asked, /^[0-9a-f]{64}$/);
            assert.notEqual(held, asked);
            assert.equal((await stage.api("record?tenant=acme&operation=ORDER_CREATE&key=cart-17")).json.fingerprint, held);
            await main(page).getByRole("row", { name: /parcel\/7/ }).waitFor(); // the center's
        }));

    it("say that there is no outbox", () =>
        with_page(async (page) => {
            await go(page, "#/outbox");
            await main(page).getByText("No outbox is configured").waitFor();
        }));

    it("show the configuration and filter it", () =>
        with_page(async (page) => {
            await go(page, "#/configuration");
            await main(page).getByText("on_lease_expiry").first().waitFor();
            await page.getByLabel("Show only keys with").fill("retention");
            await eventually(async () => (await main(page).getByText("admin_listen").count()) === 0);
            assert.ok((await main(page).getByText("failure_retention").count()) >= 4);
            await page.getByLabel("Show only keys with").fill("no such key");
            await main(page).getByText("No key fits.").waitFor();
        }));
});

describe("who may only look", () => {
    it("sees their tenant and no way to act", () =>
        with_page(async (page) => {
            await page.getByText("read only").waitFor();
            await go(page, "#/records");
            await main(page).locator("tbody tr").first().waitFor();
            assert.equal(await page.getByLabel("Tenant").inputValue(), "acme");
            assert.equal(await main(page).getByText("bolts-own").count(), 0);
            await go(page, record("PAY", "only-look"));
            await main(page).getByText("Your token may look, not act.").waitFor();
            assert.equal(await page.getByRole("button", { name: "Settle…" }).count(), 0);
            assert.equal(await page.getByText("Remove this record").count(), 0);
            await go(page, record("SHIP", "bolts-own", "bolt"));
            await page.getByRole("alert").getByText(/sees the tenant 'acme' only/).waitFor();
            for (const name of ["Overview", "Outbox", "Configuration"]) {
                assert.equal(await page.getByRole("navigation").getByRole("link", { name, exact: true }).count(), 0);
            }
            for (const [hash, title] of [["#/lapsed", "Lapsed"], ["#/mismatches", "Mismatches"], ["#/configuration", "Records"], ["#/overview", "Records"]]) {
                await go(page, hash);
                await heading(page, title);
                assert.equal(await page.getByRole("link", { name: "Settle", exact: true }).count(), 0);
            }
            await shoot(page, "read-only");
        }, { token: stage.reader }));
});
